// Cost and gain of retries if every attempt fails with probability p.
//
//   100 clients, 10/s each, 10 s         none; three more tries; a bucket of 5 tokens, 0.1 more per start, a retry costs 1
//
//   three more tries    success 1 - p^4    load 1 + p + p^2 + p^3
import { constant } from '../../src/core/math/time-law.js';
import { Rank } from '../../src/core/time/rank.js';
import type { ClientSpec } from '../../src/harness/clients/client-schema.js';
import { clientRig } from './client-rig.js';
import type { PublishedCheck } from './published-check.js';

/** Success and load, each with its standard error over 20 runs of 10,000 requests. */
const published = [
  [0.1, 'none', 0.90139, 0.00061, 1, 0],
  [0.1, 'three more', 0.99991, 0.00002, 1.1103, 0.0008],
  [0.1, 'bucket', 0.9922, 0.0003, 1.1017, 0.0006],
  [0.2, 'three more', 0.99844, 0.0001, 1.2468, 0.0013],
  [0.5, 'three more', 0.9362, 0.0006, 1.88, 0.0026],
  [0.5, 'bucket', 0.57, 0.0011, 1.1416, 0.0002],
] as const;

const CLIENTS = 100;
const JOBS = 10_000;
const MS = 10_000;

export const retriesUnderFailures: PublishedCheck = {
  title: 'Retries under failures: success and load with and without a bucket of retries',
  source: 'M. Brooker, "Fixing retries with token buckets and circuit breakers" (2022), its simulator',
  tolerance: 'standard errors of 20 runs of its simulator, printed with the figures',
  mechanism: 'the bucket, and the retries',
  rows: published.flatMap(([p, way, success, error, load, loadError]) => [
    { name: `p ${p}, ${way}: success`, expected: success, error, unit: '' },
    { name: `p ${p}, ${way}: load`, expected: load, error: loadError, unit: '' },
  ]),
  replicate: (seed, replication, without) =>
    published.flatMap(([p, way]) => {
      const purpose = `published/retries-under-failures/${replication}/${p}/${way}`;
      const { clock, population } = clientRig({
        spec: specOf(without ? 'none' : way),
        seed,
        purpose,
        service: { servers: JOBS, queue: 0, time: constant(1), fails: p },
      });
      for (let n = 0; n < JOBS; n += 1) clock.agenda.at((MS * n) / JOBS, Rank.arrival, () => population.arrive(0));
      clock.run();
      const { jobs, succeeded, attempts } = population.figures()[0]!;
      return [succeeded / jobs, attempts / jobs];
    }),
};

function specOf(way: (typeof published)[number][1]): ClientSpec {
  const retry = { kind: 'retrying', max_attempts: way === 'none' ? 1 : 4, instances: CLIENTS } as const;
  if (way !== 'bucket') return retry;
  return { ...retry, retry_quota: { capacity: 5, threshold: 1, refund: { start: 0.1 } } };
}
