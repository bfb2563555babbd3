// Owns the playground in a real browser: the very simulation of Node, from one file, without a network.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundled } from '../../src/core/files/bundled.js';
import { families } from '../../src/core/limiter/products/families.js';
import { products } from '../../src/core/limiter/products/products.js';
import type { Failure } from '../../src/core/schema/failure.js';
import { loadScenario, parseScenario } from '../../src/harness/scenario/load-scenario.js';
import { simulate } from '../../src/harness/simulate/simulate.js';
import { TRAFFIC } from '../../src/tools/play/controls.js';
import { policyOf, servePage } from '../../src/tools/play/local-page.js';
import { steps } from '../../src/tools/play/steps.js';
import { inChromium } from '../chromium.js';
import { temporaryFolder } from '../cli/command-line.js';
import { few } from '../draws.js';
import { hiddenPixels, LOOKS, violations } from '../node/node-page.js';

const shipped = readdirSync('scenarios')
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.replace('.yaml', ''));
const textOf = (name: string) => readFileSync(`scenarios/${name}.yaml`, 'utf8');

it('the playground is one file under 600 kB that allows only its own scripts', () => {
  const page = bundled('play.html');
  expect(page.length).toBeLessThan(600_000);
  expect(policyOf(page)).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+' 'sha256-[^']+'; worker-src blob:; style-src 'sha256-[^']+';/,
  );
  expect(policyOf(page)).not.toContain('unsafe');
});

inChromium('the playground', (browser) => {
  let served: Awaited<ReturnType<typeof servePage>>;
  const asked: string[] = [];
  const faults: string[] = [];
  beforeAll(async () => {
    served = await servePage(0, bundled('play.html'));
  });
  afterAll(async () => {
    await served?.close();
  });

  async function opened(options: BrowserContextOptions = {}, address = `${served.url}#sandbox`): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(address);
    await page.waitForSelector('[data-digest] :is(canvas, .multiple svg)');
    return page;
  }
  const digestOf = (page: Page) => page.getAttribute('[data-digest]', 'data-digest');
  /** Waits until the page has run the text of Node, or says why not. */
  async function settled(page: Page, text: string, name: string): Promise<string> {
    const expected = await simulate(parseScenario(text, `${name}.yaml`)).then(
      ({ outcome }) => outcome.digest,
      () => undefined,
    );
    if (expected === undefined) return page.innerText('#refused');
    await page.waitForSelector(`[data-digest="${expected}"]`);
    return expected;
  }

  it('a shipped scenario opens, and gives the outcome of Node to the last bit; logs are refused in words', async () => {
    const page = await opened();
    for (const name of ['replay', ...few(shipped, 4)]) {
      await page.selectOption('.tools select', name);
      const { arrivals } = parseScenario(textOf(name));
      const log = arrivals.find((one) => one.log !== undefined)?.log;
      if (log === undefined) {
        const { outcome } = await simulate(parseScenario(textOf(name), `${name}.yaml`));
        await page.waitForSelector(`[data-digest="${outcome.digest}"][data-state="played"]`);
        expect(await page.innerText('.question')).toBe(outcome.question);
      } else {
        await page.waitForSelector('[data-state="refused"]');
        expect(await page.innerText('#refused')).toContain(`This scenario replays the log ${log.file}.`);
      }
    }
  });

  it('sliders, rules and back-off by keyboard write the text, and the text moves them', async () => {
    const page = await opened();
    await page.focus('#slider-limiter-threshold');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await page.inputValue('#text')).toContain('limiter: { threshold: 102, within: 60 }');
    for (let tabs = 0; (await page.evaluate('document.activeElement.type')) !== 'checkbox'; tabs += 1) {
      expect(tabs).toBeLessThan(5);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.waitForSelector('[data-plot="rules"] canvas');
    await page.focus('fieldset .choice select');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('[data-plot="behind"] canvas');
    const text = await page.inputValue('#text');
    expect(text).toMatch(/compare: \[ fixed, fixed-first \]/);
    expect(text).toContain('policy: fixed');
    await page.waitForSelector(`[data-digest="${(await simulate(parseScenario(text, 'burst.yaml'))).outcome.digest}"]`);
    await page.fill('#text', text.replace('threshold: 102', 'threshold: 50'));
    // The policy of the page lets nothing wait in it: that would take `eval`.
    await expect.poll(() => page.inputValue('#slider-limiter-threshold')).toBe('50');
  });

  it('a run that goes on holds nothing up: the page answers to the keyboard, and the next text is run instead', async () => {
    const page = await opened();
    expect(page.workers()).toHaveLength(1);
    const before = await digestOf(page);
    // Some 10 s: on a busy machine a page may not look for the progress of a shorter one before that is over.
    await page.fill('#text', textOf('day').replace('duration: 24h', 'duration: 1000h'));
    await page.waitForSelector('.progress:not([hidden])', { state: 'attached' });
    await page.selectOption('.tools select', 'herd');
    await settled(page, textOf('herd'), 'herd');
    expect([await page.inputValue('#text'), (await digestOf(page)) === before]).toEqual([textOf('herd'), false]);
  });

  it('a text that is refused shows the words of the schema, and keeps the last picture', async () => {
    const page = await opened();
    const before = await digestOf(page);
    const broken = textOf('burst').replace('threshold: 100', 'treshold: 100').replace('seed: 7', 'seed: x');
    await page.fill('#text', broken);
    await page.waitForSelector('[data-state="refused"]');
    let failure: unknown;
    try {
      parseScenario(broken);
    } catch (error) {
      failure = error;
    }
    const words = await page.innerText('#refused');
    for (const { path, message } of (failure as Failure).faults) expect(words).toContain(`${path}: ${message}`);
    expect(words).toContain('did you mean "threshold"?');
    expect(await digestOf(page)).toBe(before);
    await page.fill('#text', textOf('burst'));
    await page.waitForSelector('[data-state="played"]');
  });

  it('a link holds the whole scenario', async () => {
    const page = await opened();
    const text = textOf('herd').replace('count: 100', 'count: 37');
    await page.fill('#text', text);
    const digest = await settled(page, text, 'burst');
    // The link follows the text a moment later.
    const linked = async () => {
      const opening = await opened({}, page.url());
      const found = await opening.inputValue('#text');
      await opening.close();
      return found;
    };
    await expect.poll(linked).toBe(text);
    const other = await opened({}, page.url());
    await other.waitForSelector(`[data-digest="${digest}"]`);
  });

  it('a link that inflates to more than a scenario is not followed', async () => {
    const letters = deflateRawSync(Buffer.alloc(50_000_000, ' ')).toString('base64url');
    const page = await opened({}, `${served.url}#bomb.${letters}`);
    expect(await page.innerText('article > h2')).toBe(steps[0]!.title);
  });

  it('"run it live" shows and copies a command that writes the scenario and sends it', async () => {
    const page = await opened({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.click('.tools .first');
    expect(await page.innerText('.command')).toBe('weir init burst.yaml --from burst\nweir load burst.yaml');
    const text = textOf('burst').replace('seed: 7', 'seed: 8');
    await page.fill('#text', text);
    await page.click('.tools .first');
    await page.waitForSelector('.command');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `cat > burst.yaml <<'END'\n${text}END\nweir load burst.yaml`,
    );
  });

  it.each(LOOKS)('a page of %i px, %s, has names and contrast, and nothing aside', async (width, colorScheme) => {
    const page = await opened({ colorScheme, viewport: { width, height: 800 } });
    for (const name of ['burst', 'retry-storm', 'abuser', 'nginx-burst', 'replay']) {
      await page.selectOption('.tools select', name);
      await settled(page, textOf(name), name);
      if (name === 'burst') await page.check('.rules input >> nth=2', { force: true });
      expect(await hiddenPixels(page), name).toBeLessThanOrEqual(0);
      expect(await violations(page), name).toEqual([]);
    }
  });

  const digestIn = async (text: string, name: string) =>
    (await simulate(parseScenario(text, `${name}.yaml`))).outcome.digest;

  it('the playground tells its story in steps, each the run of Node, and each with a control that changes it', async () => {
    const page = await opened({}, served.url);
    for (const [index, { name, title, text, control, tryThis }] of steps.entries()) {
      await page.click(`.steps button >> nth=${index}`);
      await page.waitForSelector(`[data-digest="${await digestIn(text, name)}"]`);
      expect(await page.innerText('article > h2')).toBe(title);
      const slider = page.locator(`#slider-${control.replaceAll('.', '-')}`);
      expect(Number(await slider.getAttribute('max'))).toBeGreaterThanOrEqual(Number(/\d+|$/.exec(tryThis)![0]));
      const before = await digestOf(page);
      await slider.press('ArrowRight');
      await expect.poll(() => digestOf(page)).not.toBe(before);
    }
    await page.click('text=Open it in the sandbox');
    await page.waitForSelector('#text');
    expect(await page.inputValue('#text')).toContain('Does the service come back');
  });

  it('the playground plays a run, stops at any instant, and says what is there', async () => {
    const page = await opened();
    await expect.poll(() => page.getAttribute('.lanes canvas', 'data-at')).not.toBe('0');
    await page.click('text=Pause');
    // Where a picture is from is said below it.
    expect(await page.innerText('.lanes > :last-child')).toMatch(/Weir [\d.]+, sha256:/);
    const { outcome } = await simulate(parseScenario(textOf('burst'), 'burst.yaml'));
    await page.focus('.deck input');
    await page.keyboard.press('End');
    await expect
      .poll(() => page.innerText('.now'))
      .toContain(`${outcome.admitted} admitted and ${outcome.limited} limited so far; the limiter admits`);
    await page.keyboard.press('Home');
    await expect.poll(() => page.innerText('.now')).toContain('0 admitted and 0 limited');
    await page.click('.lanes canvas');
    await expect.poll(() => page.inputValue('#text')).toContain('model: spikes, requests: 1, at: 0ms');
    await settled(page, await page.inputValue('#text'), 'burst');
  });

  it('the playground stands still where motion is unwelcome, with the same figures', async () => {
    const page = await opened({ reducedMotion: 'reduce' });
    expect(await page.innerText('.deck button')).toBe('Play');
    const shown = () => page.getAttribute('.lanes canvas', 'data-at');
    const before = await shown();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect([before, await shown(), await digestOf(page)]).toEqual(['0', '0', await digestIn(textOf('burst'), 'burst')]);
  });

  it('the playground shows all rules over the same requests, with the figures of each alone', async () => {
    const page = await opened({}, `${served.url}#story`);
    await page.click('nav >> text=All rules');
    await page.waitForSelector('.multiple');
    const shown = await page.$$eval('.multiple', (found) => found.map((one) => (one as any).innerText.split('\n')));
    expect(shown.map(([name]) => name)).toEqual(['no limit', ...Object.keys(families)]);
    const scenario = parseScenario(TRAFFIC);
    for (const { rule, scenario: one } of scenario.compared) {
      const { outcome } = await simulate(one, { seed: scenario.seed });
      expect(shown.find(([name]) => name === rule)?.[1]).toBe(`${outcome.admitted} of ${outcome.requests} admitted`);
    }
    await page.check('.rules-page input[type=checkbox]');
    await expect
      .poll(() => page.locator('.multiple').count())
      .toBe(1 + Object.keys(families).length + Object.keys(products).length);
  });

  it('the playground takes a log and the file of a gateway that are dropped, and runs them as Node does', async () => {
    const page = await opened();
    const give = (name: string, text: string) =>
      page.setInputFiles('.drop input', { name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    const lines = Array.from({ length: 300 }, (_, n) => {
      const second = String(Math.floor(n / 10)).padStart(2, '0');
      return `10.0.0.${n % 3} - - [01/Mar/2026:10:00:${second} +0000] "GET /${n} HTTP/1.1" 200 12\n`;
    }).join('');
    await give('access.log', lines);
    await page.waitForSelector('text=access.log: 300 requests, read as common');
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'access.log'), lines);
    const digestHere = async () => {
      const text = await page.inputValue('#text');
      writeFileSync(join(folder, 'access-log.yaml'), text);
      return (await simulate(await loadScenario(join(folder, 'access-log.yaml')))).outcome.digest;
    };
    expect(await page.inputValue('#text')).toContain('file: access.log');
    await page.waitForSelector(`[data-digest="${await digestHere()}"]`);
    await give(
      'nginx.conf',
      'http {\n limit_req_zone $binary_remote_addr zone=a:1m rate=2r/s;\n server {\n location /a { limit_req zone=a burst=5 nodelay; }\n location /b { limit_req zone=a; }\n } }\n',
    );
    await expect.poll(() => page.inputValue('#text')).toContain('like: nginx');
    expect(await page.innerText('.said')).toContain('nginx.conf:');
    await page.waitForSelector(`[data-digest="${await digestHere()}"]`);
    await page.selectOption('.tools select >> nth=1', '1');
    await expect.poll(() => page.inputValue('#text')).not.toContain('burst');
    await page.waitForSelector(`[data-digest="${await digestHere()}"]`);
    await page.evaluate(`{
        const data = new DataTransfer();
        data.setData('text/plain', 'stick-table type ip size 1m expire 30s store http_req_rate(10s)\\nhttp-request track-sc0 src\\nhttp-request deny deny_status 429 if { sc_http_req_rate(0) gt 20 }');
        document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
      }`);
    await expect.poll(() => page.inputValue('#text')).toContain('like: haproxy');
    await give('notes.txt', 'nothing that is a log\n');
    await page.waitForSelector('text=is no log of a known format');
  });

  it('the playground shows one figure alone in a frame', async () => {
    const page = await opened({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.click('text=Embed');
    await page.waitForSelector('.command');
    const [, address = ''] = /src="([^"]+)"/.exec(await page.innerText('.command')) ?? [];
    const framed = await opened({}, address);
    expect([
      await framed.locator('.lanes').count(),
      await framed.locator('header').count(),
      await digestOf(framed),
    ]).toEqual([1, 0, await digestIn(textOf('burst'), 'burst')]);
  });

  it.each(['story', 'story/7', 'rules', 'embed/window/'])(
    'names and contrast of %s hold at 360 px and in the dark',
    async (view) => {
      const options = { colorScheme: 'dark', viewport: { width: 360, height: 800 } } as const;
      const page = await opened(options, `${served.url}#${view}`);
      expect(await hiddenPixels(page)).toBeLessThanOrEqual(0);
      expect(await violations(page)).toEqual([]);
    },
  );

  it('the playground shows the values under the pointer in all charts', async () => {
    const page = await opened({}, `${served.url}#sandbox`);
    const drawn = () =>
      page.evaluate<string[]>(`[...document.querySelectorAll('.chart canvas')].map((one) => one.toDataURL())`);
    const before = await drawn();
    await page.locator('.chart canvas').first().hover();
    await expect
      .poll(async () => (await drawn()).map((image, index) => image !== before[index]))
      .toEqual(before.map(() => true));
    await page.mouse.move(0, 0);
    await expect.poll(drawn).toEqual(before);
  });

  it('the playground opens from the disk, asks for nothing but itself, and breaks no policy', async () => {
    const page = await opened({}, `${new URL('../../dist/web/play.html', import.meta.url).href}#sandbox`);
    expect(await digestOf(page)).toBe((await simulate(parseScenario(textOf('burst'), 'burst.yaml'))).outcome.digest);
    const others = asked.filter(
      (url) => !url.startsWith(served.url) && !/^(file|blob):/.test(url) && !url.startsWith('data:'),
    );
    expect(others).toEqual([]);
    expect(faults).toEqual([]);
  });
});
