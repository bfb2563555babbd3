// `weir up`: three nodes with one key behind one port; Ctrl-C leaves no process behind.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hasRedis } from '../store/redis/server.js';

const isUp = (url: string) =>
  fetch(`${url}/readyz`).then(
    ({ status }) => status,
    () => 'none',
  );

it.skipIf(!hasRedis)('a network in one command (needs redis-server)', { timeout: 120_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'weir-up-'));
  const args = ['dist/cli/main.js', 'up', '--nodes', '3', '--port', '0', '--data', dir, '--json'];
  const up = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of up.stdout) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  const { url, nodes, fingerprint } = JSON.parse(text) as { url: string; nodes: string[]; fingerprint: string };
  expect(nodes).toHaveLength(3);
  const keys = await Promise.all(nodes.map(async (node) => (await fetch(`${node}/api/updates/pubkey`)).json()));
  expect(keys.map((one) => (one as { fingerprint: string }).fingerprint)).toEqual(Array(3).fill(fingerprint));
  for (let asked = 0; asked < 6; asked += 1) expect(await isUp(url)).toBe(200);
  const ended = new Promise((resolve) => up.once('exit', resolve));
  up.kill('SIGINT');
  await ended;
  expect(await Promise.all([url, ...nodes].map(isUp))).toEqual(Array(4).fill('none'));
  rmSync(dir, { recursive: true, force: true });
});
