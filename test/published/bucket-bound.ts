// Network calculus. Behind a token bucket (r, b) the delay in a server (R, T) is at most T + b / R.
//
//   a flood ─► bucket r, b ─► server R        delay <= b / R + 1 / R, backlog <= b + 1, admitted in any t <= b + r t
import { LIMITED } from '../../src/core/limiter/rule/rule.js';
import { ruleOf } from '../../src/core/limiter/rule/rule-definition.js';
import { constant } from '../../src/core/math/time-law.js';
import { Rank } from '../../src/core/time/rank.js';
import { UNIT_MS } from './arrivals.js';
import { clientRig } from './client-rig.js';
import type { PublishedCheck } from './published-check.js';

const [R_BUCKET, BURST, R_SERVER] = [50, 20, 100];
const SECONDS = 30;

export const bucketBound: PublishedCheck = {
  title: `Token bucket of ${R_BUCKET}/s and ${BURST} before a server of ${R_SERVER}/s: delay, backlog and output of a flood`,
  source: 'J.-Y. Le Boudec and P. Thiran, "Network Calculus" (2001), theorems 1.4.1 and 1.4.2: tight for a flood',
  mechanism: 'the token bucket',
  rows: [
    { name: 'longest delay', expected: (UNIT_MS * BURST) / R_SERVER, error: 1e-6, unit: 'ms' },
    { name: `admitted in ${SECONDS} s`, expected: BURST + R_BUCKET * SECONDS, unit: 'requests' },
  ],
  replicate(seed, replication, without) {
    const rule = ruleOf({ primitive: 'token_bucket', params: { rate: R_BUCKET, per_ms: UNIT_MS, capacity: BURST } });
    const state = rule.fresh(0);
    let [longest, admitted] = [0, 0];
    const { clock, population } = clientRig({
      spec: { kind: 'open' },
      seed,
      purpose: `published/bucket-bound/${replication}`,
      decide(_, nowMs) {
        if (!without && rule.admit(state, nowMs, 1, 0) === LIMITED) return { type: 'limited', retryAfterMs: undefined };
        admitted += 1;
        return undefined;
      },
      service: { time: constant(UNIT_MS / R_SERVER) },
      watch: {
        queued: () => undefined,
        responded: (ms) => {
          longest = Math.max(longest, ms);
        },
      },
    });
    // The worst case: a flood at 0, then a request whenever a token is there.
    for (let n = 0; n < 2 * BURST; n += 1) clock.agenda.at(0, Rank.arrival, () => population.arrive(0));
    for (let ms = 1; ms <= SECONDS * UNIT_MS; ms += 1) clock.agenda.at(ms, Rank.arrival, () => population.arrive(0));
    clock.run();
    return [longest, admitted];
  },
};
