// Answers of 429 in 15 minutes: two instances that adapt their rate beside two that only retry, at a quota that halves for a minute.
//
//   rate |      /|    /|   each 429 multiplies the rate by 0.7; each 10 s in which requests wait add 60 a minute
//        |    /  |  /  |
//        |  /    |/    | / a request waits in a queue until the bucket of its instance has a token
import { LIMITED } from '../../src/core/limiter/rule/rule.js';
import { ruleOf } from '../../src/core/limiter/rule/rule-definition.js';
import { RandomStream } from '../../src/core/math/random.js';
import { constant } from '../../src/core/math/time-law.js';
import { CYCLE_MS } from '../../src/core/time/cycle.js';
import { Rank } from '../../src/core/time/rank.js';
import { VirtualClock } from '../../src/core/time/virtual.js';
import { poissonArrivals } from './arrivals.js';
import { clientRig } from './client-rig.js';
import type { PublishedCheck } from './published-check.js';

const [QUOTA, MINUTE_MS, TO_S] = [3_000, 60_000, 900];
/** Requests of an instance per second: 2,000 a minute, as the simulator of the source begins with. */
const [INSTANCES, DEMAND] = [2, 2_000 / 60];
const [FACTOR, STEP, STEP_MS, LEAST, ANSWER_MS] = [0.7, 60, 10_000, 60, 100];

export const adaptiveClient: PublishedCheck = {
  title: 'Adaptive client of .NET beside retries alone: answers of 429 in 15 minutes at a quota of 3,000 a minute',
  source: 'nikiforovall.blog/adaptive-rate-limiting-dotnet: 56 against 64,931, a run of its model; AIMD of its guide',
  tolerance:
    'one run; its attempts, pauses, latency and kind of quota are not published: within a tenth for retries alone, of the same order for the adaptive client, of which this model counts 20',
  mechanism: 'the rate that a 429 cuts',
  rows: [
    { name: 'adaptive', expected: 56, error: 12, unit: 'answers' },
    { name: 'retries alone', expected: 64_931, error: 64_931 / 33, unit: 'answers' },
  ],
  replicate(seed, replication, without = false) {
    const purpose = `published/adaptive-client/${replication}`;
    const alone = retriesAlone(seed, purpose);
    return [without ? alone : adaptive(seed, purpose), alone];
  },
};

/** @returns whether the quota admits a request at `nowMs`; half of it is taken by others in the eighth minute */
function server(): { admits(nowMs: number): boolean; waitMs(nowMs: number): number } {
  const rule = ruleOf({ primitive: 'sliding_log', params: { limit: QUOTA, window_ms: MINUTE_MS } });
  const state = rule.fresh(0);
  let takenTo = 0;
  return {
    admits(nowMs) {
      if (nowMs >= 7 * MINUTE_MS && nowMs < 8 * MINUTE_MS && takenTo === 0) {
        takenTo = 1;
        for (let n = 0; n < QUOTA / 2; n += 1) rule.admit(state, nowMs, 1, 0);
      }
      return rule.admit(state, nowMs, 1, 0) !== LIMITED;
    },
    waitMs: (nowMs) => rule.nextAdmission(state, nowMs, 1) - nowMs,
  };
}

function adaptive(seed: number, purpose: string): number {
  const clock = new VirtualClock(0, CYCLE_MS);
  const { admits, waitMs } = server();
  let refused = 0;
  for (let instance = 0; instance < INSTANCES; instance += 1) {
    let [rate, changedMs, hasWaited, waiting, nextMs] = [600, 0, false, 0, 0];
    let isArmed = false;
    const send = () => {
      isArmed = false;
      if (waiting === 0) return;
      const sentMs = clock.now();
      nextMs = sentMs + MINUTE_MS / rate;
      waiting -= 1;
      const isAdmitted = admits(sentMs);
      if (!isAdmitted) refused += 1;
      clock.agenda.at(sentMs + ANSWER_MS, Rank.client, () => (isAdmitted ? served() : limited(sentMs)));
      arm();
    };
    const served = () => {
      const nowMs = clock.now();
      if (hasWaited && nowMs - changedMs >= STEP_MS) [rate, changedMs, hasWaited] = [rate + STEP, nowMs, false];
    };
    const limited = (sentMs: number) => {
      const nowMs = clock.now();
      waiting += 1;
      // Answers to requests that were under way at the cut change nothing more.
      if (sentMs >= changedMs) [rate, changedMs] = [Math.max(LEAST, rate * FACTOR), nowMs];
      nextMs = Math.max(nextMs, nowMs + waitMs(nowMs));
      arm();
    };
    const arm = () => {
      if (isArmed || waiting === 0) return;
      isArmed = true;
      hasWaited ||= nextMs > clock.now();
      clock.agenda.at(Math.max(clock.now(), nextMs), Rank.client, send);
    };
    poissonArrivals(clock, new RandomStream(seed, `${purpose}/${instance}`), DEMAND, TO_S, () => {
      waiting += 1;
      arm();
    });
  }
  clock.run({ untilMs: TO_S * 1_000 });
  return refused;
}

function retriesAlone(seed: number, purpose: string): number {
  const { admits } = server();
  let refused = 0;
  const { clock, poisson } = clientRig({
    spec: { kind: 'retrying', max_attempts: 3, backoff: { policy: 'fixed', base: '2s' } },
    seed,
    purpose,
    decide(_, nowMs) {
      if (admits(nowMs)) return undefined;
      refused += 1;
      return { type: 'limited', retryAfterMs: undefined };
    },
    service: { servers: 1_000, time: constant(1) },
  });
  poisson(INSTANCES * DEMAND, TO_S);
  clock.run({ untilMs: TO_S * 1_000 });
  return refused;
}
