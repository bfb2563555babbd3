import { expect, it } from 'vitest';
import { figureIn, metricsOf } from './asking.js';
import { Listening } from './listening.js';
import { nodeOfFile } from './node-of-file.js';
import { Raw } from './raw.js';
import { startRunning } from './running.js';

const CYCLE_MS = 25;
const node = await nodeOfFile({
  cycleMs: CYCLE_MS,
  limits: { streams: { perOwner: 256, onNode: 20, share: 1 }, readerBytes: 32 << 10, heartbeatMs: 200 },
});
const owner = node.owner();

/** A machine whose contract moves when it is told to, and by itself only after a thousand cycles. */
async function newMachine(slug: string, is_public = true): Promise<(to: string) => Promise<number>> {
  const id = await owner.contractOn(slug, {}, is_public);
  const path = `/api/chain/${slug}/contracts/${id}/transition`;
  return async (to) => (await owner.post(path, { to, hold_cycles: 1_000 })).body.seq;
}

const row = ({ id, event, data }: { id: string; event: string; data: { id: string } }) => `${id} ${event} ${data.id}`;
const rows = (listening: Listening) => listening.heard.filter(({ event }) => event !== 'cycle').map(row);

it('a stream tells transitions and what they emit, in envelopes, with the seq of the row as id', async () => {
  const move = await newMachine('envelopes');
  const listening = await Listening.to(node, '/api/chain/envelopes/stream');
  await move('limiting');
  const emitted = await listening.next('rate_limited');
  const [moved] = listening.of('transition');
  const [last] = node.store.rows('envelopes', { afterSeq: 2 });
  const source = `/api/chain/envelopes/contracts/${last?.contract_id}`;
  const envelope = { specversion: '1.0', source, time: last?.at, datacontenttype: 'application/json' };
  const limited = {
    ...{ event: 'rate_limited', machine: 'envelopes', contract_id: last?.contract_id, state: 'limiting' },
    ...{ count: 0, cycle: last?.cycle, seq: 3 },
  };
  expect([moved, emitted]).toEqual([
    { id: '3', event: 'transition', data: { ...envelope, id: '3', type: 'weir.transition', data: last } },
    { id: '3', event: 'rate_limited', data: { ...envelope, id: '3/0', type: 'weir.rate_limited', data: limited } },
  ]);
});

it('a stream tells every cycle as it begins', async () => {
  await newMachine('cycles');
  const listening = await Listening.to(node, '/api/chain/cycles/stream');
  const { id, data } = await listening.next('cycle', 3);
  const told = listening.of('cycle').map((heard) => heard.data.data);
  for (const [index, { cycle, missed }] of told.entries()) {
    if (index > 0) expect(cycle).toBe(told[index - 1].cycle + 1 + missed);
  }
  expect([id, data.type, data.time]).toEqual(['2', 'weir.cycle', new Date(data.data.cycle * CYCLE_MS).toISOString()]);
});

it.each([
  ['by the header', { headers: { 'last-event-id': '3' } }, ''],
  ['by the query', {}, '?last_event_id=3'],
])('a stream goes on behind Last-Event-ID, given %s, and then live', async (name, ask, query) => {
  const slug = `resumed-${name.replaceAll(' ', '-')}`;
  const move = await newMachine(slug);
  for (const to of ['limiting', 'allowing', 'limiting']) await move(to);
  const listening = await Listening.to(node, `/api/chain/${slug}/stream${query}`, ask);
  await listening.next('transition', 1);
  await move('allowing');
  await listening.next('transition', 2);
  await listening.next('rate_restored', 1);
  expect(rows(listening)).toEqual([
    '4 transition 4',
    '4 rate_restored 4/0',
    '5 transition 5',
    '5 rate_limited 5/0',
    '6 transition 6',
    '6 rate_restored 6/0',
  ]);
});

it('streams lose and double nothing for readers that come and go while rows are written', async () => {
  const move = await newMachine('comings');
  const heard: string[] = [];
  let last = '0';
  let isMoving = true;
  const moving = (async () => {
    let seq = 0;
    for (let round = 0; round < 150; round += 1) seq = await move(round % 2 === 0 ? 'limiting' : 'allowing');
    isMoving = false;
    expect(seq).toBe(152);
  })();
  while (isMoving || Number(last) < 152) {
    const listening = await Listening.to(node, '/api/chain/comings/stream', { headers: { 'last-event-id': last } });
    await Promise.race([listening.next('transition', 20), listening.next('cycle', 4)]);
    listening.close();
    await listening.ended();
    const whole = listening.heard.filter(({ event }) => event !== 'cycle');
    // Only what came with all its messages counts as seen.
    const emitted = whole.filter(({ event }) => event !== 'transition');
    heard.push(...emitted.map(row));
    last = emitted.at(-1)?.id ?? last;
  }
  await moving;
  expect(heard).toEqual(
    Array.from(
      { length: 150 },
      (_, index) => `${index + 3} ${index % 2 === 0 ? 'rate_limited' : 'rate_restored'} ${index + 3}/0`,
    ),
  );
});

it('a stream of a private machine is for its owner, and ends with the credential', async () => {
  const move = await newMachine('hidden', false);
  const session = await node.sessionOf(owner.key);
  const nobody = await Listening.to(node, '/api/chain/hidden/stream');
  const own = await Listening.to(node, '/api/chain/hidden/stream', { session });
  await move('limiting');
  await own.next('rate_limited');
  await node.ask('DELETE', '/api/session', { session });
  await own.ended();
  expect([nobody.status, nobody.heard, own.status]).toEqual([404, [], 200]);
});

it('a stream is not opened for more readers than the node takes', async () => {
  await newMachine('crowded');
  const open = await Promise.all(Array.from({ length: 25 }, () => Listening.to(node, '/api/chain/crowded/stream')));
  const statuses = open.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(20).fill(200), ...Array(5).fill(503)]);
});

it('a stream is not opened for more readers of one caller than allowed; an owner is served beside strangers', async () => {
  const shared = await startRunning({ limits: { streams: { perOwner: 4, onNode: 8, share: 1 } } });
  const owner = shared.owner();
  await owner.createMachine('shared', true);
  const open = (ask = {}) => Listening.to(shared, '/api/chain/shared/stream', ask);
  const strangers = await Promise.all(Array.from({ length: 6 }, () => open()));
  const owners = await Promise.all(Array.from({ length: 4 }, () => open(owner)));
  const refused = await shared.ask('GET', '/api/chain/shared/stream');
  strangers.find(({ status }) => status === 200)?.close();
  while (figureIn(await metricsOf(shared.url), 'weir_stream_readers') === 8);
  const next = await open();
  expect(strangers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 429, 429]);
  expect(owners.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect([refused.body.code, next.status]).toEqual(['too_many_requests', 200]);
});

it('a stream shows that it lives where cycles are long', async () => {
  const slow = await startRunning({ cycleMs: 3_600_000, limits: { heartbeatMs: 20 } });
  const owner = slow.owner();
  await owner.createMachine('quiet', true);
  const listening = await Listening.to(slow, '/api/chain/quiet/stream');
  await listening.comment(3);
  await slow.close();
  expect([listening.heard, slow.errors]).toEqual([[], []]);
});

const READ = 'GET /api/chain/busy/stream HTTP/1.1\r\nHost: localhost\r\n\r\n';

it('a stream falls behind with a slow reader, and is cut for one that does not read at all, and no other', async () => {
  // Cycles are written to the good reader far more often than an idle connection is cut, also on a busy machine.
  const busy = await startRunning({ cycleMs: 50, limits: { readerBytes: 32 << 10, idleTimeoutMs: 1_000 } });
  const owner = busy.owner();
  await owner.contractOn('busy', {}, true);
  const [contract] = busy.host.machines.get('busy')?.contracts ?? [];
  const good = await Listening.to(busy, '/api/chain/busy/stream');
  const stalled = new Raw(busy.url).send(READ);
  stalled.socket.pause();
  const figure = async (name: string) => figureIn(await metricsOf(busy.url), name);
  let seq = 2;
  while ((await figure('weir_stream_readers')) < 2);
  // Until the stalled reader has filled every buffer on its way, its connection moves.
  while ((await figure('weir_stream_readers')) === 2) {
    for (let moved = 0; moved < 200 && contract !== undefined; moved += 1) {
      const to = contract.state === 'limiting' ? 'allowing' : 'limiting';
      seq = busy.host.transition(contract, { to, holdCycles: 1_000 }).seq;
    }
    await good.next('transition', seq - 3);
  }
  stalled.socket.resume();
  await stalled.ended();
  expect(good.of('transition').map(({ id }) => Number(id))).toEqual(
    Array.from({ length: seq - 2 }, (_, index) => index + 3),
  );
  expect(await figure('weir_stream_lags_total')).toBeGreaterThan(1);
  await busy.close();
  expect(busy.errors).toEqual([]);
});

it('a stream is cut for a reader that does not read, although more is written for it, and for one that has ended its side', async () => {
  const limits = { readerBytes: 1 << 30, idleTimeoutMs: 1_000, connectionsCheckMs: 50 };
  const busy = await startRunning({ cycleMs: 50, limits });
  await busy.owner().contractOn('busy', {}, true);
  const [contract] = busy.host.machines.get('busy')!.contracts;
  new Raw(busy.url).send(READ).socket.pause();
  const readers = async () => figureIn(await metricsOf(busy.url), 'weir_stream_readers');
  while ((await readers()) === 0);
  while ((await readers()) > 0)
    for (let moved = 0; moved < 100; moved += 1)
      busy.host.transition(contract!, { to: moved % 2 === 0 ? 'limiting' : 'allowing', holdCycles: 1_000 });
  // Behind a request that takes a while it has no socket of its own yet.
  const ended = new Raw(busy.url).send(READ.replace('stream', 'state/verify') + READ);
  ended.socket.end();
  expect((await ended.ended()).statuses[0]).toBe(200);
  await busy.close();
  expect(busy.errors).toEqual([]);
});
