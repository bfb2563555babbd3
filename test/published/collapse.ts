// A service that slows down with requests in flight, a timeout and three tries, and a spike of five seconds.
//
//   arrivals/s   40 ___|‾80‾|______ 40        1 s + 10 ms for each in flight, network exp(0.1 s) each way; timeout 3 s, 3 tries
//   seconds      0    20   25      80         retries at once, or after 20 s x 2^n x U(0, 1)
//
//   stuck: in the last nine seconds, fewer than half of the arrivals are served

import { constant, exponential } from '../../src/core/math/time-law.js';
import { UNIT_MS } from './arrivals.js';
import { clientRig } from './client-rig.js';
import type { PublishedCheck } from './published-check.js';

const [BASE, SPIKE, FROM, TO, END] = [40, 80, 20, 25, 80];

const ways = [
  { name: 'again at once', backoff: { policy: 'none' }, stuck: 14 },
  { name: 'back-off with jitter', backoff: { policy: 'geometric', base: '20s', cap: '1h', shorten_by: 1 }, stuck: 0 },
] as const;

/** Standard error of the source's share, from its number of runs: A. Agresti and B. Coull (1998). */
const RUNS = 20;
const errorOf = (stuck: number) => {
  const p = (stuck + 2) / (RUNS + 4);
  return Math.sqrt((p * (1 - p)) / (RUNS + 4));
};

export const collapse: PublishedCheck = {
  title: `Collapse by a spike of ${TO - FROM} s where work grows with what is in flight: share of runs that stay stuck`,
  source: 'M. Brooker, simple_collapse_sim in github.com/mbrooker/simulator_example, run 20 times',
  tolerance: 'standard error of a share of 20 runs',
  mechanism: 'work that grows with what is in flight',
  rows: ways.map(({ name, stuck }) => ({
    name: `${name}: stuck`,
    expected: stuck / RUNS,
    error: errorOf(stuck),
    unit: 'of runs',
  })),
  replicate: (seed, replication, without) =>
    ways.map(({ name, backoff }) => {
      const purpose = `published/collapse/${replication}/${name}`;
      const { clock, population, poisson, goodput } = clientRig({
        spec: { kind: 'retrying', timeout: '3s', max_attempts: 3, backoff },
        seed,
        purpose,
        service: {
          servers: 1_000_000,
          queue: 0,
          time: constant(1_010),
          perInFlightMs: without ? 0 : 10,
        },
        network: exponential(100),
      });
      const during = (ms: number) => ms >= FROM * UNIT_MS && ms < TO * UNIT_MS;
      poisson(SPIKE, END, (draw) => {
        if (during(clock.now()) || draw.uniform() < BASE / SPIKE) population.arrive(0);
      });
      return goodput(END - 10, END - 1) < 0.5 ? 1 : 0;
    }),
};
