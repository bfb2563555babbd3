// A limit on requests in flight. A cost n is n places.
//
//   in flight  K |  ______  ____       concurrency         ok = in flight < K
//                | |      ||           concurrency_queue   else wait in line for at most max_wait; one line for all keys
//                |_|      v            adaptive            K adapts to measured times: adaptive.ts
//                0            t
//
// Source: nginx 1.22.1 limit_conn, HAProxy 2.6.12 maxconn and timeout queue.
import type { Static } from 'typebox';
import { exact } from '../../schema/fields.js';
import { places, wait } from './fields.js';
import { LAST_MS, LIMITED, NEVER, type Rule } from './rule.js';

const most = places('How many may be in flight.');

export const ConcurrencyParams = exact({ limit: most });

export const ConcurrencyQueueParams = exact({
  limit: most,
  'max_wait_ms?': wait('How long a request may wait, in ms. Default: for ever.'),
});

interface InFlight {
  ends: number[];
}

export function endsAfter(ends: readonly number[], t: number): number {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle]! > t) high = middle;
    else low = middle + 1;
  }
  return low;
}

function hold(ends: number[], end: number, n: number): void {
  const until = Math.min(end, LAST_MS);
  if (n === 1 && (ends.length === 0 || ends[ends.length - 1]! <= until)) ends.push(until);
  else ends.splice(endsAfter(ends, until), 0, ...new Array<number>(n).fill(until));
}

/** A request that ends with `release` has no known end. */
function known(endMs: number): number {
  return endMs === LAST_MS ? NEVER : endMs;
}

export function concurrency({ limit }: Static<typeof ConcurrencyParams>): Rule<InFlight> {
  const inFlight = ({ ends }: InFlight, t: number) => ends.length - endsAfter(ends, t);
  return {
    fresh: () => ({ ends: [] }),
    admit(state, t, n, holdMs) {
      if (state.ends.length > 0 && state.ends[0]! <= t) state.ends.splice(0, endsAfter(state.ends, t));
      if (state.ends.length + n > limit) return LIMITED;
      hold(state.ends, t + holdMs, n);
      return 0;
    },
    release({ ends }) {
      if (ends[ends.length - 1] === LAST_MS) ends.pop();
    },
    nextAdmission(state, t, n) {
      if (n > limit) return NEVER;
      const tooMany = state.ends.length + n - limit;
      return tooMany <= 0 ? t : known(Math.max(t, state.ends[tooMany - 1]!));
    },
    nextChange: ({ ends }, t) => known(ends[endsAfter(ends, t)] ?? NEVER),
    remaining: (state, t) => Math.max(0, limit - inFlight(state, t)),
    forgettable: (state, t) => inFlight(state, t) === 0,
  };
}

/** A request takes the first free server. Its start is known on arrival, as is every time in flight. */
export function concurrencyQueue({
  limit,
  max_wait_ms = NEVER,
}: Static<typeof ConcurrencyQueueParams>): Rule<InFlight> {
  const startOf = ({ ends }: InFlight, t: number, n: number) => {
    const busy = ends.length + n - limit;
    return busy <= 0 ? t : Math.max(t, ends[busy - 1]!);
  };
  const roomAt = (state: InFlight, t: number) =>
    max_wait_ms === NEVER
      ? Number.POSITIVE_INFINITY
      : Math.max(0, limit - (state.ends.length - endsAfter(state.ends, t + max_wait_ms)));
  return {
    shared: true,
    fresh: () => ({ ends: [] }),
    admit(state, t, n, holdMs) {
      if (n > limit) return LIMITED;
      const start = startOf(state, t, n);
      if (start - t > max_wait_ms) return LIMITED;
      state.ends.splice(0, Math.max(0, state.ends.length + n - limit));
      hold(state.ends, start + holdMs, n);
      return start - t;
    },
    nextAdmission(state, t, n) {
      if (n > limit) return NEVER;
      return Math.max(t, max_wait_ms === NEVER ? t : startOf(state, t, n) - max_wait_ms);
    },
    nextChange(state, t) {
      if (max_wait_ms === NEVER) return NEVER;
      const end = state.ends[endsAfter(state.ends, t + max_wait_ms)];
      return end === undefined ? NEVER : end - max_wait_ms;
    },
    remaining: roomAt,
    forgettable: ({ ends }, t) => endsAfter(ends, t) === ends.length,
  };
}
