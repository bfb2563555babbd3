// Requests that cost more than one: charged when they come, or corrected once they have been served; how far each design overshoots.
import { expect, it } from 'vitest';
import { few } from '../../draws.js';
import { refusalOf } from '../scenario/reading.js';
import { checkOutcome, run } from './running.js';

/** Lets 100 pass, and nearly nothing more in the hours of a test. */
const POOL = 'limiter: { primitive: token_bucket, params: { rate: 0.000001, per_ms: 1000, capacity: 100 } }';
const IN_FLIGHT = 8;

async function costsOf(text: string) {
  const { outcome } = await run(`question: q?\ncycle_ms: 100\n${text}`);
  return { ...outcome.costs!, limited: outcome.limited };
}

it.each([
  ['a rule', POOL],
  ['a window', 'limiter: { threshold: 100, within: 10m }'],
])('a cost known when its request comes is charged whole by %s, never beyond the limit', async (_, limiter) => {
  const text = `${limiter}\nduration: 1m\ndrain: 0\narrivals: [{ model: poisson, rate: 2/s }]\ncosts: { unit: tokens, each: { law: uniform, from: 1, to: 40 } }`;
  const { unit, admitted, requested, most_in_minute } = await costsOf(text);
  expect(unit).toBe('tokens');
  expect(admitted).toBeGreaterThan(60);
  expect(admitted).toBeLessThanOrEqual(100);
  expect(requested).toBeGreaterThan(1000);
  expect(most_in_minute).toBe(admitted);
});

it('a request that costs 4 counts in a window as four requests, refused ones too', async () => {
  const { outcome } = await run(
    'question: q?\ncycle_ms: 1000\nlimiter: { threshold: 10, within: 5 }\nduration: 4\narrivals: [{ model: counts, counts: [1, 1, 1, 1] }]\ncosts: { each: 4 }',
  );
  expect(outcome).toMatchObject({ requests: 4, admitted: 2, limited: 2, peak_count: 16 });
  expect(outcome.by_contract[0]!.transitions.map(({ cycle, to, count }) => [cycle, to, count])).toEqual([
    [2, 'limiting', 11],
    [6, 'allowing', 8],
  ]);
});

it('a run with costs of 1 decides as one without costs', async () => {
  const text =
    'question: q?\nlimiter: gcra 2/s burst=5\nduration: 2m\narrivals: [{ model: poisson, rate: 3/s }]\nclients: [{ kind: retrying }]\n';
  const [without, of1] = await Promise.all([run(text), run(`${text}costs: { each: 1 }\n`)]);
  const { costs, digest: _, ...figures } = of1.outcome;
  expect(figures).toEqual({ ...without.outcome, digest: undefined, ...figures });
  expect(costs).toMatchObject({ requested: figures.requests, admitted: figures.admitted });
});

it('the cost of a request decides how long its client is told to wait', async () => {
  const text = `question: q?\ncycle_ms: 100
limiter: { primitive: token_bucket, params: { rate: 10, per_ms: 1000, capacity: 100 } }
duration: 1s\ndrain: 30s\narrivals: [{ model: spikes, requests: 3, at: 0 }]
costs: { each: 80 }\nclients: [{ kind: obedient, max_attempts: 3 }]\nservice: { time: 1ms, servers: 10 }`;
  const { outcome } = await run(text);
  // 80 of 100; the second waits for 60 tokens, the third is told the same and finds them gone.
  expect(outcome.clients![0]).toMatchObject({ jobs: 3, succeeded: 3, attempts: 6 });
  expect(outcome.clients![0]!.job_latency_ms!.max).toBeCloseTo(14_000, -2);
});

/** A client that spends the pool to the point at which `IN_FLIGHT` of the largest requests still pass, and sends them at once. */
const adversary = (limiter: string, most: number, charged: number) => {
  const left = IN_FLIGHT * Math.min(charged, most);
  const before = (100 - left) / most;
  return `${limiter}
duration: 1m
drain: 0
arrivals: [{ model: counts, counts: [${before}, ${Array.from({ length: 50 }, () => 0).join(', ')}, ${IN_FLIGHT}] }]
costs: { each: ${most}, charged: ${charged} }
service: { servers: 100, time: 1s }`;
};

it.each([
  ['afterwards', 20, 0],
  ['an estimate that is too low', 20, 5],
  ['a reservation of half', 10, 5],
  ['a reservation of all', 10, 10],
])('a cost known at the end overshoots by all that is in flight and not yet charged: %s', async (_, most, charged) => {
  for (const limiter of [POOL, 'limiter: { primitive: fixed_window, params: { limit: 100, window_ms: 3600000 } }']) {
    const { admitted, limited } = await costsOf(adversary(limiter, most, charged));
    expect([admitted - 100, limited]).toEqual([IN_FLIGHT * (most - charged), 0]);
  }
});

it.each([0, 5, 12, 20, 30, 60])(
  'a cost of which %i is charged at first overshoots by no more than is in flight and not charged',
  async (charged) => {
    for (const limiter of [
      POOL,
      'limiter: { threshold: 100, within: 3m }',
      'limiter: { primitive: sliding_log, params: { limit: 100, window_ms: 3600000 } }',
    ])
      for (const seed of few([1, 2], 1)) {
        const text = `seed: ${seed}\n${limiter}
duration: 1m
drain: 0
clients: [{ kind: closed, count: ${IN_FLIGHT}, think: { law: exponential, mean: 1s } }]
costs: { each: { law: lognormal, mean: 12, deviation: 10 }, most: 30, charged: ${charged} }
service: { servers: ${IN_FLIGHT}, time: { law: exponential, mean: 2s } }`;
        const { admitted, limited } = await costsOf(text);
        // The window of Weir counts what it refuses, too: it shuts sooner.
        expect(limited).toBeGreaterThan(0);
        expect(admitted).toBeLessThanOrEqual(100 + IN_FLIGHT * Math.max(0, 30 - charged));
        if (limiter === POOL && charged <= 30) expect(admitted).toBeGreaterThan(60);
      }
  },
);

it('a reservation is given back, so that as much passes in the long run as the limit allows', async () => {
  const { admitted } = await costsOf(`limiter: gcra 100/s burst=600
duration: 10m
arrivals: [{ model: poisson, rate: 30/s }]
costs: { each: { law: uniform, from: 1, to: 19 }, charged: 60 }
service: { servers: 1000, time: 500ms }`);
  // What is in flight holds back 60 each: 10/s of 10 for half a second.
  expect(admitted / 600).toBeGreaterThan(97);
  expect(admitted / 600).toBeLessThan(102);
});

it('a request that was not served costs nothing', async () => {
  const { admitted, limited } = await costsOf(`${POOL}
duration: 1m
drain: 0
arrivals: [{ model: constant, rate: 10/s }]
costs: { each: 10, charged: 10 }
service: { servers: 1, time: 1h, queue: 0 }`);
  expect([admitted, limited]).toEqual([6000, 0]);
});

it('a correction changes the window of Weir in the cycle of the charge', async () => {
  const { outcome } = await run(`question: q?\ncycle_ms: 1000\nlimiter: { threshold: 100, within: 20 }
duration: 30\narrivals: [{ model: counts, counts: [1, 0, 0, 0, 0, 0, 0, 0, 0, 1] }]
costs: { each: 10, charged: 90 }\nservice: { servers: 9, time: 5s }`);
  // 90, of which 80 came back after 5 s; then 100 with the second.
  expect(outcome).toMatchObject({ admitted: 2, limited: 0, peak_count: 100 });
});

it('a limit of requests and one of tokens stand side by side', async () => {
  const text = (each: number) => `question: q?
limiter: 60 requests in 60s and 9000 tokens in 60s
duration: 60s
arrivals: [{ model: constant, rate: 2/s }]
costs: { unit: tokens, each: ${each} }`;
  const [small, large] = await Promise.all([run(text(100)), run(text(500))]);
  expect(small.outcome.admitted).toBe(60);
  expect(large.outcome.admitted).toBe(18);
  checkOutcome(large.outcome);
});

it.each([
  ['costs: { each: 5, charged: 5 }', 'needs a service: without one'],
  ['costs: { each: 5, charged: 5 }\nservice: { time: 1s }\nlimiter: nginx 10r/s', 'nginx_limit_req is none'],
  ['costs: { each: 5 }\nservice: { time: 1s }\nlimiter: concurrency limit=3', 'have counts: requests'],
  ['costs: { each: { law: uniform, from: 5, to: 2 } }', '/costs/each'],
  ['costs: { each: 0 }', '/costs/each'],
])('%s is refused', (text, why) => {
  const scenario = `question: q?\nduration: 10\narrivals: [{ model: constant, rate: 1 }]\n${text}`;
  expect(refusalOf(scenario).join('; ')).toContain(why);
});
