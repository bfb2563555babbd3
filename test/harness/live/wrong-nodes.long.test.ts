// Every wrong node is caught, and the first difference names the cycle in which it shows first.
//
//   burst of 4 a cycle in cycles 6 and 7, 1 in every second cycle, threshold 6 within 8:
//   cycle     0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19
//   requests  0  1  0  1  0  1  4  5  0  1  0  1  0  1  0  1  0  1  0  1
//   count     0  1  1  2  2  3  7 12 12 12 12 12 12 12  9  5 ...               trips in 6 (the 7th), restores in 15
import { expect, it } from 'vitest';
import type { LoadedScenario } from '../../../src/harness/scenario/load-scenario.js';
import { burst, decided, run, scenario, steady, type Told, told } from './asking.js';
import { type SmallNode, startSmallNode, type Wrong } from './wrong-node.js';

const CYCLE_MS = 50;

interface Setting {
  readonly cycleMs?: number;
  readonly timeoutMs?: number;
  readonly asked?: LoadedScenario;
  /** Called once a cycle with the number of cycles since the start. */
  readonly onCycle?: (elapsed: number, node: SmallNode) => void;
}

/** The burst, sent to a node that is wrong in one way. */
async function burstAt(
  wrong: Wrong,
  { cycleMs = CYCLE_MS, timeoutMs = 5_000, onCycle, asked = burst }: Setting = {},
): Promise<Told> {
  const result = await steady(async () => {
    const node = await startSmallNode(cycleMs, wrong);
    return run(asked, { url: node.url, timeoutMs, onCycle: ({ elapsed }) => onCycle?.(elapsed, node) });
  });
  return told(result);
}

it('a node that is right agrees', async () => {
  const { comparison } = await burstAt({});
  expect(comparison).toMatchObject({ verdict: 'agrees', differences: [] });
});

it.each<[name: string, wrong: Wrong, firstCycle: number, figure: string]>([
  ['forgets one cycle too early', { windowBy: -1 }, 13, 'count'],
  ['forgets one cycle too late', { windowBy: 1 }, 9, 'count'],
  ['trips at the threshold', { tripsAtThreshold: true }, 6, 'admitted'],
  ['does not count limited requests', { limitedDoNotCount: true }, 7, 'count'],
  ['never restores', { neverRestores: true }, 15, 'admitted'],
  ['does not tell its events', { keepsEvents: true }, 6, 'event'],
])('a node that %s is caught in the cycle where it shows', async (_, wrong, firstCycle, figure) => {
  const { comparison, first } = await burstAt(wrong);
  const [difference] = comparison.differences;
  const seen = { verdict: comparison.verdict, cycle: (difference?.cycle ?? 0) - first, figure: difference?.figure };
  expect(seen).toEqual({ verdict: 'node differs', cycle: firstCycle, figure });
});

it.each<[string, Wrong, string[], number]>([
  ['charges what a request costs agrees', {}, [], 0],
  ['charges each request 1 is caught at the first', { ignoresCost: true }, ['count'], 1],
])('a node that %s', async (_, wrong, figures, at) => {
  const asked = scenario(
    'seed: 7\nduration: 8\nlimiter: { threshold: 30, within: 4 }\narrivals: [{ model: constant, rate: 1 per 2 cycles }]\ncosts: { each: 12 }',
  );
  const { comparison, first } = await burstAt(wrong, { asked });
  const [difference] = comparison.differences;
  expect([difference?.figure ?? [], (difference?.cycle ?? first) - first].flat()).toEqual([...figures, at]);
});

it.each<[string, Wrong, string]>([
  ['charges the whole of a cost or nothing agrees', {}, 'agrees'],
  ['charges the part of a refused cost that fits is caught', { chargesWhatFits: true }, 'node differs'],
  ['charges each request 1 by a rule is caught', { ignoresCost: true }, 'node differs'],
])('a node with a token bucket that %s', async (_, wrong, verdict) => {
  const asked = scenario(
    'seed: 7\nduration: 30\nlimiter: { primitive: token_bucket, params: { rate: 100, per_ms: 1000, capacity: 30 } }\narrivals: [{ model: poisson, rate: 2 }]\ncosts: { each: { law: uniform, from: 1, to: 25 } }',
  );
  const node = await startSmallNode(CYCLE_MS, wrong);
  const { comparison } = told(await decided(() => run(asked, { url: node.url })));
  expect(comparison.verdict, comparison.reason).toBe(verdict);
  if (verdict !== 'agrees') expect(comparison.differences[0]).toMatchObject({ figure: 'decision' });
});

it('a node that answers 500 at times is caught in the cycle of the first', async () => {
  const { comparison, live, first } = await burstAt({ answers500Every: 5 });
  // The fifth request is the second of the burst.
  const difference = { cycle: first + 6, figure: 'answer', predicted: 'a decision' };
  expect(comparison.verdict).toBe('node differs');
  expect(comparison.differences[0]).toMatchObject(difference);
  expect(comparison.reason).toMatch(
    /: answer is none: Status 500: ".*", and the model says a decision\. There are 2 more/,
  );
  expect(live).toMatchObject({ planned: 18, sent: 18, answered: 15, failed: 3, timed_out: 0 });
});

it('a node that drops connections is not accused: the network may have done so', async () => {
  const { comparison, live } = await burstAt({ dropsEvery: 5 });
  expect(comparison).toMatchObject({ verdict: 'run invalid', differences: [] });
  expect(live.sent).toBe(live.answered + live.failed + live.timed_out);
});

it.each<[string, Wrong]>([
  ['never restores, and drops connections', { neverRestores: true, dropsEvery: 5 }],
  ['trips at the threshold, and drops connections', { tripsAtThreshold: true, dropsEvery: 5 }],
  ['does not count limited requests, and loses answers', { limitedDoNotCount: true, hangsEvery: 9 }],
])('a node that %s is caught, whether what was lost was counted or not', async (_, wrong) => {
  const { comparison } = await burstAt(wrong, { timeoutMs: 400 });
  expect(comparison.verdict, comparison.reason).toBe('node differs');
});

it.each([1, -1])('a node that stamps a cycle off by %i is caught in the cycle of the first', async (stampsBy) => {
  const { comparison, first } = await burstAt({ stampsBy, stampsEvery: 5 }, { cycleMs: 100 });
  const difference = { cycle: first + 6, figure: 'cycle', predicted: first + 6, observed: first + 6 + stampsBy };
  expect(comparison.verdict).toBe('node differs');
  expect(comparison.differences[0]).toMatchObject(difference);
});

it('a node that loses answers is not accused: the run is invalid', async () => {
  const { comparison, live } = await burstAt({ hangsEvery: 5 }, { timeoutMs: 400 });
  expect(comparison).toMatchObject({ verdict: 'run invalid', differences: [] });
  expect(live).toMatchObject({ sent: 18, answered: 15, failed: 0, timed_out: 3 });
});

it('a node whose clock is set is not accused: the run is invalid', async () => {
  const onCycle = (elapsed: number, node: SmallNode) => {
    if (elapsed === 5) node.jump(10 * CYCLE_MS);
  };
  const { comparison } = await burstAt({}, { onCycle });
  expect(comparison).toMatchObject({ verdict: 'run invalid', reason: expect.stringContaining('clock') });
});

it('a node that answers slowly delays no request', async () => {
  const { comparison, live } = await burstAt({ slowMs: 120 });
  expect(comparison.verdict).toBe('agrees');
  expect(live.latency_ms?.p50).toBeGreaterThanOrEqual(120);
  expect(live.send_lag_ms?.p50).toBeLessThan(120);
});
