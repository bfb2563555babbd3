// `weir up`: three nodes with one key behind one port; Ctrl-C leaves no process behind.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { afterFile } from '../left-behind.js';
import { hasRedis } from '../store/redis/server.js';
import { begin, temporaryFolder, weir } from './command-line.js';

const isUp = (url: string) =>
  fetch(`${url}/readyz`).then(
    ({ status }) => status,
    () => 'none',
  );

it.skipIf(!hasRedis)('a network in one command (needs redis-server)', { timeout: 120_000 }, async () => {
  const up = begin(['up', '--nodes', '3', '--port', '0', '--data', temporaryFolder(), '--json']);
  // Its Redis ends with it alone, also where the test fails.
  afterFile(() => up.child.kill('SIGINT') && up.ended);
  const { url, nodes, fingerprint } = JSON.parse(await up.line(() => true)) as {
    url: string;
    nodes: string[];
    fingerprint: string;
  };
  expect(nodes).toHaveLength(3);
  const keys = await Promise.all(nodes.map(async (node) => (await fetch(`${node}/api/updates/pubkey`)).json()));
  expect(keys.map((one) => (one as { fingerprint: string }).fingerprint)).toEqual(Array(3).fill(fingerprint));
  // On a busy machine Redis may take longer than a node waits for it: it says so, and is ready again a moment later.
  for (let asked = 0; asked < 6; asked += 1) await expect.poll(() => isUp(url), { timeout: 60_000 }).toBe(200);
  up.child.kill('SIGINT');
  await up.ended;
  expect(await Promise.all([url, ...nodes].map(isUp))).toEqual(Array(4).fill('none'));
});

/** A folder for PATH in which `redis-server` is this script. */
function withRedis(script: string): NodeJS.ProcessEnv {
  const dir = temporaryFolder();
  const file = join(dir, 'redis-server');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return { PATH: `${dir}:${process.env['PATH']}` };
}

describe.skipIf(!hasRedis)('what cannot start is said at once (needs redis-server)', () => {
  const up = (dir: string, port = 0) => ['up', '--nodes', '2', '--port', String(port), '--data', dir];

  it('a port in front that is taken: nothing else is started', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const dir = join(temporaryFolder(), 'network');
    const { code, err } = await weir(up(dir, (other.address() as AddressInfo).port));
    expect([code, err]).toEqual([2, expect.stringMatching(/cannot be listened on.*\[port_in_use\].*--port/s)]);
    expect(existsSync(dir)).toBe(false);
    other.close();
  });

  it('a Redis that ends: its last words', async () => {
    const env = withRedis('echo "7:M 1 Jan 2026 00:00:00.000 # Cannot open the log, aborting."; exit 3');
    const ran = begin(up(temporaryFolder()), env);
    let err = '';
    ran.child.stderr!.on('data', (chunk) => (err += chunk));
    expect(await ran.ended).toBe(5);
    expect(err).toContain('It ended with exit code 3: Cannot open the log, aborting.');
  });

  it('a port that another process has taken before Redis: another one', async () => {
    const dir = temporaryFolder();
    const once = `[ -e ${dir}/tried ] || { touch ${dir}/tried; echo "bind: Address already in use"; exit 1; }`;
    const real = spawnSync('which', ['redis-server']).stdout.toString().trim();
    const ran = begin([...up(dir), '--json'], withRedis(`${once}\nexec ${real} "$@"`));
    const { url } = JSON.parse(await ran.line((line) => line.includes('"url"')));
    expect(await isUp(url)).toBe(200);
    ran.child.kill('SIGINT');
    await ran.ended;
  });
});
