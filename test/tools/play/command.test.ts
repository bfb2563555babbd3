// Owns `weir play`: what it serves and to whom, the file that it writes, and its end.
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { bundled } from '../../../src/core/files/bundled.js';
import { policyOf, servePage } from '../../../src/tools/play/local-page.js';
import { begin, temporaryFolder, weirHere } from '../../cli/command-line.js';

it('weir play serves the page with its policy, prints a link that holds the scenario, and ends with Ctrl-C', async () => {
  const running = begin(['play', 'scenarios/herd.yaml']);
  const line = await running.line((one) => one.startsWith('open it here: '));
  const { href, hash } = new URL(line.replace('open it here: ', ''));
  const answer = await fetch(href);
  expect(await answer.text()).toBe(bundled('play.html'));
  expect(answer.headers.get('content-security-policy')).toBe(
    `${policyOf(bundled('play.html'))}; frame-ancestors 'none'`,
  );
  const [, name, letters = ''] = /^#(\w+)\.(.*)$/.exec(hash) ?? [];
  expect([name, String(inflateRawSync(Buffer.from(letters, 'base64url')))]).toEqual([
    'herd',
    readFileSync('scenarios/herd.yaml', 'utf8'),
  ]);
  running.child.kill('SIGINT');
  expect(await running.ended).toBe(0);
});

it('weir play --out writes one file, and does not overwrite', async () => {
  const path = join(temporaryFolder(), 'playground.html');
  const ran = await weirHere(['play', '--out', path]);
  expect([ran.code, readFileSync(path, 'utf8')]).toEqual([0, bundled('play.html')]);
  expect(await weirHere(['play', '--out', path])).toMatchObject({
    code: 2,
    err: expect.stringContaining('There is a file or folder of that name.'),
  });
});

it('a port out of range is refused in words', async () => {
  expect(await weirHere(['play', '--port', '70000'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--port takes a whole number from 0 to 65535, not'),
  });
});

const ask = (url: string, options: { method?: string; path?: string; headers?: Record<string, string> }) =>
  new Promise<[status: number | undefined, text: string]>((resolve, reject) => {
    const sent = request(url, options, (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve([answer.statusCode, text]));
    });
    sent.on('error', reject).end();
  });

it.each<[what: string, options: Parameters<typeof ask>[1], status: number]>([
  ['the page', {}, 200],
  ['a head', { method: 'HEAD' }, 200],
  ['localhost', { headers: { host: 'localhost:1' } }, 200],
  ['another path', { path: '/etc/passwd' }, 404],
  ['a path that is none', { path: '//' }, 404],
  ['a name that was pointed here', { headers: { host: 'evil.example' } }, 421],
  ['a write', { method: 'POST' }, 405],
])('the server on loopback answers for its page alone: %s', async (_, options, status) => {
  const { url, close } = await servePage(0, 'here');
  expect((await ask(url, options))[0]).toBe(status);
  await close();
});
