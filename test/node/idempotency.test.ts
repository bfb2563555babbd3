import { expect, it } from 'vitest';
import type { Failure } from '../../src/core/schema/failure.js';
import { MemoryStore } from '../../src/node/store/memory.js';
import { inTurn, statusAndCode, type Told } from './caller.js';
import { nodeOfFile } from './node-of-file.js';
import { startRunning } from './running.js';

const node = await nodeOfFile({ cycleMs: 50 });
const owner = node.owner();

const contractOn = (slug: string, within = 1_000, threshold = 100) => owner.contractOn(slug, { threshold, within });

const send = (slug: string, key: string, body: unknown, { path = 'event', by = owner } = {}) =>
  by.post(`/api/chain/${slug}/${path}`, body, { 'idempotency-key': key });

const countOf = async (slug: string, contract: string) =>
  (await owner.get(`/api/chain/${slug}/contracts/${contract}`)).body.contract.count;

const replayed = ({ headers }: Told) => headers.get('idempotent-replayed');

it('an event with an idempotency key counts once; a repeated one has the first answer', async () => {
  const contract = await contractOn('once', 1_000, 3);
  const first = await send('once', '"a-1"', { type: 'request', count: 5 });
  const again = await send('once', 'a-1', { count: 5, type: 'request' });
  expect([first.body.contracts[0].admitted, first.body.contracts[0].limited]).toEqual([3, 2]);
  expect([again.status, again.body, replayed(first), replayed(again)]).toEqual([200, first.body, null, 'true']);
  expect(again.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(await countOf('once', contract)).toBe(5);
});

it('an event with an idempotency key counts once however many come at the same time', async () => {
  const contract = await contractOn('together');
  const answers = await Promise.all(Array.from({ length: 20 }, () => send('together', 'x', { type: 'request' })));
  expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
  expect(await countOf('together', contract)).toBe(1);
});

it('an idempotency key is refused with another body, and on another route', async () => {
  const contract = await contractOn('reused');
  await send('reused', 'a', { type: 'request' });
  const other = await send('reused', 'a', { type: 'request', count: 2 });
  const many = await send('reused', 'a', [{ type: 'request' }], { path: 'events' });
  const reused = [422, 'idempotency_key_reused'];
  expect([other, many].map(statusAndCode)).toEqual([reused, reused]);
  expect(await countOf('reused', contract)).toBe(1);
});

it('an event with an idempotency key counts again once the window has passed', async () => {
  await contractOn('passed', 2);
  await send('passed', 'a', { type: 'request' });
  await expect.poll(async () => replayed(await send('passed', 'a', { type: 'request' })), { interval: 60 }).toBe(null);
  expect([...node.store.answers.sizes()].find(({ machine }) => machine === 'passed')?.count ?? 0).toBeLessThanOrEqual(
    1,
  );
});

it.each(['', '""', '"a', 'é', 'x'.repeat(129)])('the idempotency key %j is refused', async (bad) => {
  await contractOn('bad').catch(() => {});
  const refused = await send('bad', Buffer.from(bad).toString('latin1'), { type: 'request' });
  expect(statusAndCode(refused)).toEqual([400, 'invalid_input']);
});

it('what a request with a key counts is written with the key, however much others have changed before it', async () => {
  // Cycles so long that nothing else has counts written.
  const slow = await startRunning({ cycleMs: 10_000_000 });
  const owner = slow.owner();
  const id = await owner.contractOn('keyed', {
    threshold: 100,
    within: 10,
    keyed: { max_keys: 5_000, store_keys: 'plain' },
  });
  const stored = () => new Map([...slow.store.keys(id)].map(({ key: of, windows }) => [of, windows[0]!.counts.at(-1)]));
  const others = Array.from({ length: 1_500 }, (_, n) => ({ type: 'request', key: `other ${n}` }));
  for (const some of [others.slice(0, 750), others.slice(750)]) await owner.post('/api/chain/keyed/events', some);
  const mine = Array.from({ length: 300 }, (_, n) => ({ type: 'request', key: `mine ${n}`, count: 2 }));
  for (const [name, sent, to] of [
    ['a', { type: 'request', key: 'one', count: 7 }, 'event'],
    ['b', mine, 'events'],
  ] as const) {
    await send('keyed', name, sent, { by: owner, path: to });
    const found = stored();
    expect([found.get('one'), ...(name === 'a' ? [] : mine.map(({ key: of }) => found.get(of)))]).toEqual([
      7,
      ...(name === 'a' ? [] : mine.map(() => 2)),
    ]);
  }
  await slow.close();
  expect(slow.errors).toEqual([]);
});

it('what a request with a key counts in several turns is written in one transaction', async () => {
  const written = new Set<string>();
  let id = '';
  const memory = new (class extends MemoryStore {
    override commit(settled: (failure?: Failure) => void): void {
      const counted = [...this.keys(id)].length;
      if (id !== '') written.add(`${counted} of ${[...this.answers.sizes()].length}`);
      super.commit(settled);
    }
  })();
  const busy = await startRunning({ cycleMs: 2, memory });
  const keyed = { max_keys: 2_000, store_keys: 'plain' };
  id = await busy.owner().contractOn('keyed', { threshold: 100, within: 5_000, keyed });
  const events = Array.from({ length: 1_000 }, (_, n) => ({ type: 'request', key: `key ${n}` }));
  await send('keyed', 'a', events, { by: busy.owner(), path: 'events' });
  await busy.close();
  written.delete('0 of 0');
  expect([[...written], busy.errors]).toEqual([['1000 of 1'], []]);
});

it('an idempotency key without an array of events is refused', async () => {
  await contractOn('none');
  const refused = await owner.post('/api/chain/none/events', undefined, { 'idempotency-key': 'b' });
  expect(statusAndCode(refused)).toEqual([400, 'invalid_input']);
});

it('a thousand events have an outcome each, and a short answer when they are repeated', async () => {
  await contractOn('long');
  const events = Array.from({ length: 1_000 }, (_, n) => ({ type: n % 2 === 0 ? 'request' : 'none' }));
  const first = await send('long', 'b', events, { path: 'events' });
  const again = await send('long', 'b', events, { path: 'events' });
  expect(first.body.outcomes.length).toBe(1_000);
  expect(again.body).toEqual({ ...first.body, outcomes: [] });
});

it('kept answers are bounded for each owner: beyond it a key is refused, and an event without one counts', async () => {
  const small = await startRunning({ cycleMs: 50, limits: { answersKib: { perOwner: 2, onNode: 262_144 } } });
  const [one, two] = [small.owner('one'), small.owner('two')];
  await one.contractOn('one', { within: 10_000 });
  await two.contractOn('two', { within: 10_000 });
  const event = { type: 'request' };
  const codes = await inTurn(Array(8).keys(), async (n) => (await send('one', `k-${n}`, event, { by: one })).body.code);
  expect(codes).toContain('too_many_requests');
  expect(codes.lastIndexOf(undefined)).toBeLessThan(codes.indexOf('too_many_requests'));
  const others = [one.event('one'), send('one', 'k-0', event, { by: one }), send('two', 'k-0', event, { by: two })];
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200, 200]);
});
