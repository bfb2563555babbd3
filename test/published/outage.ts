// A service of 300/s whose clients retry once. Above half of its capacity it stays down after an outage; below, it recovers.
//
//   load < 150/s   stable: with one retry each, the load after the outage is below capacity
//   150 .. 300     vulnerable: it never recovers on its own

import { constant } from '../../src/core/math/time-law.js';
import { UNIT_MS } from './arrivals.js';
import { clientRig } from './client-rig.js';
import type { PublishedCheck } from './published-check.js';

const CAPACITY = 300;

const loads = [
  { load: 120, goodput: 1 },
  { load: 165, goodput: 0 },
] as const;

export const outage: PublishedCheck = {
  title: 'Outage of 10 s: below half of the capacity a service with retries recovers, above it stays down',
  source: 'N. Bronson and others, "Metastable failures in distributed systems" (HotOS 2021), figure 2',
  tolerance:
    'the figure shows all or nothing: 3 % of the load are allowed for jobs under way at the ends of the half minute',
  mechanism: 'the retry',
  rows: loads.map(({ load, goodput }) => ({
    name: `${load}/s of ${CAPACITY}/s: goodput two minutes later`,
    expected: goodput,
    error: 0.01,
    unit: 'of the load',
  })),
  replicate: (seed, replication, without) =>
    loads.map(({ load }) => {
      const purpose = `published/outage/${replication}/${load}`;
      const [fromS, toS] = [20, 30];
      const isOut = (nowMs: number) => nowMs >= fromS * UNIT_MS && nowMs < toS * UNIT_MS;
      const { poisson, goodput } = clientRig({
        spec: { kind: 'retrying', max_attempts: without ? 1 : 2, timeout: '1s' },
        seed,
        purpose,
        service: { time: constant(UNIT_MS / CAPACITY) },
        // A request that begins with the outage lasts as long as it.
        speed: (nowMs) => (isOut(nowMs) ? 1 / (CAPACITY * (toS - fromS)) : 1),
      });
      poisson(load, 180);
      return goodput(150, 180);
    }),
};
