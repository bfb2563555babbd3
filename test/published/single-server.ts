// One server, memoryless arrivals and service times (M/M/1).
//
//   rho = arrival rate, service rate 1        L = rho / (1 - rho)    W = 1 / (1 - rho)    Wq = rho W
//   P(response > t) = e^-(1 - rho) t          p95 = -ln(0.05) / (1 - rho),  p99 = -ln(0.01) / (1 - rho)

import { log } from '../../src/core/math/elementary.js';
import { RandomStream } from '../../src/core/math/random.js';
import { exponential } from '../../src/core/math/time-law.js';
import { CYCLE_MS } from '../../src/core/time/cycle.js';
import { VirtualClock } from '../../src/core/time/virtual.js';
import { Service } from '../../src/harness/simulate/service.js';
import { servicePlan } from '../harness/simulate/service-plan.js';
import { poissonArrivals, UNIT_MS } from './arrivals.js';
import type { PublishedCheck } from './published-check.js';

/** Time units. From an empty system, a run needs some hundred units to become stationary. */
const WARM_UP = 2_000;
/** Measured time units by rho: a busier server needs more. */
const MEASURED = { 0.8: 15_000, 0.5: 4_000 } as const;
const FIRST = 1_000;
const PAIRS = 3;

const P95 = 14.979;
const P99 = 23.026;

export const singleServer: PublishedCheck = {
  title: 'M/M/1: one server, first come first served',
  source: 'closed form; D. Gross and others, Fundamentals of Queueing Theory, chapter 2',
  rows: [
    { name: 'rho 0.8: mean number in the system L', expected: 4, unit: 'customers' },
    { name: 'rho 0.8: mean wait Wq', expected: 4, unit: 'service times' },
    { name: 'rho 0.8: mean response W', expected: 5, unit: 'service times' },
    { name: 'rho 0.8: response p95', expected: P95, unit: 'service times' },
    { name: 'rho 0.8: response p99', expected: P99, unit: 'service times' },
    { name: 'rho 0.5: mean response W', expected: 2, unit: 'service times' },
    {
      name: `rho 0.8: the first ${FIRST} customers from an empty system, W less that of the same in a running one`,
      expected: 0,
      holds: 'below',
      unit: 'service times',
    },
  ],
  replicate(seed, replication) {
    const purpose = `published/single-server/${replication}`;
    const high = run(0.8, seed, `${purpose}/0.8`);
    const low = run(0.5, seed, `${purpose}/0.5`);
    let gain = 0;
    for (let pair = 0; pair < PAIRS; pair += 1) gain += gainFromEmpty(0.8, seed, `${purpose}/first/${pair}`) / PAIRS;
    return [high.inSystem, high.wait, high.response, high.p95, high.p99, low.response, gain];
  },
};

function run(rho: keyof typeof MEASURED, seed: number, purpose: string) {
  const clock = new VirtualClock(0, CYCLE_MS);
  const [fromMs, toMs] = [WARM_UP * UNIT_MS, (WARM_UP + MEASURED[rho]) * UNIT_MS];
  let [beyond95, beyond99] = [0, 0];
  const service = new Service<number>({
    clock,
    plan: servicePlan({ time: exponential(UNIT_MS) }),
    draw: new RandomStream(seed, `${purpose}/service`),
    fromMs,
    onEnd: (arrivedMs) => {
      const response = (clock.now() - arrivedMs) / UNIT_MS;
      if (arrivedMs >= fromMs && response > P95) beyond95 += 1;
      if (arrivedMs >= fromMs && response > P99) beyond99 += 1;
    },
  });
  const arrivals = new RandomStream(seed, `${purpose}/arrivals`);
  poissonArrivals(clock, arrivals, rho, WARM_UP + MEASURED[rho], () => service.offer(clock.now()));
  clock.run({ untilMs: toMs });
  const [waitingMs, busyMs] = [service.waiting, service.busy].map((level) => level.areaMs(toMs)) as [number, number];
  // Serves the customers still in the system: omitting slow ones would bias the figures.
  clock.run();
  const { served, wait_ms, response_ms } = service.figures();
  return {
    inSystem: (waitingMs + busyMs) / (toMs - fromMs),
    wait: (wait_ms?.mean ?? 0) / UNIT_MS,
    response: (response_ms?.mean ?? 0) / UNIT_MS,
    p95: quantileFrom(0.05, P95, beyond95 / served, rho),
    p99: quantileFrom(0.01, P99, beyond99 / served, rho),
  };
}

/**
 * The mean response time of the first customers in an empty system, minus that in a stationary one; below 0. Both runs have the same
 * customers, so the difference has a far smaller variance than between independent runs.
 */
function gainFromEmpty(rho: number, seed: number, purpose: string): number {
  // The number of customers in a stationary system: P(n) = (1 - rho) rho^n. Remaining times are memoryless.
  const there = Math.floor(log(1 - new RandomStream(seed, `${purpose}/there`).uniform()) / log(rho));
  return responseOfFirst(rho, 0, seed, purpose) - responseOfFirst(rho, there, seed, purpose);
}

function responseOfFirst(rho: number, there: number, seed: number, purpose: string): number {
  const clock = new VirtualClock(0, CYCLE_MS);
  const [before, theirs] = [new RandomStream(seed, `${purpose}/before`), new RandomStream(seed, `${purpose}/service`)];
  const law = exponential(UNIT_MS);
  let [begun, ended, sumMs] = [0, 0, 0];
  const service = new Service<number>({
    clock,
    plan: servicePlan({ time: { drawMs: () => law.drawMs(begun++ < there ? before : theirs) } }),
    draw: theirs,
    onEnd: (arrivedMs) => {
      ended += 1;
      if (ended > there) sumMs += clock.now() - arrivedMs;
      if (ended === there + FIRST) clock.stop();
    },
  });
  for (let n = 0; n < there; n += 1) service.offer(0);
  const arrivals = new RandomStream(seed, `${purpose}/arrivals`);
  poissonArrivals(clock, arrivals, rho, Number.POSITIVE_INFINITY, () => service.offer(clock.now()));
  clock.run();
  return sumMs / FIRST / UNIT_MS;
}

/**
 * The time exceeded by a share `p` of responses, from the share `seen` that exceeds `t`, by the slope of the law at t
 * (R. R. Bahadur, 1966). Slow responses cluster, so the quantile of a single run is biased upwards; a share is not.
 */
function quantileFrom(p: number, t: number, seen: number, rho: number): number {
  return t + (seen - p) / ((1 - rho) * p);
}
