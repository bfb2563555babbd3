// The time until a limiter has admitted all of a simultaneous crowd. Each refused client returns at a uniform time in [m, 2m).
//
//   clients   |||||||  over 20 s          a bucket of 50/s ──► admitted; refused: again after m (1 + u), m = 1 s, 2 s, 4 s, ..., 5 min
import { LIMITED } from '../../src/core/limiter/rule/rule.js';
import { ruleOf } from '../../src/core/limiter/rule/rule-definition.js';
import { RandomStream } from '../../src/core/math/random.js';
import { constant } from '../../src/core/math/time-law.js';
import { Rank } from '../../src/core/time/rank.js';
import { clientRig } from './client-rig.js';
import type { PublishedCheck } from './published-check.js';

const CLIENTS = 1000;
const OVER_MS = 20_000;

export const windowedReturns: PublishedCheck = {
  title: `${CLIENTS} clients at a limit of 50/s: when the last one has passed`,
  source: 'Consul agents against golang.org/x/time/rate',
  tolerance: 'one run of the source each; its error is half of the range over the seeds of a second implementation',
  mechanism: 'windows that double',
  rows: [
    { name: 'burst 1: the last one has passed', expected: 88, error: 15, unit: 's' },
    { name: 'burst 1: most attempts in a second', expected: 149, error: 5, unit: '/s' },
    { name: 'burst 5: the last one has passed', expected: 32, error: 3, unit: 's' },
    { name: 'burst 5: most attempts in a second', expected: 80, error: 5, unit: '/s' },
  ],
  replicate: (seed, replication, without = false) =>
    [1, 5].flatMap((burst) => returns(burst, seed, `windowed-returns/${replication}`, without)),
};

function returns(
  burst: number,
  seed: number,
  purpose: string,
  without: boolean,
): readonly [lastS: number, most: number] {
  const rule = ruleOf({ primitive: 'token_bucket', params: { rate: 50, per_ms: 1000, capacity: burst } });
  const state = rule.fresh(0);
  const perSecond: number[] = [];
  let lastMs = 0;
  const { clock, population } = clientRig({
    spec: without
      ? { kind: 'retrying', max_attempts: 1000, backoff: { policy: 'fixed', base: '1s' } }
      : { like: 'consul-windowed' },
    seed,
    purpose: `published/${purpose}/${burst}`,
    decide(_, nowMs) {
      const second = Math.floor(nowMs / 1000);
      perSecond[second] = (perSecond[second] ?? 0) + 1;
      if (rule.admit(state, nowMs, 1, 0) === LIMITED) return { type: 'limited', retryAfterMs: undefined };
      lastMs = nowMs;
      return undefined;
    },
    service: { servers: CLIENTS, queue: 0, time: constant(20) },
  });
  const draw = new RandomStream(seed, `published/${purpose}/${burst}/arrivals`);
  for (let n = 0; n < CLIENTS; n += 1) {
    clock.agenda.at(OVER_MS * draw.uniform(), Rank.arrival, () => population.arrive(0));
  }
  clock.run();
  return [lastMs / 1000, perSecond.reduce((most, n = 0) => Math.max(most, n), 0)];
}
