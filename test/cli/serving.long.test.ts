import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { VERSION } from '../../src/core/version.js';
import { ask } from '../node/asking.js';
import { Raw } from '../node/raw.js';
import { begin, refuses, type Serving, serve, temporaryFolder, weirHere } from './command-line.js';

it('weir serve keeps its data for its user alone, and goes on from it', async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await serve(['--data', data]);
  const key = await keyOf(first);
  await ask(first.url, 'POST', '/api/chain/state-machines', key, { slug: 'edge' });
  const files = readdirSync(data).sort();
  const modes = [data, ...files.map((file) => join(data, file))].map((path) => statSync(path).mode & 0o777);
  const ended = await first.stop();
  const again = await serve(['--data', data]);
  const found = await ask(again.url, 'GET', '/api/chain/state-machines/edge', key);
  await again.stop();
  expect([ended, again.fingerprint, found.machine.is_own]).toEqual([0, first.fingerprint, true]);
  expect(files).toEqual(['node.json', 'weir.db', 'weir.db-wal', 'weir.heads', 'weir.pid', 'weir.sock']);
  expect(modes).toEqual([0o700, ...files.map(() => 0o600)]);
});

it('weir serve says which Redis does not answer', async () => {
  const { code, err } = await weirHere('serve --store redis://127.0.0.1:1 --port 0');
  expect({ code, err }).toEqual({
    code: 5,
    err: expect.stringMatching(
      /The node was not started.*\n {2}why {2}Redis at 127.0.0.1:1 cannot be asked: .*\n {2}fix {2}Start Redis/,
    ),
  });
  expect(err).not.toContain('readyz');
});

it('weir serve refuses a folder or a port that is taken, and another length of cycles than its data has', async () => {
  const data = join(temporaryFolder(), 'data');
  const node = await serve(['--data', data]);
  const { port } = new URL(node.url);
  const locked = await weirHere(['serve', '--data', data, '--port', '0', '--json']);
  const taken = await weirHere(['serve', '--store', 'memory', '--port', port, '--json']);
  await node.stop();
  const otherCycles = await weirHere(['serve', '--data', data, '--port', '0', '--cycle-ms', '60', '--json']);
  const told = [locked, taken, otherCycles].map(({ code, out }) => `${code} ${JSON.parse(out).code}`);
  expect(told).toEqual(['2 store_locked', '2 port_in_use', '2 wrong_usage']);
  expect(JSON.parse(locked.out).why).toContain(String(node.pid));
});

const MINT = 'POST /api/demo-key/mint HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n';

it('weir serve finishes the request under way on SIGTERM, takes no new one, and ends with 0', async () => {
  const node = await serve(['--store', 'memory']);
  const raw = new Raw(node.url).send(`${MINT}content-type: application/json\r\n\r\n`);
  await answersAt(node.url);
  const ended = node.stop();
  await refusesAt(node.url);
  const { statuses } = await raw.send('{}').ended();
  expect([await ended, statuses, raw.socket.errored]).toEqual([0, [201], null]);
});

it('weir serve --drain takes connections for that time, says that it is not ready, and ends', async () => {
  const node = await serve(['--store', 'memory', '--drain', '1s']);
  const ended = node.stop();
  let ready = await fetch(`${node.url}/readyz`);
  while (ready.ok) ready = await fetch(`${node.url}/readyz`);
  const { code } = (await ready.json()) as { code: string };
  expect([ready.headers.get('connection'), code, await ended]).toEqual(['close', 'node_draining', 0]);
});

it('weir serve --drain ends at once on the second signal', async () => {
  const noticed = await serve(['--store', 'memory', '--drain', '10m']);
  const first = noticed.stop();
  while ((await fetch(`${noticed.url}/readyz`)).ok);
  noticed.child.kill('SIGINT');
  expect(await first).toBe(130);
});

it('weir serve ends at once on the second signal, with a request under way', async () => {
  const node = await serve(['--store', 'memory']);
  // A request that never ends would keep the node for as long as it waits for one.
  new Raw(node.url).send(`${MINT}\r\n`);
  await answersAt(node.url);
  const ended = node.stop();
  await refusesAt(node.url);
  node.child.kill('SIGTERM');
  expect(await ended).toBe(143);
});

it('weir serve --rotate-key takes a new key that the old one names, and not while the node runs', async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await serve(['--data', data]);
  const running = await weirHere(['serve', '--data', data, '--rotate-key', '--port', '0', '--json']);
  await first.stop();
  const next = await serve(['--data', data, '--rotate-key']);
  await next.stop();
  const second = await serve(['--data', data, '--rotate-key']);
  const shown = await ask(second.url, 'GET', '/api/updates/pubkey');
  await second.stop();
  const prints = new Set([first, next, second].map(({ fingerprint }) => fingerprint));
  expect([JSON.parse(running.out).code, prints.size, shown.successions.length]).toEqual(['store_locked', 3, 2]);
});

it('weir serve says that its key file cannot be read, and does not start', async () => {
  const data = join(temporaryFolder(), 'data');
  await (await serve(['--data', data])).stop();
  writeFileSync(join(data, 'node.json'), '{"cycle_ms":50}');
  const { code, out } = await weirHere(['serve', '--data', data, '--port', '0', '--json']);
  expect([code, JSON.parse(out).code]).toEqual([2, 'unreadable_file']);
});

const wrong = [
  '--trust-proxy proxy.example',
  '--trust-proxy 10.0.0.0/33',
  '--store memory --rotate-key',
  '--hosts x',
  '--store=redis://127.0.0.1:1 --grpc=0 --limit=none.yaml',
  '--store=redis://127.0.0.1:1 --keep=rows=10',
  '--keep deleted=0',
  '--keep deleted=1.5',
  '--keep deleted=3651',
  '--drain x',
  '--drain 11m',
];
refuses(
  'serve --json',
  wrong.map((args) => [args, '"code":"wrong_usage"']),
);

it.each([
  ['alone', [], ''],
  [
    'beyond loopback, where it mints no keys',
    ['--host', '0.0.0.0', '--drain', '0'],
    `  mint    off: it gives no free keys, unless it is started with --bound mint=10
  note    other computers reach it, and what they send is not encrypted: put a proxy with TLS before it
`,
  ],
])('weir serve says in words where it listens, with its data, key and cycles: %s', async (_, more, notes) => {
  const node = begin(['serve', '--port', '0', '--store', 'memory', ...more]);
  await node.line((line) => line.startsWith('ready'));
  node.child.kill('SIGINT');
  const words = node.lines
    .join('\n')
    .replace(/:\d+/, ':PORT')
    .replace(/SHA256:\S{43}/, 'KEY');
  expect([await node.ended, words]).toEqual([
    0,
    `weir ${VERSION} listens on http://127.0.0.1:PORT
  data    in memory: all is gone when the node ends
  key     KEY, made now
  cycles  of 777 ms
${notes}ready; Ctrl-C ends it`,
  ]);
});

const keyOf = async ({ url }: Serving): Promise<string> => (await ask(url, 'POST', '/api/demo-key/mint')).key;

async function answersAt(url: string): Promise<void> {
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
}

/** Resolves once no new connection is taken. */
async function refusesAt(url: string): Promise<void> {
  const isOpen = () =>
    Raw.on(url).then(
      ({ socket }) => socket.destroy(),
      () => false,
    );
  while (await isOpen()) await pause(10);
}
