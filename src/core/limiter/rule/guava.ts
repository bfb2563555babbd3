// Guava's RateLimiter: each request pays the price of the one before it.
//
//   t > next:  stored = min(M, stored + (t - next) / cool), next = t
//   ok = next <= t  (queue: held next - t), then s = min(n, stored) of the stored permits, next += cost(s) + (n - s) T
//
//   guava_bursty   stored permits are free:  cost(s) = 0, cool = T
//   guava_warmup   stored permits cost time, the more the colder:
//
//     cost of one  c T |            /       H = w / 2T,  M = H + 2 w / (T + c T),  slope = (c T - T) / (M - H),  cool = w / M
//                      |          /         from level a down to b: the area under the line
//                    T |________/           starts cold: stored = M
//                      0      H     M   stored
//
// Any cost is admitted if next <= t, and blocks the requests after it. Costs are truncated to whole microseconds.
// Source: Guava 31.1, SmoothRateLimiter.java.
import type { Static } from 'typebox';
import { exact, real } from '../../schema/fields.js';
import { amount, flag, length, wait } from './fields.js';
import { firstTime, GRAIN_MS, LAST_MS, LIMITED, NEVER, type Rule } from './rule.js';

const queue = flag('A request waits as long as it takes (acquire) instead of being refused (tryAcquire).');
const maxWaitMs = wait('A request waits up to so long, in ms (tryAcquire with a timeout). Default: 0.');
const interval = length('Time between two permits at the rate, in ms.');

export const GuavaBurstyParams = exact({
  interval_ms: interval,
  max_stored: amount('The most permits that are stored: seconds of burst times rate.'),
  'initial?': amount('Permits stored at first. Default: 0.'),
  'queue?': queue,
  'max_wait_ms?': maxWaitMs,
});

export const GuavaWarmupParams = exact({
  interval_ms: interval,
  warmup_ms: length('How long it takes to warm up, in ms.'),
  'cold_factor?': real(1.001, 1_000, 'How many times as long a permit takes when cold. Default: 3.'),
  'queue?': queue,
  'max_wait_ms?': maxWaitMs,
});

const MOST_ROOM = 10_000;

interface State {
  stored: number;
  nextMs: number;
}

interface Kind {
  readonly T: number;
  readonly maxStored: number;
  readonly initial: number;
  /** Ms without a request that store one more permit. */
  readonly coolMs: number;
  readonly longestMs: number;
  readonly cost: (stored: number, n: number) => number;
}

export function guavaBursty(params: Static<typeof GuavaBurstyParams>): Rule<State> {
  const { interval_ms: T, max_stored: maxStored, initial = 0, queue: queues = false, max_wait_ms = 0 } = params;
  return guava({ T, maxStored, initial, coolMs: T, longestMs: queues ? NEVER : max_wait_ms, cost: () => 0 });
}

export function guavaWarmup(params: Static<typeof GuavaWarmupParams>): Rule<State> {
  const { interval_ms: T, warmup_ms: w, cold_factor: cold = 3, queue: queues = false, max_wait_ms = 0 } = params;
  const threshold = w / (2 * T);
  const maxStored = threshold + (2 * w) / (T + cold * T);
  const slope = (cold * T - T) / (maxStored - threshold);
  const cost = (stored: number, n: number) => {
    const above = Math.max(0, stored - threshold);
    const hot = Math.min(above, n);
    return hot * (T + ((2 * above - hot) * slope) / 2) + (n - hot) * T;
  };
  return guava({
    T,
    maxStored,
    initial: maxStored,
    coolMs: w / maxStored,
    longestMs: queues ? NEVER : max_wait_ms,
    cost,
  });
}

function guava({ T, maxStored, initial, coolMs, longestMs, cost }: Kind): Rule<State> {
  const microseconds = (ms: number) => Math.trunc(ms * 1000 + 1e-6) / 1000;
  /** Guava counts whole microseconds: doubles near 2^41 ms have coarser steps, whose sum would drift. */
  const microsecond = (ms: number) => Math.round(ms * 1000) / 1000;
  const waitOf = ({ nextMs }: State, t: number) => (nextMs - t <= GRAIN_MS ? 0 : nextMs - t);
  const roomAt = (state: State, t: number) => {
    if (longestMs === NEVER) return Number.POSITIVE_INFINITY;
    let stored = Math.min(maxStored, state.stored + Math.max(0, t - state.nextMs) / coolMs);
    let ahead = waitOf(state, t);
    let room = 0;
    while (ahead <= longestMs && room < MOST_ROOM) {
      const free = cost(stored, 1) === 0 ? Math.floor(stored) : 0;
      const fromStore = Math.min(1, stored - free);
      ahead += microseconds(cost(stored - free, fromStore)) + microseconds((1 - fromStore) * T);
      stored -= free + fromStore;
      room += free + 1;
    }
    return room;
  };
  return {
    fresh: (madeMs) => ({ stored: initial, nextMs: madeMs }),
    admit(state, t, n) {
      const waits = waitOf(state, t);
      if (waits > longestMs) return LIMITED;
      if (t > state.nextMs) {
        state.stored = Math.min(maxStored, state.stored + (t - state.nextMs) / coolMs);
        state.nextMs = t;
      }
      const fromStore = Math.min(n, state.stored);
      const price = microseconds(cost(state.stored, fromStore)) + microseconds((n - fromStore) * T);
      state.stored -= fromStore;
      state.nextMs = microsecond(Math.min(state.nextMs + price, LAST_MS));
      return waits;
    },
    nextAdmission: (state, t) => (longestMs === NEVER ? t : t + Math.max(0, waitOf(state, t) - longestMs)),
    nextChange(state, t) {
      if (longestMs === NEVER) return NEVER;
      const room = roomAt(state, t);
      const full = Math.max(t, state.nextMs) + maxStored * coolMs;
      return firstTime(t, full + GRAIN_MS, GRAIN_MS, (at) => roomAt(state, at) !== room);
    },
    remaining: roomAt,
    // A new bursty limiter has nothing stored, one that idled has.
    forgettable: (state, t) => state.nextMs <= t && initial === maxStored && state.stored >= maxStored,
  };
}
