// Owns `weir report --serve`: what it lists, finds and compares, and that nothing outside of the folder is served.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inChromium } from '../chromium.js';
import { temporaryFiles } from '../left-behind.js';
import { hiddenPixels, violations } from '../node/node-page.js';
import { begin, weirHere } from './command-line.js';

const { folder: base, file } = temporaryFiles();
const folder = join(base, 'reports');
const others = [
  ['sweep', 'sweep.ndjson'],
  ['map', 'map.ndjson'],
  ['recommend', 'recommend.json'],
  ['identify', 'answer.json'],
  ['rules side by side', 'compare.json'],
] as const;
let url = '';
let stop: () => Promise<unknown> = async () => {};
beforeAll(async () => {
  for (const [name, seed] of [
    ['burst', '7'],
    ['burst', '8'],
    ['herd', '7'],
  ] as const)
    await weirHere(['simulate', `scenarios/${name}.yaml`, '--seed', seed, '--out', join(folder, name, seed)]);
  for (const [kind, name] of others) {
    file(`reports/${kind}/index.html`, '');
    file(`reports/${kind}/${name}`, '{}');
  }
  const outcome = JSON.parse(readFileSync(join(folder, 'burst/8/outcome.json'), 'utf8'));
  file('reports/burst/8/outcome.json', JSON.stringify({ ...outcome, partial: true }));
  file('reports/.hidden/index.html', 'secret');
  file('reports/burst/7/run.sh', 'secret');
  symlinkSync(file('secret.json', '"secret"'), join(folder, 'herd/7/link.json'));
  symlinkSync(base, join(folder, 'up'));
  const running = begin(['report', '--serve', folder]);
  url = (await running.line((line) => line.startsWith('open it here: '))).replace('open it here: ', '');
  stop = () => {
    running.child.kill('SIGINT');
    return running.ended;
  };
});
afterAll(async () => {
  expect(await stop()).toBe(0);
});

/** The path as it is: `fetch` would resolve the dots. */
function raw(path: string, host = 'localhost'): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    );
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('end', () => resolve(text)).on('error', reject);
  });
}

describe('what lies outside is not there', () => {
  it.each([
    '/run/../secret.json',
    '/run/..%2fsecret.json',
    '/run/%2e%2e/secret.json',
    '/run/burst/7/..%2f..%2f..%2fsecret.json',
    '/run/burst%5c..%5c..%5csecret.json',
    '/run/up/secret.json',
    '/run/herd/7/link.json',
    '/run/.hidden/index.html',
    '/run/burst/7/run.sh',
    '/run/burst/7/index.html%00.png',
    '/run//etc/hostname',
    '/run/%ff',
    '/run/',
    '/compare?run=up&run=burst/7',
    '/compare?run=../reports/burst/7&run=burst/8',
    '/compare?run=herd/7&run=burst/8',
  ])('%s', async (path) => {
    const answer = await raw(path);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).not.toContain('secret');
  });

  it('a name that was pointed here is refused', async () => {
    expect(await raw('/', 'evil.example')).toMatch(/^HTTP\/1\.1 421 /);
  });
});

describe('the reports', () => {
  const textOf = async (path: string) => (await fetch(`${url}${path}`)).text();

  it('are listed, found by any word, opened, and put side by side', async () => {
    const listed = (page: string) => [...page.matchAll(/href="\/run\/([^"]+)\/"/g)].map(([, path]) => path).sort();
    const runs = ['burst/7', 'burst/8', 'herd/7'];
    const kinds = others.map(([kind]) => encodeURIComponent(kind));
    expect(listed(await textOf(''))).toEqual([...runs, ...kinds].sort());
    expect(listed(await textOf('?q=flush+HERD'))).toEqual(['herd/7']);
    expect(await textOf('?q=%22%3E%3Cscript%3E')).not.toContain('<script>');
    expect(await textOf('run/burst/7/')).toBe(readFileSync(join(folder, 'burst/7/index.html'), 'utf8'));
    expect(await textOf('run/burst/7/junit.xml')).toContain('<testsuite');
    expect(await textOf('compare?run=burst/7&run=burst/8')).toContain('burst/8');
    expect((await fetch(`${url}compare?run=burst/7`)).status).toBe(400);
  });

  it('each say what they are, and a run that was stopped is not green', async () => {
    const rows = (await textOf('')).split('<tr>').filter((row) => row.includes('/run/'));
    const rowOf = (path: string) => rows.find((row) => row.includes(`/run/${encodeURIComponent(path)}/`))!;
    for (const [kind] of others) expect(rowOf(kind)).toContain(`(${kind})`);
    const verdicts = ['burst/7', 'burst/8'].map((path) => rows.find((row) => row.includes(`/run/${path}/`))!);
    expect(verdicts.map((row) => /<span class="(\w*)">([^<]*)</.exec(row)?.slice(1))).toEqual([
      ['good', 'held'],
      ['open', 'stopped, held so far'],
    ]);
  });

  it('every page states its policy, none of them unsafe', async () => {
    for (const path of ['', 'run/burst/7/', 'compare?run=burst/7&run=burst/8', 'none']) {
      const policy = (await fetch(`${url}${path}`)).headers.get('content-security-policy');
      expect(policy).toMatch(/^default-src 'none'/);
      expect(policy).not.toContain('unsafe');
    }
  });

  it('a report of a stranger has the policy of the server, whatever it says of itself', async () => {
    const own = (await fetch(`${url}run/burst/7/`)).headers.get('content-security-policy');
    for (const [name, meta] of Object.entries({
      unsafe: "default-src * 'unsafe-inline' 'unsafe-eval'",
      odd: 'default-src \u0142\u{1f600}',
      lines: 'default-src x&#10;set-cookie: a=b',
      none: undefined,
    })) {
      const head = meta === undefined ? '' : `<meta http-equiv="Content-Security-Policy" content="${meta}">`;
      file(`reports/strange/${name}/index.html`, `<!doctype html>${head}<script>alert(1)</script>`);
      const answer = await fetch(`${url}run/strange/${name}/`);
      expect([name, answer.status, answer.headers.get('content-security-policy')]).toEqual([name, 200, own]);
    }
    rmSync(join(folder, 'strange'), { recursive: true });
  });

  it('the policy of the server lets the scripts and the style of a report run', async () => {
    const { headers } = await fetch(`${url}run/burst/7/`);
    const page = readFileSync(join(folder, 'burst/7/index.html'), 'utf8');
    const parts = [...page.matchAll(/<(?:script|style)>([\s\S]*?)<\/(?:script|style)>/g)].map(([, text]) => text!);
    expect(parts).toHaveLength(3);
    for (const part of parts)
      expect(headers.get('content-security-policy')).toContain(createHash('sha256').update(part).digest('base64'));
  });

  inChromium('in a browser', (browser) =>
    it.each(['light', 'dark'] as const)('by keyboard, narrow, %s', async (colorScheme) => {
      const page = await browser.newPage({ viewport: { width: 360, height: 800 }, colorScheme });
      await page.goto(url);
      expect(await hiddenPixels(page)).toBeLessThanOrEqual(0);
      expect(await violations(page)).toEqual([]);
      await page.focus('input[type=checkbox] >> nth=1');
      await page.keyboard.press('Space');
      await page.focus('input[type=checkbox] >> nth=2');
      await page.keyboard.press('Space');
      await page.keyboard.press('Enter');
      await page.waitForURL(/compare\?run=/);
      expect(await page.innerText('body')).toContain('burst/8');
      await page.close();
    }),
  );

  it('no run named is refused in words', async () => {
    expect(await weirHere(['report'])).toMatchObject({ code: 2, err: expect.stringContaining('No run is named.') });
  });
});
