// A batch against a target that answers as a node does, and against a real node.
import { expect, it } from 'vitest';
import { type BatchOptions, EventBatch } from '../../../src/api/client/event-batch.js';
import { WeirClient, WeirError } from '../../../src/api/client/weir-client.js';
import { startRunning } from '../../node/running.js';

type Answered = { readonly remaining?: number; readonly retry_after_ms?: number; readonly limited?: number };

const problem = (code: string, status: number) => new WeirError({ code, status, title: code, detail: code });
const event = (n: number) => ({ type: 'request', count: n });

/** A batch whose chunks are answered by `turns`, the last one for ever. Chunks are noted by the `count` of their events. */
function scripted(turns: readonly (Answered | Error | Promise<Answered>)[], options: BatchOptions = {}) {
  const sent: number[][] = [];
  const keys: string[] = [];
  const heard: { restore?: () => void } = {};
  const target: ConstructorParameters<typeof EventBatch>[0] = {
    async send(events, { idempotencyKey, signal }) {
      const turn = turns[Math.min(sent.length, turns.length - 1)];
      sent.push(events.map(({ count = 1 }) => count));
      keys.push(idempotencyKey);
      signal.throwIfAborted();
      const {
        remaining,
        retry_after_ms = 0,
        limited = 0,
      } = await (turn instanceof Error ? Promise.reject(turn) : turn!);
      const contract = { id: 'c', state: 's', count: 0, admitted: 0, limited: 0, retry_after_ms };
      const contracts = [{ ...contract, ...(remaining === undefined ? {} : { remaining }) }];
      // What came before the last decision, and a contract with keys, say nothing of the room.
      const before = {
        ok: true as const,
        cycle: 1,
        contracts: [{ ...contract, remaining: 0, retry_after_ms: 600_000 }],
      };
      const ofKey = { ok: true as const, cycle: 1, contracts: [{ ...contract, id: 'k', key: 'a', remaining: 0 }] };
      return {
        ...{ ok: true, counted: events.length, refused: 0, admitted: events.length - limited, limited },
        outcomes: [before, ofKey, { ok: true, cycle: 1, contracts }],
      };
    },
    cycleMs: async () => 50,
    async *follow(signal) {
      await new Promise<void>((resolve) => {
        heard.restore = resolve;
        signal.addEventListener('abort', () => resolve());
      });
      if (!signal.aborted) yield { event: 'rate_restored', data: '', envelope: undefined };
    },
  };
  return { batch: new EventBatch(target, { lingerMs: 0, ...options }), sent, keys, heard };
}

it('a batch joins what is added together, up to its size, in order', async () => {
  const { batch, sent } = scripted([{}], { size: 3 });
  for (const n of [1, 2, 3, 4, 5]) expect(batch.add(event(n))).toBe(true);
  await batch.flush();
  expect(sent).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
  expect(batch.figures).toEqual({
    waiting: 0,
    admitted: 5,
    limited: 0,
    refused: 0,
    rejected: 0,
    dropped: 0,
    isHeld: false,
  });
});

it('a batch sends no more than there is room for, waits while limiting, then finds out with one event', async () => {
  const { batch, sent } = scripted(
    [{ remaining: 2 }, { remaining: 0, retry_after_ms: 5, limited: 1 }, { remaining: 3 }],
    { size: 2 },
  );
  for (let n = 1; n <= 8; n += 1) batch.add(event(n));
  await batch.flush();
  expect(sent).toEqual([[1, 2], [3, 4], [5], [6, 7], [8]]);
  expect(batch.figures).toMatchObject({ admitted: 7, limited: 1 });
});

it('a batch goes on at once when the stream says that the machine is restored', async () => {
  const { batch, sent, heard } = scripted([{ remaining: 0, retry_after_ms: 600_000 }, {}], { size: 1, follow: true });
  batch.add(event(1));
  batch.add(event(2));
  await expect.poll(() => batch.figures.isHeld).toBe(true);
  expect([sent, batch.figures.waiting]).toEqual([[[1]], 1]);
  heard.restore?.();
  await batch.flush();
  expect(sent).toEqual([[1], [2]]);
  await batch.close();
});

it.each([
  ['reject', [true, true, false], [1, 2], { rejected: 1, dropped: 0 }],
  ['drop_oldest', [true, true, true], [2, 3], { rejected: 0, dropped: 1 }],
] as const)('a full batch does as whenFull says: %s', async (whenFull, taken, kept, counted) => {
  const { batch, sent } = scripted([{}], { capacity: 2, whenFull, lingerMs: 50 });
  expect([1, 2, 3].map((n) => batch.add(event(n)))).toEqual(taken);
  await batch.flush();
  expect([sent, batch.figures]).toEqual([[kept], expect.objectContaining(counted)]);
});

it('a chunk on its way counts towards the capacity of a batch', async () => {
  let answer = (_: Answered) => {};
  const first = new Promise<Answered>((resolve) => {
    answer = resolve;
  });
  const { batch, sent } = scripted([first, {}], { capacity: 1, whenFull: 'drop_oldest' });
  batch.add(event(1));
  await expect.poll(() => sent.length).toBe(1);
  expect([batch.add(event(2)), batch.figures.rejected]).toEqual([false, 1]);
  answer({});
  await batch.flush();
  expect(sent).toEqual([[1]]);
});

it('a batch sends a chunk again under the same key until it is answered', async () => {
  const errors: unknown[] = [];
  const { batch, sent, keys } = scripted([problem('node_unreachable', 0), {}], {
    onError: (error) => errors.push((error as WeirError).code),
  });
  batch.add(event(1));
  await batch.flush();
  expect([sent, new Set(keys).size, errors]).toEqual([[[1], [1]], 1, ['node_unreachable']]);
});

it('a batch ends with a refusal that no repetition changes', async () => {
  const { batch, sent } = scripted([problem('not_owner', 403)]);
  batch.add(event(1));
  await expect(batch.flush()).rejects.toMatchObject({ code: 'not_owner' });
  expect(() => batch.add(event(2))).toThrow('not_owner');
  expect([sent.length, batch.figures.refused]).toEqual([1, 1]);
});

it('a batch closes after what waits was sent, or drops it at the signal', async () => {
  const whole = scripted([{}], { lingerMs: 60_000 });
  whole.batch.add(event(1));
  expect(await whole.batch.close()).toMatchObject({ admitted: 1, dropped: 0 });
  expect(() => whole.batch.add(event(2))).toThrow('The batch is closed.');
  const held = scripted([{ remaining: 0, retry_after_ms: 600_000 }], { size: 1 });
  held.batch.add(event(1));
  held.batch.add(event(2));
  await expect.poll(() => held.batch.figures.isHeld).toBe(true);
  expect(await held.batch.close(AbortSignal.timeout(1))).toMatchObject({ admitted: 1, dropped: 1, waiting: 0 });
});

const node = await startRunning({ cycleMs: 50 });

it.each([false, true])('a batch loses nothing to a window that limits again and again (follow: %s)', async (follow) => {
  const slug = `drains-${follow}`;
  const weir = new WeirClient({ url: node.url, key: node.keyOf('owner') });
  await weir.call('createMachine', { body: { slug } });
  await weir.call('deployRateLimiter', { body: { slug, threshold: 10, within: 4 } });
  const batch = weir.events.batch(slug, { lingerMs: 0, follow });
  for (let n = 0; n < 40; n += 1) batch.add({ type: 'request' });
  const { admitted, limited, refused, dropped } = await batch.close();
  expect([admitted + limited, refused, dropped]).toEqual([40, 0, 0]);
  // The first chunk was sent before anything was known of the room; all that came later fitted.
  expect(admitted).toBeGreaterThanOrEqual(10);
});
