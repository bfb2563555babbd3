import { expect, it } from 'vitest';
import { checkpointHolds, generateSigner, signSuccession } from '../../src/core/record/signing.js';
import { WallClock } from '../../src/core/time/wall.js';
import { startNode } from '../../src/node/node.js';
import { MemoryCredentials } from '../../src/node/store/credential-store.js';
import { MemoryStore } from '../../src/node/store/memory.js';
import { statusAndCode } from './caller.js';
import { Listening } from './listening.js';
import { Raw } from './raw.js';
import { startRunning } from './running.js';
import { SlowStore } from './slow-store.js';

it('a node that closes ends its streams, takes no connection, signs every head, and closes twice as once', async () => {
  const signer = generateSigner();
  const store = new MemoryStore();
  const signed = () => store.checkpoint('mine');
  let last: ReturnType<typeof signed>;
  store.close = () => {
    last = signed();
  };
  const node = await startRunning({ memory: store, signer, cycleMs: 3_600_000 });
  const owner = node.owner();
  await owner.contractOn('mine');
  const listening = await Listening.to(node, '/api/chain/mine/stream', owner);
  await Promise.all([node.close(), node.close(), listening.ended()]);
  await expect(fetch(`${node.url}/healthz`)).rejects.toThrow();
  expect(last?.seq).toBe(2);
  expect(last !== undefined && checkpointHolds(last, signer.publicKey)).toBe(true);
  expect(node.errors).toEqual([]);
});

it('a node that closes finishes what is under way', async () => {
  const store = new SlowStore();
  const node = await startRunning({ memory: store, durability: 'strict', cycleMs: 3_600_000 });
  const owner = node.owner();
  await owner.contractOn('mine');
  const [contract] = node.host.machines.get('mine')?.contracts ?? [];
  store.hold();
  const asked = owner.event('mine');
  while (contract?.gate.count !== 1) await node.clock.sleep(1);
  const closed = node.close();
  await node.clock.sleep(50);
  store.release();
  const { status } = await asked;
  await closed;
  expect(status).toBe(200);
});

it('a node that closes cuts what does not finish in time', async () => {
  const store = new SlowStore();
  const node = await startRunning({ memory: store, limits: { drainMs: 50 } });
  store.hold();
  const asked = node.ask('POST', '/api/demo-key/mint').then(
    () => 'answered',
    () => 'cut',
  );
  while (!store.isWaitedFor) await node.clock.sleep(1);
  const closed = node.close();
  expect(await asked).toBe('cut');
  store.release();
  await closed;
});

it('a node that closes answers what comes on kept connections, several at once too, and then ends them', async () => {
  const node = await startRunning({ limits: { quietMs: 500 } });
  const all = await Promise.all(Array.from({ length: 10 }, () => keptAt(node.url)));
  const closed = node.close();
  for (const [index, kept] of all.entries()) setTimeout(() => kept.send(HEALTH.repeat(1 + (index % 2))), 5 * index);
  await Promise.all([closed, ...all.map((kept) => kept.ended())]);
  const ends = ({ text }: Raw) => [...text.matchAll(/^Connection: (.*)\r$/gm)].map(([, says]) => says);
  expect(all.map(ends)).toEqual(all.map((_, index) => ['keep-alive', ...(index % 2 ? ['keep-alive'] : []), 'close']));
});

it('a node that closes ends a silent connection, and waits for the rest of a request no longer than it says', async () => {
  const node = await startRunning({ limits: { quietMs: 50, drainMs: 1_000 } });
  const [silent, late, never] = [await keptAt(node.url), await keptAt(node.url), await keptAt(node.url)];
  const head = 'GET /healthz HTTP/1.1\r\n';
  never.send(head);
  late.send(head);
  await node.ask('GET', '/healthz');
  const closed = node.close();
  await silent.ended();
  late.send('Host: localhost\r\n\r\n');
  await Promise.all([late.ended(), never.ended(), closed]);
  expect([silent, late, never].map(({ statuses }) => statuses)).toEqual([[200], [200, 200], [200]]);
});

it('a node that closes ends a stream with the time after which to connect again, and opens none any more', async () => {
  const node = await startRunning({ limits: { quietMs: 500 } });
  const owner = node.owner();
  await owner.contractOn('mine');
  const kept = await keptAt(node.url);
  const path = '/api/chain/mine/stream';
  const stream = await node.send('GET', path, owner);
  const closed = node.close();
  const text = await stream.text();
  kept.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${owner.key}\r\n\r\n`);
  await Promise.all([kept.ended(), closed]);
  expect(text).toMatch(/\n\n: the node is shutting down\nretry: 2000\n\n$/);
  expect(kept.text).toMatch(/HTTP\/1\.1 503 [\s\S]*node_draining/);
});

it('a node that closes says that it is not ready before it takes no more', async () => {
  const node = await startRunning({ limits: { noticeMs: 1_500 } });
  const closed = node.close();
  const answers = [await node.ask('GET', '/readyz'), await node.ask('GET', '/healthz')];
  await closed;
  expect(answers.map(statusAndCode)).toEqual([
    [503, 'node_draining'],
    [200, undefined],
  ]);
});

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** A connection on which one request was answered. */
const keptAt = (url: string) => new Raw(url).send(HEALTH).answered();

const parts = () => ({
  store: new MemoryStore(),
  credentials: new MemoryCredentials(),
  clock: new WallClock(777, { onError: () => {} }),
  signer: generateSigner(),
});

it('a node listens on loopback unless it is told otherwise', async () => {
  const node = await startNode(parts());
  await node.close();
  expect(node.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});

it('a node says that its port is taken, and that an address is not of this machine', async () => {
  const node = await startNode(parts());
  const port = Number(new URL(node.url).port);
  await expect(startNode({ ...parts(), port })).rejects.toMatchObject({ code: 'port_in_use' });
  // An address of documents (RFC 5737).
  await expect(startNode({ ...parts(), host: '203.0.113.9' })).rejects.toMatchObject({
    code: 'wrong_usage',
    why: expect.stringContaining('EADDRNOTAVAIL'),
  });
  await node.close();
});

it('a node says that its keys do not follow from each other, and that a proxy is no address', async () => {
  const [old, next] = [generateSigner(), generateSigner()];
  const successions = [signSuccession(old, next.publicKey, 1)];
  await expect(startNode({ ...parts(), successions })).rejects.toMatchObject({ code: 'wrong_usage' });
  await expect(startNode({ ...parts(), trustProxy: ['proxy'] })).rejects.toMatchObject({ code: 'wrong_usage' });
  const node = await startRunning({ signer: next, successions });
  const { body } = await node.ask('GET', '/api/updates/pubkey');
  await node.close();
  expect(body.successions).toEqual(successions);
});

it('a node shows its figures on a port of their own if told to, and nowhere else then', async () => {
  const node = await startRunning({ metricsPort: 0, host: '0.0.0.0' });
  const metricsUrl = node.metricsUrl ?? '';
  // Both can be opened, on the address of this machine.
  expect(new URL(metricsUrl).hostname).toBe(new URL(node.url).hostname);
  const figures = await fetch(metricsUrl);
  const text = await figures.text();
  const statuses = [(await node.ask('GET', '/metrics')).status, (await fetch(new URL('/healthz', metricsUrl))).status];
  const { body } = await node.ask('GET', '/api/endpoints');
  await node.close();
  expect([figures.status, text.includes('weir_contracts 0'), statuses]).toEqual([200, true, [404, 404]]);
  expect(body.endpoints.map(({ path }: { path: string }) => path)).not.toContain('/metrics');
  await expect(fetch(metricsUrl)).rejects.toThrow();
});
