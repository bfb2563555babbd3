// Owns the playground in a real browser: the very simulation of Node, from one file, without a network.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { policyOf, servePages } from '../../src/cli/local-pages.js';
import { parseScenario } from '../../src/scenario/load-scenario.js';
import type { Failure } from '../../src/schema/failure.js';
import { simulate } from '../../src/simulate/simulate.js';
import { bundled } from '../../src/web/bundled.js';
import { findChromium, launchChromium, noChromium } from '../chromium.js';

const executable = findChromium();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const shipped = readdirSync('scenarios')
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.replace('.yaml', ''));
const textOf = (name: string) => readFileSync(`scenarios/${name}.yaml`, 'utf8');

it('is one file under 400 kB that allows only its own scripts', () => {
  const page = bundled('play.html');
  expect(page.length).toBeLessThan(400_000);
  expect(policyOf(page)).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+' 'sha256-[^']+'; worker-src blob:; style-src 'sha256-[^']+';/,
  );
  expect(policyOf(page)).not.toContain('unsafe');
});

describe.skipIf(executable === undefined)(
  executable === undefined ? `the playground (${noChromium})` : 'the playground',
  () => {
    let browser: Browser;
    let served: Awaited<ReturnType<typeof servePages>>;
    const asked: string[] = [];
    const faults: string[] = [];
    beforeAll(async () => {
      const page = bundled('play.html');
      browser = await launchChromium(executable!);
      served = await servePages(0, ({ pathname }) =>
        pathname === '/' ? { type: 'text/html; charset=utf-8', content: page, policy: policyOf(page) } : undefined,
      );
    });
    afterAll(async () => {
      await browser?.close();
      await served?.close();
    });

    async function opened(options: BrowserContextOptions = {}, address = served.url): Promise<Page> {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
      page.on('request', (request) => asked.push(request.url()));
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      page.on('pageerror', (error) => faults.push(error.message));
      await page.goto(address);
      await page.waitForSelector('[data-digest] canvas');
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

    it('every shipped scenario opens, and gives the outcome of Node to the last bit; logs are refused in words', async () => {
      const page = await opened();
      for (const name of shipped) {
        await page.selectOption('header select', name);
        const { arrivals } = parseScenario(textOf(name));
        const log = arrivals.find((one) => one.model === 'log');
        if (log === undefined) {
          const { outcome } = await simulate(parseScenario(textOf(name), `${name}.yaml`));
          await page.waitForSelector(`[data-digest="${outcome.digest}"][data-state="played"]`);
          expect(await page.innerText('.question')).toBe(outcome.question);
        } else {
          await page.waitForSelector('[data-state="refused"]');
          expect(await page.innerText('#refused')).toContain(`This scenario replays the log ${log.file}.`);
        }
      }
      await page.close();
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
      await page.waitForSelector(
        `[data-digest="${(await simulate(parseScenario(text, 'burst.yaml'))).outcome.digest}"]`,
      );
      await page.fill('#text', text.replace('threshold: 102', 'threshold: 50'));
      // The policy of the page lets nothing wait in it: that would take `eval`.
      await expect.poll(() => page.inputValue('#slider-limiter-threshold'), { timeout: 60_000 }).toBe('50');
      await page.close();
    });

    it('a run that goes on holds nothing up: the page answers to the keyboard, and the next text is run instead', async () => {
      const page = await opened();
      expect(page.workers()).toHaveLength(1);
      const before = await digestOf(page);
      // Some 10 s: on a busy machine a page may not look for the progress of a shorter one before that is over.
      await page.fill('#text', textOf('day').replace('duration: 24h', 'duration: 1000h'));
      await page.waitForSelector('.progress:not([hidden])', { state: 'attached' });
      await page.selectOption('header select', 'herd');
      await settled(page, textOf('herd'), 'herd');
      expect([await page.inputValue('#text'), (await digestOf(page)) === before]).toEqual([textOf('herd'), false]);
      await page.close();
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
      await page.close();
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
      await expect.poll(linked, { timeout: 60_000 }).toBe(text);
      const other = await opened({}, page.url());
      await other.waitForSelector(`[data-digest="${digest}"]`);
      await page.close();
      await other.close();
    });

    it('"run it live" shows and copies a command that writes the scenario and sends it', async () => {
      const page = await opened({ permissions: ['clipboard-read', 'clipboard-write'] });
      await page.click('.live');
      expect(await page.innerText('.command')).toBe('weir init burst.yaml --from burst\nweir load burst.yaml');
      const text = textOf('burst').replace('seed: 7', 'seed: 8');
      await page.fill('#text', text);
      await page.click('.live');
      await page.waitForSelector('.command');
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
        `cat > burst.yaml <<'END'\n${text}END\nweir load burst.yaml`,
      );
      await page.close();
    });

    it.each(['light', 'dark'] as const)(
      'in %s: names and contrast hold, and 360 px need no scrolling aside',
      async (colorScheme) => {
        for (const width of [1440, 360]) {
          const page = await opened({ colorScheme, viewport: { width, height: 800 } });
          for (const name of ['burst', 'retry-storm', 'abuser', 'nginx-burst', 'replay']) {
            await page.selectOption('header select', name);
            await settled(page, textOf(name), name);
            if (name === 'burst') await page.check('.rules input >> nth=2', { force: true });
            expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), name).toBeLessThanOrEqual(
              0,
            );
            await page.evaluate(axe);
            const found = await page.evaluate<any>('axe.run()');
            expect(
              found.violations.map(({ id, nodes }: any) => [id, nodes[0].html]),
              `${name} ${width}`,
            ).toEqual([]);
          }
          await page.close();
        }
      },
    );

    it('opens from the disk, asks for nothing but itself, and breaks no policy', async () => {
      const page = await opened({}, new URL('../../dist/web/play.html', import.meta.url).href);
      expect(await digestOf(page)).toBe((await simulate(parseScenario(textOf('burst'), 'burst.yaml'))).outcome.digest);
      await page.close();
      const others = asked.filter(
        (url) => !url.startsWith(served.url) && !/^(file|blob):/.test(url) && !url.startsWith('data:'),
      );
      expect(others).toEqual([]);
      expect(faults).toEqual([]);
    });
  },
);
