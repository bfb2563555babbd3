import { afterEach, expect, it } from 'vitest';
import type { ContractState } from '../../src/node/store/store.js';
import { type Caller, statusAndCode, type Told } from './caller.js';
import { Listening } from './listening.js';
import { type Running, type Start, startRunning } from './running.js';
import { SlowStore } from './slow-store.js';

/** A disk that is slow, full or gone, as the test wants it. */
class TestStore extends SlowStore {
  /** Whether it breaks when counts are to be written, and before. */
  breaksAtState = false;
  readonly saved = new Map<string, ContractState>();

  override putState(state: ContractState): void {
    if (this.breaksAtState) {
      this.isFull = true;
      super.commit(() => {});
    }
    super.putState(state);
    this.saved.set(state.id, state);
  }
}

/** What is set ahead passes cycles at once that are longer than the test. */
let aheadMs = 0;
const source = { wallMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() };
const LONG_MS = 600_000;
let node: Running;
let owner: Caller;
let store: TestStore;
let contracts: string[];

async function start(options: Start = {}): Promise<void> {
  store = new TestStore();
  node = await startRunning({ cycleMs: 3_600_000, memory: store, source, ...options });
  owner = node.owner();
  contracts = [];
  for (const [slug, threshold] of Object.entries({ first: 1, second: 1, wide: 100 })) {
    contracts.push(await owner.contractOn(slug, { threshold }, true));
  }
}
afterEach(() => store.release());

const event = (slug: string) => owner.post(`/api/chain/${slug}/event`, { type: 'request' });
const stateOf = ({ body }: Told) => body.contracts[0].state;

async function nextCycle(): Promise<void> {
  aheadMs += LONG_MS;
  // The heartbeat of the new cycle asks for the commit, whether or not anybody waits for it.
  while (!store.isWaitedFor) await node.clock.sleep(10);
}

/** Whether an answer has come after a while. Asked of those that must not: what is late proves nothing, what has come does. */
async function hasCome(answer: Promise<unknown>): Promise<boolean> {
  const late = node.clock.sleep(100).then(() => false);
  return Promise.race([answer.then(() => true), late]);
}

it('nobody is told of a transition before it is on disk, and other machines are not held up', async () => {
  await start();
  const listening = await Listening.to(node, '/api/chain/first/stream');
  await event('first');
  store.hold();
  const trips = event('first');
  while (node.host.contracts.get(contracts[0] ?? '')?.state !== 'limiting') await node.clock.sleep(1);
  const answers = [
    trips,
    event('first'),
    owner.get(`/api/chain/first/contracts/${contracts[0]}/gate?peek=1`),
    node.ask('GET', '/api/chain/first/state'),
    node.ask('GET', `/api/chain/first/contracts/${contracts[0]}`),
    node.ask('GET', '/api/chain/state-machines/first'),
    node.ask('GET', '/api/chain/first/state?format=ndjson'),
  ];
  const active = await node.ask('GET', '/api/chain/active');
  expect([await Promise.all(answers.map(hasCome)), listening.of('transition'), active.body.machines]).toEqual([
    answers.map(() => false),
    [],
    [],
  ]);
  expect((await event('second')).status).toBe(200);
  store.release();
  expect(stateOf(await trips)).toBe('limiting');
  await Promise.all(answers);
  await listening.next('rate_limited');
});

it('no manual transition, machine, contract, key or session is answered before it is on disk', async () => {
  await start();
  store.hold();
  const path = `/api/chain/first/contracts/${contracts[0]}/transition`;
  const answers = [
    owner.post(path, { to: 'limiting' }),
    owner.createMachine('third'),
    owner.tryDeploy('second'),
    node.ask('POST', '/api/demo-key/mint'),
    owner.post('/api/session'),
  ];
  expect(await Promise.all(answers.map(hasCome))).toEqual(answers.map(() => false));
  store.release();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 201, 201, 201, 201]);
});

it('counts of one cycle are on disk before an event of the next is answered, on each machine by itself', async () => {
  await start({ durability: 'cycle', cycleMs: LONG_MS });
  const { body } = await event('first');
  await event('wide');
  store.hold();
  await nextCycle();
  const next = event('first');
  expect([(await event('second')).status, await hasCome(next)]).toEqual([200, false]);
  // Who counts in the meantime waits for the write that is under way, and asks for none of the counts of this cycle.
  const written = store.saved.get(contracts[2] ?? '');
  const more = [event('wide'), owner.get(`/api/chain/wide/contracts/${contracts[2]}/gate`)];
  expect([await Promise.all(more.map(hasCome)), written?.windows[0]?.counts]).toEqual([
    [false, false],
    [0, 1],
  ]);
  expect(store.saved.get(contracts[2] ?? '')).toBe(written);
  store.release();
  for (const { body: told } of await Promise.all(more)) expect(told.cycle).toBeGreaterThan(body.cycle);
  expect((await next).body.cycle).toBeGreaterThan(body.cycle);
  expect(store.saved.get(contracts[0] ?? '')?.windows[0]?.counts).toEqual([0, 1, 1, 1]);
});

it('counts of requests with an idempotency key are on disk before an event of the next cycle is answered', async () => {
  await start({ durability: 'cycle', cycleMs: LONG_MS });
  const once = (key: string) =>
    owner.post('/api/chain/wide/event', { type: 'request' }, { 'idempotency-key': `"${key}"` });
  store.hold();
  const { body } = await once('first');
  await nextCycle();
  const next = once('second');
  expect(await hasCome(next)).toBe(false);
  store.release();
  expect((await next).body.cycle).toBeGreaterThan(body.cycle);
});

it('counts are on disk before they are answered with durability strict, many in one write', async () => {
  await start({ durability: 'strict' });
  store.hold();
  const path = `/api/chain/first/contracts/${contracts[0]}/gate`;
  const answers = [event('second'), owner.get(path), event('first')];
  expect(await Promise.all(answers.map(hasCome))).toEqual([false, false, false]);
  store.release();
  await Promise.all(answers);
  expect(contracts.slice(0, 2).map((id) => store.saved.get(id)?.windows[0]?.counts)).toEqual([
    [0, 2],
    [0, 1],
  ]);
});

it('counts are on disk after their cycle, and when the node closes', async () => {
  await start({ cycleMs: 200 });
  const windowOf = (n: number) => store.saved.get(contracts[n] ?? '')!.windows[0]!;
  const first = await event('first');
  const cycle = node.clock.cycle();
  while (node.clock.cycle() <= cycle + 1) await node.clock.sleep(50);
  // As old as it is when it is written: a busy machine may be cycles late.
  expect(windowOf(0).counts).toEqual([windowOf(0).cycle - first.body.cycle, 1]);
  const second = await event('second');
  await node.close();
  expect(windowOf(1).counts).toEqual([windowOf(1).cycle - second.body.cycle, 1]);
});

it('a full store fails the request that was to be stored, and then all that would change a machine', async () => {
  await start();
  await event('first');
  store.isFull = true;
  const gate = `/api/chain/second/contracts/${contracts[1]}/gate`;
  const answers = [
    await event('first'),
    await event('second'),
    await owner.get(gate),
    await owner.post('/api/chain/second/events', '[{"type":"request"}]'),
    await owner.createMachine('third'),
    await node.ask('POST', '/api/demo-key/mint'),
    await node.ask('GET', `/api/chain/first/contracts/${contracts[0]}`),
    await node.ask('GET', '/readyz'),
    await node.ask('GET', '/healthz'),
    await node.ask('GET', `/api/chain/second/contracts/${contracts[1]}`),
    await node.ask('GET', '/api/chain/second/state'),
    await node.ask('GET', '/api/clock'),
  ];
  expect(answers.map(statusAndCode)).toEqual([
    ...Array.from({ length: 9 }, () => [503, 'store_failed']),
    ...Array.from({ length: 3 }, () => [200, undefined]),
  ]);
  expect((await node.ask('GET', '/metrics')).body).toContain('weir_store_ok 0');
});

it('a stream ends when a full store has room again, and its reader goes on behind its last row', async () => {
  await start();
  await event('first');
  await event('first');
  const before = await Listening.to(node, '/api/chain/first/stream?last_event_id=2');
  await before.next('rate_limited');
  store.isFull = true;
  const refused = await owner.createMachine('third');
  store.isFull = false;
  await before.ended();
  const after = await Listening.to(node, '/api/chain/first/stream?last_event_id=3');
  const moved = await owner.post(`/api/chain/first/contracts/${contracts[0]}/transition`, { to: 'allowing' });
  const { id } = await after.next('transition');
  expect([refused.status, moved.status, id]).toEqual([503, 200, String(moved.body.seq)]);
});

it('a full store fails the answers that wait for it with durability strict', async () => {
  await start({ durability: 'strict' });
  store.isFull = true;
  const answers = await Promise.all([event('first'), event('second'), event('first')]);
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
});

it('the failure of a store is said once, and thrown out of no task of the clock', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  await start({ cycleMs: 100, log: { level: 'error', requests: false, destination } });
  // Due to restore by itself, with a row and a state to write.
  await event('first');
  await event('first');
  await event('second');
  store.breaksAtState = true;
  const said = () => lines.filter((line) => line.includes('"store_failed"'));
  while (said().length === 0) await node.clock.sleep(20);
  await node.clock.sleep(1_500);
  expect([said().length, lines.length, node.errors]).toEqual([1, 1, []]);
});

it('counts that cannot be written fail who waits for them, and no task of the clock', async () => {
  await start({ durability: 'strict' });
  store.breaksAtState = true;
  expect((await event('first')).status).toBe(503);
  node.host.commit();
  expect(node.errors).toEqual([]);
});
