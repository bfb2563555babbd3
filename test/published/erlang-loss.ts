// Servers without a queue refuse arrivals while all are busy. The refused share is independent of the service time's law.
//
//   B(0) = 1,  B(n) = a B(n - 1) / (n + a B(n - 1))          a erlang offered to n servers (A. K. Erlang, 1917)

import { RandomStream } from '../../src/core/math/random.js';
import { constant, exponential, type TimeLaw } from '../../src/core/math/time-law.js';
import { CYCLE_MS } from '../../src/core/time/cycle.js';
import { VirtualClock } from '../../src/core/time/virtual.js';
import { Service } from '../../src/harness/simulate/service.js';
import { servicePlan } from '../harness/simulate/service-plan.js';
import { poissonArrivals, UNIT_MS } from './arrivals.js';
import type { PublishedCheck } from './published-check.js';

const SERVERS = 10;
const WARM_UP = 20;
const MEASURED = 600;

const laws = { exponential: exponential(UNIT_MS), constant: constant(UNIT_MS) };

const systems = [
  { offered: 10, expected: 0.214582, law: 'exponential' },
  { offered: 10, expected: 0.214582, law: 'constant' },
  { offered: 5, expected: 0.018385, law: 'exponential' },
  { offered: 5, expected: 0.018385, law: 'constant' },
] as const;

export const erlangLoss: PublishedCheck = {
  title: `Erlang loss: ${SERVERS} servers, no queue`,
  source: 'Erlang B formula',
  rows: systems.map(({ offered, expected, law }) => ({
    name: `${offered} erlang offered, ${law} service: share refused`,
    expected,
    unit: 'of arrivals',
  })),
  replicate: (seed, replication) =>
    systems.map(({ offered, law }) =>
      refusedShare(offered, laws[law], seed, `published/erlang-loss/${replication}/${offered}/${law}`),
    ),
};

function refusedShare(offered: number, time: TimeLaw, seed: number, purpose: string): number {
  const clock = new VirtualClock(0, CYCLE_MS);
  const service = new Service({
    clock,
    plan: servicePlan({ servers: SERVERS, time, queue: 0 }),
    draw: new RandomStream(seed, `${purpose}/service`),
    fromMs: WARM_UP * UNIT_MS,
    onEnd: () => {},
  });
  const arrivals = new RandomStream(seed, `${purpose}/arrivals`);
  poissonArrivals(clock, arrivals, offered, WARM_UP + MEASURED, () => service.offer(undefined));
  clock.run();
  // Divided by the expected number of arrivals: a ratio of two random numbers has a biased mean.
  return service.counts.refused / (offered * MEASURED);
}
