import { expect, it } from 'vitest';
import { stationary } from '../../../src/math/chain.js';
import { meanInterval, shareInterval } from '../../../src/math/interval.js';
import { parseScenario, type ScenarioObject } from '../../../src/scenario/load-scenario.js';
import { runReplication } from '../../../src/simulate/replication.js';
import { chainOf, ratesOf, solveRecovery } from '../../../src/simulate/sweep/recovery-chain.js';

const base: ScenarioObject = {
  question: 'Q?',
  cycle_ms: 250,
  duration: '40s',
  drain: 0,
  limiter: 'none',
  arrivals: [
    { model: 'poisson', rate: '6/s' },
    { model: 'poisson', rate: '20/s', from: '5s', to: '8s' },
  ],
  service: { servers: 1, queue: 4, time: { law: 'exponential', mean: '100ms' } },
};

const returning = (base: string, max_attempts: number | 'unlimited' = 'unlimited') =>
  ({ kind: 'retrying', max_attempts, backoff: { policy: 'fixed', base, jitter: 'exponential' } }) as const;

const RUNS = 200;

it.each<[string, Partial<ScenarioObject>]>([
  ['a queue without limit', { service: { servers: 2, time: { law: 'exponential', mean: '200ms' } } }],
  ['clients that return without end, some not back by the end', { clients: [returning('1s')] }],
  ['clients that try twice, and a drain', { duration: '9s', drain: '6s', clients: [returning('3s', 2)] }],
])('solves what 200 runs measure: %s', async (_, more) => {
  const scenario = { ...base, ...more };
  const loaded = parseScenario(scenario, 'test.yaml');
  const solved = solveRecovery(scenario, loaded);
  if (typeof solved === 'string') throw new Error(solved);
  const ms: number[] = [];
  for (let seed = 0; seed < RUNS; seed += 1) {
    const { figures } = await runReplication(loaded, seed, {});
    if (figures['clients.drain_ms'] !== undefined) ms.push(figures['clients.drain_ms']);
  }
  const [drain, stuck] = [meanInterval(ms), shareInterval(RUNS - ms.length, RUNS)];
  expect(drain.low).toBeLessThan(solved.meanMs!);
  expect(drain.high).toBeGreaterThan(solved.meanMs!);
  expect(stuck.low - 1e-9).toBeLessThan(solved.unrecovered);
  expect(stuck.high).toBeGreaterThan(solved.unrecovered);
});

// G. Falin and J. Templeton, "Retrial Queues" (1997), section 1.1.
it.each([
  [0.5, 1],
  [0.7, 0.5],
  [0.7, 5],
])('has the mean orbit of the retrial queue M/M/1, rho %d, theta %d', (rho, theta) => {
  const scenario = {
    ...base,
    cycle_ms: 1000,
    arrivals: [{ model: 'poisson' as const, rate: rho }],
    service: { servers: 1, queue: 0, time: { law: 'exponential' as const, mean: '1s' } },
    clients: [returning(`${1000 / theta}ms`)],
  };
  const chain = chainOf(scenario, parseScenario(scenario, 'test.yaml'));
  if (typeof chain === 'string') throw new Error(chain);
  const box = { most: 1, orbits: 150 };
  const states = 2 * (box.orbits + 1);
  const rates = ratesOf(chain, rho, box);
  const share = stationary(states, (state, to) => rates(state, (next, rate) => next < states && to(next, rate)));
  const orbit = share.reduce((sum, one, state) => sum + one * Math.floor(state / 2), 0);
  expect(orbit).toBeCloseTo((rho * (rho + rho * theta)) / ((1 - rho) * theta), 8);
});

it.each<[string, Partial<ScenarioObject>]>([
  ['the limiter is not none', { limiter: { threshold: 1000 } }],
  ['faults is set', { faults: [{ kind: 'pause', from: 1, to: 2 }] }],
  ['service.time is not exponential', { service: { time: '100ms' } }],
  ['service.fails is set', { service: { ...base.service!, fails: 0.1 } }],
  ['arrivals.0 are not poisson', { arrivals: [{ model: 'constant', rate: 1 }] }],
  ['arrivals.0 are not poisson', { arrivals: [() => 1] }],
  ['arrivals.0.placement is set', { arrivals: [{ model: 'poisson', rate: 1, placement: 'start' }] }],
  ['there are several kinds of clients', { clients: [{ kind: 'open' }, { kind: 'open' }] }],
  ['clients.0 are neither open nor retrying', { clients: [{ kind: 'obedient' }] }],
  ['clients.0 are neither open nor retrying', { clients: [{ like: 'undici' }] }],
  ['clients.0.timeout is set', { clients: [{ ...returning('1s'), timeout: '1s' }] }],
  ['clients.0.max_attempts is 3, neither 1 nor 2 nor unlimited', { clients: [returning('1s', 3)] }],
  [
    'the pauses of clients.0 are not exponential with a constant mean',
    { clients: [{ kind: 'retrying', max_attempts: 2, backoff: { policy: 'full_jitter' } }] },
  ],
  ['it has no trigger that ends within the run', { arrivals: [{ model: 'poisson', rate: 1 }] }],
  ['it has more than 8000 cycles', { duration: 8001 }],
])('says why it is not solved: %s', (why, more) => {
  const scenario = { ...base, ...more };
  expect(solveRecovery(scenario, parseScenario(scenario, 'test.yaml'))).toBe(why);
});
