// How a client retries, field by field, against a server that answers by a script.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ClientSpec } from '../../../src/harness/clients/client-schema.js';
import { type RetryBudgetPlan, retryBudget, retryQuota } from '../../../src/harness/clients/retry-limits.js';
import { forAll } from '../../draws.js';
import { against, failed, type Given, limited, type Script, served, words } from './scripted.js';

type Retrying = Omit<Extract<ClientSpec, { kind: 'retrying' }>, 'kind'>;

const seconds: Retrying['backoff'] = { policy: 'geometric', base: '1s' };

/** Refused with Retry-After 30 s. */
const told: Script = () => limited(30_000);

// biome-ignore format: one case a line
it.each<[rule: string, spec: Retrying, script: Script, sent: string, given?: Given]>([
  ['geometric begins at base', { backoff: seconds, max_attempts: 4 }, () => failed, '0 j1#1 1000 j1#2 3000 j1#3 7000 j1#4'],
  ['exponential begins at twice base', { backoff: { policy: 'exponential', base: '1s' } }, () => failed, '0 j1#1 2000 j1#2 6000 j1#3'],
  ['a factor', { backoff: { ...seconds, factor: 3 } }, () => failed, '0 j1#1 1000 j1#2 4000 j1#3'],
  ['a first pause of its own', { backoff: { ...seconds, first: 0 }, max_attempts: 4 }, () => failed, '0 j1#1 0 j1#2 2000 j1#3 6000 j1#4'],
  ['pauses by setback', { backoff: seconds, backoff_after: { limited: { policy: 'fixed', base: '9s' } } },
    ({ number }) => (number === 1 ? limited() : failed), '0 j1#1 9000 j1#2 11000 j1#3'],
  ['only some setbacks are retried',
    { retries_on: ['limited'], backoff: seconds }, ({ number }) => (number === 1 ? limited() : failed), '0 j1#1 1000 j1#2'],
  ['Retry-After is ignored by default', { backoff: seconds }, told, '0 j1#1 1000 j1#2 3000 j1#3'],
  ['Retry-After obeyed', { backoff: seconds, retry_after: 'obey' }, told, '0 j1#1 30000 j1#2 60000 j1#3'],
  ['Retry-After obeyed where it is shorter, too', { backoff: seconds, retry_after: 'obey' }, () => limited(10), '0 j1#1 10 j1#2 20 j1#3'],
  ['as a floor', { backoff: { policy: 'fixed', base: '40s', cap: '40s' }, retry_after: 'floor' }, told, '0 j1#1 40000 j1#2 80000 j1#3'],
  ['clamped to 5 s more than the pause', { backoff: seconds, retry_after: 'clamp' }, told, '0 j1#1 6000 j1#2 13000 j1#3'],
  ['up to a cap', { backoff: seconds, retry_after: { policy: 'obey', limit: '20s' } }, told, '0 j1#1 20000 j1#2 40000 j1#3'],
  ['ignored above a limit',
    { backoff: seconds, retry_after: { policy: 'obey', limit: '20s', above: 'ignore' } }, told, '0 j1#1 1000 j1#2 3000 j1#3'],
  ['a stop above a limit', { backoff: seconds, retry_after: { policy: 'obey', limit: '20s', above: 'stop' } }, told, '0 j1#1'],
  ['a stop where none is told', { backoff: seconds, retry_after: { policy: 'obey', missing: 'stop' } }, () => limited(), '0 j1#1'],
  ['the back-off where none is told', { backoff: seconds, retry_after: 'obey' }, () => limited(), '0 j1#1 1000 j1#2 3000 j1#3'],
  ['no pause beyond the deadline',
    { backoff: seconds, max_attempts: 9, deadline: '8s' }, () => failed, '0 j1#1 1000 j1#2 3000 j1#3 7000 j1#4'],
  ['an attempt ends at the deadline', { backoff: seconds, deadline: '2s' }, () => undefined, '0 j1#1'],
  ['hedges, all abandoned once one is served',
    { hedge: { after: '1s', most: 3 }, max_attempts: 9 }, () => served, '0 j1#1 1000 j1#2 2000 j1#3', { latencyMs: 2500 }],
  ['hedges are attempts, too',
    { hedge: { after: '1s', most: 9 }, max_attempts: 2 }, () => undefined, '0 j1#1 1000 j1#2', { untilMs: 10_000 }],
  ['a setback counts once no other attempt is in flight',
    { hedge: { after: '1s' }, backoff: seconds, max_attempts: 3 }, () => failed, '0 j1#1 1000 j1#2 6000 j1#3', { latencyMs: 3000 }],
])('attempts come at the instants that the fields of a client say: %s', (_rule, spec, script, sent, given) => {
  expect(words(against(script, { kind: 'retrying', ...spec }, given).sent)).toBe(sent);
});

it.each<[jitter: object, low: number, high: number, lowTold: number, highTold: number]>([
  [{ shorten_by: 1 }, 0, 1000, 30_000, 30_000],
  [{ shorten_by: 0.25 }, 750, 1000, 30_000, 30_000],
  [{ lengthen_by: 0.2 }, 1000, 1200, 30_000, 36_000],
  [{ add: '100ms' }, 1000, 1100, 30_000, 30_100],
])('a pause of 1 s, and one of at least 30 s, have the jitter %j', (jitter, low, high, lowTold, highTold) => {
  const spec: ClientSpec = {
    kind: 'retrying',
    max_attempts: 2,
    backoff: { ...seconds!, ...jitter },
    retry_after: 'floor',
  };
  const jobsMs = Array.from({ length: 2000 }, () => 0);
  for (const [script, from, to] of [
    [() => failed, low, high],
    [told, lowTold, highTold],
  ] as const) {
    const pauses = against(script, spec, { jobsMs }).sent.flatMap(({ ms, number }) => (number === 2 ? [ms] : []));
    const mean = pauses.reduce((sum, ms) => sum + ms, 0) / pauses.length;
    // A uniform law has the deviation (to - from) / sqrt(12).
    const error = (to - from) / Math.sqrt(12 * pauses.length);
    expect([
      Math.min(...pauses) >= from,
      Math.max(...pauses) <= to,
      Math.abs(mean - (from + to) / 2) <= 3.3 * error,
    ]).toEqual([true, true, true]);
  }
});

const aws: ClientSpec = {
  kind: 'retrying',
  retry_quota: {
    capacity: 500,
    cost: { limited: 5, failed: 14, lost: 14, timeout: 14 },
    refund: { first: 1, retried: 'cost' },
  },
};

it('a retry quota of 500 tokens at 14 a retry lets 35 retries through: 50 failing jobs make 85 attempts', () => {
  const { sent } = against(() => failed, aws, { jobsMs: Array.from({ length: 50 }, (_, n) => n * 1000) });
  expect(sent.length).toBe(85);
});

it('a retry quota is shared by the jobs of an instance, and each instance has its own', () => {
  const jobsMs = Array.from({ length: 4000 }, (_, n) => n * 10);
  const of = (instances: number) => against(() => failed, { ...aws, instances }, { jobsMs }).counts.retries;
  expect([of(1), of(20)]).toEqual([35, 20 * 35]);
});

it('a retry quota gets back the cost after a retry that is served, and 1 after a first attempt', () => {
  const quota = retryQuota({
    capacity: 20,
    cost: { limited: 5, failed: 14, lost: 14, timeout: 14 },
    charge: 'retry',
    threshold: undefined,
    refund: { start: 0, first: 1, retried: 'cost' },
  });
  const end = { nowMs: 0, heldMs: 0 };
  const steps: [step: () => unknown, tokens: number][] = [
    [() => quota.takeRetry(0, 'failed'), 6],
    [() => quota.ended({ ...end, type: 'served', after: undefined }), 7],
    [() => quota.takeRetry(0, 'failed'), 7],
    [() => quota.takeRetry(0, 'limited'), 2],
    [() => quota.ended({ ...end, type: 'failed', after: 'failed' }), 2],
    [() => quota.ended({ ...end, type: 'served', after: 'failed' }), 16],
    [() => quota.ended({ ...end, type: 'served', after: 'limited' }), 20],
  ];
  for (const [step, tokens] of steps) {
    step();
    expect(quota.tokens).toBe(tokens);
  }
});

it('the retry quota of gRPC loses 1 at every failure, and stops retries at half', () => {
  const grpc: ClientSpec = {
    kind: 'retrying',
    max_attempts: 4,
    retry_quota: { capacity: 10, charge: 'setback', threshold: 5, refund: { first: 0.1, retried: 0.1 } },
  };
  // 10 tokens: the fifth failure leaves 5. The first job takes four attempts, the second gets none after its first.
  const jobsMs = [0, 1000, 2000];
  expect(words(against(() => failed, grpc, { jobsMs }).sent)).toBe('0 j1#1 0 j1#2 0 j1#3 0 j1#4 1000 j2#1 2000 j3#1');
});

it('retries at a time are at most a fifth of what is in flight, and at least 3', () => {
  const spec: ClientSpec = { kind: 'retrying', max_attempts: 2, backoff: seconds, retry_concurrency: {} };
  const retries = (jobs: number) =>
    against(() => failed, spec, { jobsMs: Array.from({ length: jobs }, () => 0) }).counts.retries;
  // Each of the jobs has failed before the next one comes: nothing but retries is in flight.
  expect([retries(2), retries(3), retries(40)]).toEqual([2, 3, 3]);
  const together = against(() => failed, spec, { jobsMs: Array.from({ length: 40 }, () => 0), latencyMs: 10 }).counts
    .retries;
  // The attempt that failed is no longer in flight: 39 others, of which a fifth is 7.8.
  expect(together).toBe(7);
});

/** Requests (`.`) and retries asked for (`r`) at given instants; `R` where the budget gave one. */
function play(plan: RetryBudgetPlan, events: readonly (readonly [ms: number, what: string])[]): string {
  const budget = retryBudget(plan, 0);
  return events
    .map(([ms, what]) =>
      [...what]
        .map((one) => {
          if (one === 'r') return budget.takeRetry(ms, 'failed') ? 'R' : 'r';
          budget.requested(ms);
          return one;
        })
        .join(''),
    )
    .join(' ');
}

// biome-ignore format: one case a line
it.each<[rule: string, plan: RetryBudgetPlan, given: [number, string][], taken: string]>([
  ['of nothing gives nothing', { share: 0, floor: 0, overMs: 1000 }, [[0, '..rr']], '..rr'],
  ['of one in two gives one retry to two requests', { share: 0.5, floor: 0, overMs: 1000 }, [[0, '.r.rr...rr']], '.r.Rr...Rr'],
  ['with a floor gives that without any request', { share: 0, floor: 2, overMs: 1000 }, [[0, 'rrr']], 'RRr'],
  ['of more than one allows more retries than requests', { share: 2, floor: 0, overMs: 1000 }, [[0, '.rrr']], '.RRr'],
  ['forgets requests and retries as they leave its window',
    { share: 0.5, floor: 0, overMs: 1000 }, [[0, '..rr'], [950, '..r'], [1050, 'rr'], [2200, 'r']], '..Rr ..R rr r'],
])('a budget %s', (_rule, plan, given, taken) => {
  expect(play(plan, given)).toBe(taken);
});

it('a budget never gives more than its share of the requests in its window, and its floor', () => {
  const plan = fc.record({
    share: fc.constantFrom(0, 0.1, 0.25, 1, 2),
    floor: fc.integer({ min: 0, max: 3 }),
    overMs: fc.constantFrom(10, 100, 1000),
  });
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 300 }), fc.constantFrom('.', 'r')), { maxLength: 200 });
  forAll([plan, steps], (given, moves) => {
    const budget = retryBudget(given, 0);
    const sliceMs = Math.ceil(given.overMs / 10);
    const seen: { slice: number; isRetry: boolean }[] = [];
    let ms = 0;
    for (const [gapMs, what] of moves) {
      ms += gapMs;
      const slice = Math.floor(ms / sliceMs);
      const recent = seen.filter((one) => slice - one.slice < 10);
      const retries = recent.filter(({ isRetry }) => isRetry).length;
      const allowed = retries + 1 <= given.share * (recent.length - retries) + given.floor;
      if (what === '.') {
        budget.requested(ms);
        seen.push({ slice, isRetry: false });
      } else {
        expect(budget.takeRetry(ms, 'failed')).toBe(allowed);
        if (allowed) seen.push({ slice, isRetry: true });
      }
    }
  });
});
