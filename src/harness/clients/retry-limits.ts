// What limits the retries of one instance, over all its requests.
//
//   budget        the last `overMs`  | requests  . .. ... .. . |      retries in it  <=  share * requests in it + floor
//   concurrency   retries waiting or in flight  <=  max(least, share * (in flight + retries waiting))
//   quota         tokens   capacity ──► less by the cost of a setback ──► retries end at 0, or at the threshold
//                                   ◄── more by the refund of a success
//
// The budget is after those of Finagle (a share of requests, with a reserve) and of "Site Reliability Engineering" (O'Reilly 2016,
// chapter 21: retries below 10 % of requests), the concurrency after Envoy's circuit breakers. A quota is charged by
//
//   retry     a retry pays, and is not made without enough tokens (the SDKs of AWS: 500, 14 or 5, back after a retry that was served)
//   setback   every setback takes its cost, retried or not (gRPC A6: 10, 1, back 0.1, threshold 5)
import { add, advance, cycleAt, ringOf } from '../../core/limiter/window.js';
import { cycleOf } from '../../core/time/cycle.js';
import type { SetbackType } from './behaviour.js';

/** Why an attempt is made: the setback before it, or hedging; undefined for the first of a job. */
export type Reason = SetbackType | 'hedge' | undefined;

export interface AttemptEnd {
  /** `abandoned`: no longer wanted, since another attempt was served. */
  readonly type: 'served' | 'abandoned' | SetbackType;
  readonly after: Reason;
  readonly nowMs: number;
  readonly heldMs: number;
  readonly retryAfterMs?: number | undefined;
}

export interface RetryLimit {
  readonly name: string;
  requested(nowMs: number): void;
  takeRetry(nowMs: number, after: SetbackType): boolean;
  ended?(end: AttemptEnd): void;
  /** An allowed retry is not sent. */
  unused?(): void;
}

export interface RetryBudgetPlan {
  /** Per request, 0 .. 10. */
  readonly share: number;
  /** Retries per `overMs` regardless of requests, at least 0. */
  readonly floor: number;
  /** Length of the window, an integer of at least SLICES. */
  readonly overMs: number;
}

export function retryBudget({ share, floor, overMs }: RetryBudgetPlan, startMs: number): RetryLimit {
  const requests = slidingCount(overMs, startMs);
  const retries = slidingCount(overMs, startMs);
  return {
    name: 'retry budget',
    requested: (nowMs) => requests.add(nowMs),
    takeRetry(nowMs) {
      if (retries.at(nowMs) + 1 > share * requests.at(nowMs) + floor) return false;
      retries.add(nowMs);
      return true;
    },
  };
}

export const SLICES = 10;

interface SlidingCount {
  add(nowMs: number): void;
  at(nowMs: number): number;
}

/** The window advances by tenths of its length. @param overMs at least SLICES */
export function slidingCount(overMs: number, startMs: number): SlidingCount {
  const sliceMs = Math.ceil(overMs / SLICES);
  const window = ringOf(SLICES, cycleOf(startMs, sliceMs));
  const at = (nowMs: number) => advance(window, cycleOf(nowMs, sliceMs));
  return {
    at,
    add(nowMs) {
      at(nowMs);
      add(window, cycleAt(window), 1);
    },
  };
}

export function retryConcurrency({ share, least }: { readonly share: number; readonly least: number }): RetryLimit {
  let firstsInFlight = 0;
  let retries = 0;
  return {
    name: 'retry concurrency',
    requested() {
      firstsInFlight += 1;
    },
    takeRetry() {
      if (retries + 1 > Math.max(least, share * (firstsInFlight + retries))) return false;
      retries += 1;
      return true;
    },
    ended({ after }) {
      if (after === undefined) firstsInFlight -= 1;
      else if (after !== 'hedge') retries -= 1;
    },
    unused() {
      retries -= 1;
    },
  };
}

export interface RetryQuotaPlan {
  readonly capacity: number;
  readonly cost: Readonly<Record<SetbackType, number>>;
  readonly charge: 'retry' | 'setback';
  readonly threshold: number | undefined;
  readonly refund: { readonly start: number; readonly first: number; readonly retried: number | 'cost' };
}

interface RetryQuota extends Required<Omit<RetryLimit, 'unused'>> {
  readonly tokens: number;
}

export function retryQuota(plan: RetryQuotaPlan): RetryQuota {
  const { capacity, cost, charge, threshold = Number.NEGATIVE_INFINITY, refund } = plan;
  let tokens = capacity;
  const give = (more: number) => {
    tokens = Math.min(capacity, tokens + more);
  };
  return {
    name: 'retry quota',
    get tokens() {
      return tokens;
    },
    requested: () => give(refund.start),
    takeRetry(_nowMs, after) {
      if (tokens <= threshold) return false;
      if (charge === 'setback') return threshold > Number.NEGATIVE_INFINITY || tokens > 0;
      if (tokens < cost[after]) return false;
      tokens -= cost[after];
      return true;
    },
    ended({ type, after }) {
      if (type === 'abandoned') return;
      if (type !== 'served') {
        if (charge === 'setback') tokens = Math.max(0, tokens - cost[type]);
      } else if (after === undefined || after === 'hedge') give(refund.first);
      else give(refund.retried === 'cost' ? cost[after] : refund.retried);
    },
  };
}
