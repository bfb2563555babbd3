// A limit on requests in flight. A cost n is n places.
//
//   in flight  K |  ______  ____       concurrency         ok = in flight < K
//                | |      ||           concurrency_queue   else wait in line for at most max_wait; one line for all keys
//                |_|      v            adaptive            K adapts to measured times: adaptive.ts
//                0            t
//
// Source: nginx 1.22.1 limit_conn, HAProxy 2.6.12 maxconn and timeout queue.
import type { Static } from 'typebox';
import { firstIndex } from '../../math/first-index.js';
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
  return firstIndex(ends.length, (at) => ends[at]! > t);
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
  return {
    ...waiting(limit, 0),
    release({ ends }) {
      if (ends[ends.length - 1] === LAST_MS) ends.pop();
    },
  };
}

export function concurrencyQueue({ limit, max_wait_ms }: Static<typeof ConcurrencyQueueParams>): Rule<InFlight> {
  return { shared: true, ...waiting(limit, max_wait_ms ?? NEVER) };
}

/** A request takes the first free place. Its start is known on arrival, as is every time in flight. */
function waiting(limit: number, longestMs: number): Rule<InFlight> {
  const startOf = ({ ends }: InFlight, t: number, n: number) => {
    const busy = ends.length + n - limit;
    return busy <= 0 ? t : Math.max(t, ends[busy - 1]!);
  };
  return {
    fresh: () => ({ ends: [] }),
    admit(state, t, n, holdMs) {
      if (n > limit) return LIMITED;
      if (state.ends.length > 0 && state.ends[0]! <= t) state.ends.splice(0, endsAfter(state.ends, t));
      const start = startOf(state, t, n);
      if (start - t > longestMs) return LIMITED;
      state.ends.splice(0, Math.max(0, state.ends.length + n - limit));
      hold(state.ends, start + holdMs, n);
      return start - t;
    },
    nextAdmission(state, t, n) {
      if (n > limit) return NEVER;
      return longestMs === NEVER ? t : Math.max(t, known(startOf(state, t, n)) - longestMs);
    },
    nextChange({ ends }, t) {
      if (longestMs === NEVER) return NEVER;
      return known(ends[endsAfter(ends, t + longestMs)] ?? NEVER) - longestMs;
    },
    remaining({ ends }, t) {
      return longestMs === NEVER
        ? Number.POSITIVE_INFINITY
        : Math.max(0, limit - (ends.length - endsAfter(ends, t + longestMs)));
    },
    forgettable: ({ ends }, t) => endsAfter(ends, t) === ends.length,
  };
}
