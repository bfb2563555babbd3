// A log of the times admitted in the last window.
//
//   log    x  x x   x        x        an entry leaves W after it came:  ok = entries + n <= L, and n entries are added
//          |<------- W ------->|
//
//   sliding_log_block   the request that would be entry L + 1 is logged and refused, and blocks until t + block; the first request
//                       after that clears the log and is admitted
//
// The log holds pairs (time, cost), oldest first, at most L of them.
// Source: async-ratelimiter 1.6, caddy-ratelimit, Python limits 2.8 (moving window), @nestjs/throttler 6.
import type { Static } from 'typebox';
import { exact } from '../../schema/fields.js';
import { countRefused, expiryEdge, flag, places, wait, windowMs } from './fields.js';
import { LIMITED, NEVER, type Rule } from './rule.js';

const logLimit = places('How much is admitted in a window.');

export const SlidingLogParams = exact({
  limit: logLimit,
  window_ms: windowMs,
  'count_refused?': countRefused,
  'edge?': expiryEdge,
  'dedup_same_time?': flag('Requests of one clock reading share one entry.'),
  'over_limit_cost_bug?': flag('A cost above the limit is admitted when the oldest entry ever is older than a window.'),
});

export const SlidingLogBlockParams = exact({
  limit: logLimit,
  window_ms: windowMs,
  block_ms: wait('How long the request that exceeds blocks the key, in ms.'),
});

/** `times` never decrease; entries before `head` have left. `firstMs` is -1 before the first entry. */
interface Log {
  times: number[];
  costs: number[];
  head: number;
  sum: number;
  firstMs: number;
}

function emptyLog(): Log {
  return { times: [], costs: [], head: 0, sum: 0, firstMs: -1 };
}

function clear(log: Log): void {
  log.times.length = 0;
  log.costs.length = 0;
  log.head = 0;
  log.sum = 0;
}

function drop(log: Log, t: number, span: number, atEnd: boolean): void {
  const { times, costs } = log;
  while (log.head < times.length && (atEnd ? times[log.head]! + span <= t : times[log.head]! + span < t)) {
    log.sum -= costs[log.head]!;
    log.head += 1;
  }
  if (log.head === times.length) clear(log);
  else if (log.head > 64 && log.head * 2 > times.length) {
    times.splice(0, log.head);
    costs.splice(0, log.head);
    log.head = 0;
  }
}

function add(log: Log, t: number, n: number): void {
  const last = log.times.length - 1;
  if (log.firstMs < 0) log.firstMs = t;
  log.sum += n;
  if (last >= log.head && log.times[last]! >= t) log.costs[last]! += n;
  else {
    log.times.push(t);
    log.costs.push(n);
  }
}

function reduce(log: Log, ms: number, n: number): void {
  const at = log.times.indexOf(ms, log.head);
  if (at < 0) return;
  log.costs[at]! -= n;
  log.sum -= n;
}

function held(log: Log, t: number, span: number, atEnd: boolean): number {
  let { sum } = log;
  for (let i = log.head; i < log.times.length; i += 1) {
    if (atEnd ? log.times[i]! + span > t : log.times[i]! + span >= t) break;
    sum -= log.costs[i]!;
  }
  return sum;
}

function timeOfAtMost(log: Log, most: number, t: number, span: number, lateMs: number): number {
  let { sum } = log;
  let at = t;
  for (let i = log.head; sum > most; i += 1) {
    if (i >= log.times.length) return NEVER;
    sum -= log.costs[i]!;
    at = log.times[i]! + span + lateMs;
  }
  return Math.max(t, at);
}

export function slidingLog(params: Static<typeof SlidingLogParams>, grainMs: number): Rule<Log> {
  const { limit, window_ms: span, count_refused: all = false, dedup_same_time: dedup = false } = params;
  const { over_limit_cost_bug: wraps = false } = params;
  const atEnd = (params.edge ?? 'expires_at_end') === 'expires_at_end';
  const late = atEnd ? 0 : grainMs;
  const firstIsOld = ({ firstMs }: Log, t: number) => firstMs < 0 || (atEnd ? firstMs + span <= t : firstMs + span < t);
  return {
    fresh: emptyLog,
    admit(log, t, n) {
      drop(log, t, span, atEnd);
      const ok = wraps && n > limit ? firstIsOld(log, t) : log.sum + n <= limit;
      const again = dedup && log.sum > 0 && log.times[log.times.length - 1] === t;
      if ((ok || all) && !again) add(log, t, n);
      return ok ? 0 : LIMITED;
    },
    charge(log, t, n, sinceMs) {
      drop(log, t, span, atEnd);
      if (n > 0) add(log, t, n);
      else reduce(log, sinceMs, -n);
    },
    nextAdmission(log, t, n) {
      if (n > limit) return wraps ? Math.max(t, log.firstMs < 0 ? t : log.firstMs + span + late) : NEVER;
      return timeOfAtMost(log, limit - n, t, span, late);
    },
    nextChange(log, t) {
      const sum = held(log, t, span, atEnd);
      return sum > 0 ? timeOfAtMost(log, sum - 1, t, span, late) : NEVER;
    },
    remaining: (log, t) => Math.max(0, limit - held(log, t, span, atEnd)),
    forgettable: (log, t) => !wraps && held(log, t, span, atEnd) === 0,
    waits: (log, t) => ({
      window_end: (log.times[log.head] ?? t) + span - t,
      newest_leaves: (log.times.at(-1) ?? t) + span - t,
    }),
  };
}

interface BlockedLog {
  untilMs: number;
  log: Log;
}

export function slidingLogBlock(params: Static<typeof SlidingLogBlockParams>): Rule<BlockedLog> {
  const { limit, window_ms: span, block_ms } = params;
  const sumAt = ({ untilMs, log }: BlockedLog, t: number) => {
    if (untilMs < 0) return held(log, t, span, true);
    return t < untilMs ? limit : 0;
  };
  return {
    // The block clears the log, and may end before its entries would leave.
    ...(block_ms < span && { hastens: true }),
    fresh: () => ({ untilMs: -1, log: emptyLog() }),
    admit(state, t, n) {
      const { log } = state;
      if (state.untilMs >= 0) {
        if (t < state.untilMs) return LIMITED;
        clear(log);
        state.untilMs = -1;
      }
      drop(log, t, span, true);
      const ok = log.sum + n <= limit;
      add(log, t, n);
      if (ok) return 0;
      state.untilMs = t + block_ms;
      return LIMITED;
    },
    nextAdmission(state, t, n) {
      if (n > limit) return NEVER;
      if (state.untilMs >= 0) return Math.max(t, state.untilMs);
      return timeOfAtMost(state.log, limit - n, t, span, 0);
    },
    nextChange(state, t) {
      if (state.untilMs >= 0) return t < state.untilMs ? state.untilMs : NEVER;
      const sum = held(state.log, t, span, true);
      return sum > 0 ? timeOfAtMost(state.log, sum - 1, t, span, 0) : NEVER;
    },
    remaining: (state, t) => Math.max(0, limit - sumAt(state, t)),
    forgettable: (state, t) => sumAt(state, t) === 0,
    waits: (state, t) => ({ window_end: Math.max(0, state.untilMs - t) }),
  };
}
