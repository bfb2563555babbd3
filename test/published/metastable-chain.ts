// A server with retries as a Markov chain, in which a full queue lasts far longer than any measurement.
//
//   queue 0 .. 99, orbit 0 .. 19         lambda 9.5/s ─► mu 10/s         an arrival with a wait above 3 s is also in orbit:
//   orbit ── 4/15 each ─► queue          and ── 1/15 each ─► given up    a quarter of those above the bound of Chebyshev
//
// The chain is solved, and also simulated: the mean queue of runs that begin with a full one must agree.

import { log } from '../../src/core/math/elementary.js';
import { RandomStream } from '../../src/core/math/random.js';
import { meanTimes, type Rates, stationary } from './chain.js';
import type { PublishedCheck } from './published-check.js';

const [QUEUE, ORBIT] = [100, 20];
const [LAMBDA, MU, TIMEOUT_S, RETRIES, ALPHA] = [9.5, 10, 3, 4, 0.25];
const RUN_S = 400;

const stateOf = (queue: number, orbit: number) => queue * ORBIT + orbit;

/** Chebyshev's bound on the probability that an arrival behind `queue` others exceeds its timeout. */
function isLate(queue: number): number {
  const [mean, sd] = [queue / MU, Math.sqrt(queue) / MU];
  return TIMEOUT_S - mean > sd ? (sd / (TIMEOUT_S - mean)) ** 2 : 1;
}

function ratesOf(retries: number): Rates {
  const each = 1 / ((retries + 1) * TIMEOUT_S);
  return (state, to) => {
    const [queue, orbit] = [Math.floor(state / ORBIT), state % ORBIT];
    const back = orbit * retries * each;
    const gone = orbit * each;
    const late = queue === 0 ? 0 : isLate(queue);
    const isFull = queue === QUEUE - 1;
    if (queue > 0) to(stateOf(queue - 1, orbit), MU);
    if (orbit > 0) to(stateOf(queue, orbit - 1), isFull ? gone + back : gone);
    if (isFull) return;
    to(stateOf(queue + 1, orbit), LAMBDA + back * late);
    if (retries > 0 && orbit < ORBIT - 1 && late > 0) to(stateOf(queue + 1, orbit + 1), ALPHA * LAMBDA * late);
    if (back > 0 && late < 1) to(stateOf(queue + 1, orbit - 1), back * (1 - late));
  };
}

const STATES = QUEUE * ORBIT;
const withRetries = ratesOf(RETRIES);
let known: readonly number[] | undefined;

function solved(rates: Rates): readonly number[] {
  const share = stationary(STATES, rates);
  let [queue, orbit, full] = [0, 0, 0];
  share.forEach((one, state) => {
    queue += one * Math.floor(state / ORBIT);
    orbit += one * (state % ORBIT);
    if (state >= stateOf(QUEUE - 1, 0)) full += one;
  });
  // The first states are those of the empty queue.
  const drainS = meanTimes(STATES, rates, ORBIT)[stateOf(QUEUE - 1, 0)]!;
  return [queue, orbit, full, log(drainS) / log(10)];
}

export const metastableChain: PublishedCheck = {
  title: `Chain of a server with retries: ${STATES} states, lambda ${LAMBDA}, mu ${MU}`,
  source: 'metafor (arXiv 2510.03551), the first example of its program',
  tolerance:
    'the program prints no figures: these are five digits of its chain, solved with numpy, the time with 60 digits since there its doubles keep none of them',
  mechanism: 'retries',
  rows: [
    { name: 'mean queue', expected: 96.863, error: 1.5e-4, unit: 'requests' },
    { name: 'mean orbit', expected: 10.582, error: 1.5e-4, unit: 'requests' },
    { name: 'probability of a full queue', expected: 0.31867, error: 1.5e-6, unit: '' },
    { name: 'log10 of the time from full to empty', expected: 13.883, error: 1.5e-4, unit: 's' },
    { name: `mean queue in runs of ${RUN_S} s from a full one`, expected: 96.863, error: 1.5e-4, unit: 'requests' },
  ],
  replicate(seed, replication, without) {
    const rates = without ? ratesOf(0) : withRetries;
    const figures = (without ? undefined : known) ?? solved(rates);
    if (!without) known = figures;
    return [...figures, meanQueueOfRun(rates, new RandomStream(seed, `published/metastable-chain/${replication}`))];
  },
};

function meanQueueOfRun(rates: Rates, draw: RandomStream): number {
  let [state, nowS, area] = [stateOf(QUEUE - 1, 0), 0, 0];
  while (nowS < RUN_S) {
    const ways: [next: number, rate: number][] = [];
    let sum = 0;
    rates(state, (next, rate) => {
      sum += rate;
      ways.push([next, rate]);
    });
    const untilS = Math.min(RUN_S, nowS + draw.exponential(sum));
    area += Math.max(0, untilS - Math.max(nowS, RUN_S / 2)) * Math.floor(state / ORBIT);
    nowS = untilS;
    let at = draw.uniform() * sum;
    for (const [next, rate] of ways) {
      at -= rate;
      state = next;
      if (at < 0) break;
    }
  }
  return area / (RUN_S / 2);
}
