// The failure share at which the retry quota of AWS SDKs begins to drain.
//
//   tokens per job   1 - p  for a first attempt that succeeds      less  c p^k  for each retry k = 2 .. N that fails
//   drift 0          1 - p = c (p^2 + ... + p^N)                     c 14, N 3: p = 0.2149;   c 5, N 3: 0.3207;   N 4: 0.2117, 0.3123
import { RandomStream } from '../../src/core/math/random.js';
import { retryQuota } from '../../src/harness/clients/retry-limits.js';
import type { PublishedCheck } from './published-check.js';

const roots = [
  { cost: 14, attempts: 3, p: 0.2149 },
  { cost: 5, attempts: 3, p: 0.3207 },
  { cost: 14, attempts: 4, p: 0.2117 },
  { cost: 5, attempts: 4, p: 0.3123 },
] as const;

const JOBS = 20_000;
const CAPACITY = 1_000_000;

export const quotaDrain: PublishedCheck = {
  title: 'Retry quota of AWS SDKs: the share of failures at which it begins to drain',
  source: 'AWS, retry behaviour of SDKs since 2026-11-10: "about 22 %" and "about 32 %"; from the drift of the bucket',
  tolerance: 'p is rounded to four digits, of which half a unit moves the drift by 0.0013 tokens',
  mechanism: 'the refund of what a retry cost',
  rows: roots.map(({ cost, attempts, p }) => ({
    name: `cost ${cost}, ${attempts} attempts, p ${p}: drift per job`,
    expected: 0,
    error: 0.002,
    unit: 'tokens',
  })),
  replicate: (seed, replication, without) =>
    roots.map(({ cost, attempts, p }) => {
      const draw = new RandomStream(seed, `published/quota-drain/${replication}/${cost}/${attempts}`);
      const every = { limited: cost, failed: cost, lost: cost, timeout: cost };
      const quota = retryQuota({
        capacity: CAPACITY,
        cost: every,
        charge: 'retry',
        threshold: undefined,
        refund: { start: 0, first: 1, retried: without ? 0 : 'cost' },
      });
      const half = Math.floor(CAPACITY / 2 / cost);
      for (let n = 0; n < half; n += 1) quota.takeRetry(0, 'failed');
      const before = quota.tokens;
      for (let job = 0; job < JOBS; job += 1)
        for (let attempt = 1; attempt <= attempts; attempt += 1) {
          const type = draw.uniform() < p ? 'failed' : 'served';
          quota.ended({ type, after: attempt === 1 ? undefined : 'failed', nowMs: 0, heldMs: 0 });
          if (type === 'served' || attempt === attempts || !quota.takeRetry(0, 'failed')) break;
        }
      return (quota.tokens - before) / JOBS;
    }),
};
