// Gates on the client side, shared by all requests of one instance. They observe how attempts end.
//
//   attempt ─► enter ─┬─ open      sent at once
//                     ├─ wait      sent after the wait
//                     ├─ again     asks again after the wait
//                     └─ refused   the job is given up

import { LIMITED, NEVER, type Rule } from '../../core/limiter/rule/rule.js';
import { pow } from '../../core/math/elementary.js';
import type { RandomStream } from '../../core/math/random.js';
import { type AttemptEnd, slidingCount } from './retry-limits.js';

interface GateAnswer {
  readonly type: 'open' | 'wait' | 'again' | 'refused';
  /** For wait and again. */
  readonly ms: number;
}

export interface ClientGate {
  enter(nowMs: number, draw: RandomStream): GateAnswer;
  ended?(end: AttemptEnd): void;
}

export interface GatePlan {
  readonly on: 'attempts' | 'retries';
  readonly make: (startMs: number) => ClientGate;
}

const open: GateAnswer = { type: 'open', ms: 0 };
const refused: GateAnswer = { type: 'refused', ms: 0 };

/** Shortest wait, so that time advances. */
const LEAST_MS = 2 ** -10;

/** A concurrency limit does not know when a place becomes free: it is asked again after this time. */
const IN_FLIGHT_MS = 10;

/** A rule as gate: client-go's bucket of 5 a second, or a concurrency limit. */
export function limiterGate(rule: Rule, full: 'wait' | 'fail', startMs: number): ClientGate {
  const state = rule.fresh(startMs);
  const inFlightMs = rule.release === undefined ? 0 : Number.POSITIVE_INFINITY;
  return {
    enter(nowMs) {
      const delayMs = rule.admit(state, nowMs, 1, inFlightMs);
      if (delayMs !== LIMITED) return delayMs === 0 ? open : { type: 'wait', ms: delayMs };
      if (full === 'fail') return refused;
      const nextMs = rule.nextAdmission(state, nowMs, 1);
      return { type: 'again', ms: nextMs === NEVER ? IN_FLIGHT_MS : Math.max(LEAST_MS, nextMs - nowMs) };
    },
    ended: ({ nowMs, heldMs }) => rule.release?.(state, nowMs, heldMs),
  };
}

/**
 * The client throttle of "Site Reliability Engineering" (O'Reilly 2016, chapter 21):
 *
 *     P(refused) = max(0, (requests - k * accepts) / (requests + 1))
 *
 *     requests   of the client, refused ones by the throttle included
 *     accepts    answered by the service other than by a refusal
 */
export function throttle(k: number, overMs: number, startMs: number): ClientGate {
  const requests = slidingCount(overMs, startMs);
  const accepts = slidingCount(overMs, startMs);
  return {
    enter(nowMs, draw) {
      const asked = requests.at(nowMs);
      const p = (asked - k * accepts.at(nowMs)) / (asked + 1);
      requests.add(nowMs);
      return p > 0 && draw.uniform() < p ? refused : open;
    },
    ended({ type, nowMs }) {
      if (type === 'served') accepts.add(nowMs);
    },
  };
}

/**
 * A pause that all requests of an account share.
 *
 *     limited, Retry-After 12 s      |----------- all wait -----------|~~ ramp ~~|      they return at uniform times in the ramp
 */
export function accountPause(defaultMs: number, rampMs: number): ClientGate {
  let untilMs = Number.NEGATIVE_INFINITY;
  return {
    enter(nowMs, draw) {
      if (nowMs >= untilMs) return open;
      return { type: 'wait', ms: untilMs - nowMs + (rampMs === 0 ? 0 : rampMs * draw.uniform()) };
    },
    ended({ type, nowMs, retryAfterMs = defaultMs }) {
      if (type === 'limited') untilMs = Math.max(untilMs, nowMs + retryAfterMs);
    },
  };
}

interface BreakerPlan {
  readonly share: number;
  readonly overMs: number;
  readonly least: number;
  readonly openMs: number;
  readonly trials: number;
}

/**
 * A circuit breaker.
 *
 *               setbacks >= share of >= least attempts                enter, after the time
 *    closed ──────────────────────────────────────────►  open  ──────────────────────────────►  half open
 *      ▲                                                   ▲                                      │  │
 *      │                                                   └────────────── a setback ─────────────┘  │
 *      └───────────────────────────────── all trials served ─────────────────────────────────────────┘
 */
export function breaker({ share, overMs, least, openMs, trials }: BreakerPlan, startMs: number): ClientGate {
  const counting = (fromMs: number) => ({
    attempts: slidingCount(overMs, fromMs),
    failed: slidingCount(overMs, fromMs),
  });
  let counts = counting(startMs);
  let state: 'closed' | 'open' | 'half open' = 'closed';
  let untilMs = startMs;
  /** While half open: trials let through, and trials served. */
  let [tried, served] = [0, 0];
  return {
    enter(nowMs) {
      if (state === 'closed') return open;
      if (state === 'open') {
        if (nowMs < untilMs) return refused;
        [state, tried, served] = ['half open', 0, 0];
      }
      if (tried === trials) return refused;
      tried += 1;
      return open;
    },
    ended({ type, nowMs }) {
      if (type === 'abandoned') return;
      counts.attempts.add(nowMs);
      if (type === 'served') {
        if (state !== 'half open') return;
        served += 1;
        if (served < trials) return;
        state = 'closed';
        // Counts from before the trials are obsolete.
        counts = counting(nowMs);
        return;
      }
      counts.failed.add(nowMs);
      const attempts = counts.attempts.at(nowMs);
      const tooManyFail = attempts >= least && counts.failed.at(nowMs) >= share * attempts;
      if (state === 'open' || (state === 'closed' && !tooManyFail)) return;
      state = 'open';
      untilMs = nowMs + openMs;
    },
  };
}

const BETA = 0.7;
const SCALE = 0.4;
const SMOOTH = 0.8;
const LEAST_RATE = 0.5;

/**
 * The adaptive retry mode of AWS SDKs: a token bucket whose rate a throttled answer cuts, and which grows as in TCP CUBIC.
 *
 *     rate |      _                   throttled   w = the measured rate, or that of the bucket if lower; rate = 0.7 w
 *          |    _/ |                  served      rate = 0.4 (t - k)^3 + w,  k = cbrt(0.3 w / 0.4),  t in s since the cut
 *          |---'   |     _--^         at most twice the measured rate, which is smoothed over halves of a second
 *          |       |  .-'
 *          |       | /
 *
 * The bucket holds attempts back from the first throttled answer on; without a token they ask again when one is due.
 * Source: @smithy/core, retry, DefaultRateLimiter, whose clock is in whole ms.
 */
export function cubic(startMs: number): ClientGate {
  let isEnabled = false;
  let fillRate = LEAST_RATE;
  let capacity = 1;
  let tokens = 0;
  let filledMs: number | undefined;
  let wMax = 0;
  let cutMs = startMs;
  let count = 0;
  let measuredS = Math.floor(startMs / 1000);
  let measuredRate = 0;
  const refill = (nowMs: number) => {
    const seconds = (nowMs - (filledMs ?? nowMs)) / 1000;
    tokens = Math.min(capacity, tokens + seconds * fillRate);
    filledMs = nowMs;
  };
  const measure = (nowMs: number) => {
    const t = Math.floor((nowMs / 1000) * 2) / 2;
    count += 1;
    if (t <= measuredS) return;
    measuredRate = (count / (t - measuredS)) * SMOOTH + measuredRate * (1 - SMOOTH);
    count = 0;
    measuredS = t;
  };
  const cut = (nowMs: number) => {
    wMax = isEnabled ? Math.min(measuredRate, fillRate) : measuredRate;
    cutMs = nowMs;
    isEnabled = true;
    return wMax * BETA;
  };
  const grown = (nowMs: number) => {
    const t = (nowMs - cutMs) / 1000 - pow((wMax * (1 - BETA)) / SCALE, 1 / 3);
    return SCALE * t * t * t + wMax;
  };
  return {
    enter(nowMs) {
      if (!isEnabled) return open;
      refill(nowMs);
      if (tokens < 1) return { type: 'again', ms: Math.max(LEAST_MS, ((1 - tokens) / fillRate) * 1000) };
      tokens -= 1;
      return open;
    },
    ended({ type, nowMs }) {
      if (type === 'abandoned') return;
      measure(nowMs);
      const rate = Math.min(type === 'limited' ? cut(nowMs) : grown(nowMs), 2 * measuredRate);
      refill(nowMs);
      fillRate = Math.max(rate, LEAST_RATE);
      capacity = Math.max(rate, 1);
      tokens = Math.min(tokens, capacity);
    },
  };
}
