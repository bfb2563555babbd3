// Counting by any rule: its state is known exactly, and each step of the span is tried. States that decide alike from now on are one.
//
// In continuous time an instant is cut to a step, so either answer is taken within a step of the instant at which it turns.
import type { FixedWindowState } from '../limiter/rule/fixed-window.js';
import { multipleOf, periodsIn } from '../limiter/rule/periods.js';
import { copyOf, LIMITED } from '../limiter/rule/rule.js';
import { type RuleDefinition, uncheckedRule } from '../limiter/rule/rule-definition.js';
import type { BucketState } from '../limiter/rule/token-bucket.js';
import type { BucketAndIntervalState } from '../limiter/rule/token-bucket-and-interval.js';
import type { IntervalBucketState } from '../limiter/rule/token-bucket-interval.js';
import type { Counted, Counting, RuleClock, Span } from './counting.js';

const CONTINUOUS_STEP_MS = 0.5;

/** Holds some requests. Others do where they have a longest wait. */
const holding = new Set([
  'leaky_queue',
  'uber_slack',
  'fixed_window_delay',
  'fixed_window_exec_evenly',
  'guava_bursty',
]);

interface Admitted {
  readonly state: unknown;
  readonly delayMs: number;
}

export function exactCounting(definition: RuleDefinition, clock: RuleClock): Counting {
  const { resolutionMs, stepMs } = clock;
  const rule = uncheckedRule({ ...definition, ...(resolutionMs === 0 ? {} : { clock_resolution_ms: resolutionMs }) });
  const keyOf = memberKey(definition) as (state: unknown, tMs: number) => string;
  const inner = rule.ownClock ? (state: unknown) => state : (state: unknown) => (state as { inner: unknown }).inner;
  const searchStepMs = stepMs || CONTINUOUS_STEP_MS;
  const earlyMs = stepMs === 1 ? 0 : CONTINUOUS_STEP_MS;

  const admitAt = (state: unknown, tMs: number): Admitted | undefined => {
    const next = copyOf(state);
    const delayMs = rule.decide(next, tMs, 1, 0);
    if (delayMs !== LIMITED) return { state: next, delayMs };
    if (earlyMs === 0) return undefined;
    const atMs = rule.nextAdmission(state, tMs, 1);
    if (atMs > tMs + earlyMs) return undefined;
    const later = copyOf(state);
    const delay = rule.decide(later, atMs, 1, 0);
    return delay === LIMITED ? undefined : { state: later, delayMs: delay };
  };
  const refuseAt = (state: unknown, tMs: number): Admitted | undefined => {
    const next = copyOf(state);
    if (rule.decide(next, tMs, 1, 0) === LIMITED) return { state: next, delayMs: 0 };
    if (earlyMs === 0) return undefined;
    const earlier = copyOf(state);
    return rule.decide(earlier, tMs - earlyMs, 1, 0) === LIMITED ? { state: earlier, delayMs: 0 } : undefined;
  };
  /** Where both ends of a span lead to one state, all of it does: with time a rule goes on, and never back. */
  const each = (span: Span, ask: (tMs: number) => Admitted | undefined): Counted<State>[] => {
    const found = new Map<string, Counted<State>>();
    const at = (tMs: number): string => {
      const one = ask(tMs);
      if (one === undefined) return '';
      const key = keyOf(inner(one.state), tMs);
      const same = found.get(key);
      const releasedMs = tMs + one.delayMs;
      found.set(key, {
        state: same?.state ?? { rule: one.state, key },
        at: { from: Math.min(same?.at.from ?? tMs, tMs), to: Math.max(same?.at.to ?? tMs, tMs) },
        released: {
          from: Math.min(same?.released.from ?? releasedMs, releasedMs),
          to: Math.max(same?.released.to ?? releasedMs, releasedMs),
        },
      });
      return key;
    };
    const between = (from: number, first: string, to: number, last: string): void => {
      if (first === last || to - from <= searchStepMs) return;
      const middle = from + Math.max(1, Math.floor((to - from) / searchStepMs / 2)) * searchStepMs;
      const key = at(middle);
      between(from, first, middle, key);
      between(middle, key, to, last);
    };
    between(span.from, at(span.from), span.to, span.to > span.from ? at(span.to) : '');
    return [...found.values()];
  };
  const known = (state: unknown, tMs: number): State => ({ rule: state, key: keyOf(inner(state), tMs) });
  const isHolding = holding.has(definition.primitive) || (definition.params as Given)['max_wait_ms'] !== undefined;

  return {
    stepMs,
    isBounded: false,
    holds: isHolding ? 'in any order' : 'none',
    begin: (tMs, longAgoMs) => [known(rule.fresh(longAgoMs), tMs), known(rule.fresh(tMs), tMs)],
    admit: (state, span) => each(span, (tMs) => admitAt((state as State).rule, tMs)),
    refuse: (state, span, isCharged) =>
      each(span, (tMs) => {
        const one = refuseAt((state as State).rule, tMs);
        return one === undefined || isCharged ? one : { state: (state as State).rule, delayMs: 0 };
      }),
    settled: (state, tMs) => known((state as State).rule, tMs),
    key: (state) => (state as State).key,
    join: () => undefined,
  };
}

interface State {
  readonly rule: unknown;
  readonly key: string;
}

type Given = Record<string, number> & Record<string, unknown>;

/** States that decide alike from a time on have the same text, whatever the time. */
type KeyOf = (state: never, tMs: number) => string;

/** Rounds off what doubles add to equal times. */
const rounded = (value: number) => Math.round(value * 1e6) / 1e6;

/** What no longer decides is left out: a window that is over, refused requests beyond the limit, the time of the last request. */
function memberKey({ primitive, params }: RuleDefinition): KeyOf {
  const given = params as Given;
  switch (primitive) {
    case 'token_bucket':
      return (given['refill'] ?? 'continuous') === 'continuous'
        ? bucketKey(given, given['exact_float'] === (true as unknown))
        : ticksKey(given);
    case 'fixed_window':
      return windowKey(given);
    case 'token_bucket_and_interval': {
      const keyOf = bucketKey(given, true);
      return ({ startMs, taken, bucket }: BucketAndIntervalState, t: number) =>
        `${t - startMs >= given['interval_ms']! ? 'over' : `${startMs}/${taken}`}/${keyOf(bucket, t)}`;
    }
    default:
      return textOf;
  }
}

/** A bucket in continuous time is known by the time at which it is full. */
function bucketKey(params: Given, isExact = false): (state: BucketState, tMs: number) => string {
  const { rate, per_ms, capacity, state_ttl_from_last_admit_ms: ttl } = params;
  const parts = isExact ? 1 : per_ms!;
  const perMs = isExact ? rate! / per_ms! : rate!;
  return ({ tokens, atMs, goneMs }, t) => {
    const fullMs = atMs + (capacity! * parts - tokens) / perMs;
    if (t >= goneMs || t >= fullMs) return 'full';
    return `${rounded(fullMs)}${ttl === undefined ? '' : `/${goneMs}`}`;
  };
}

/** Tokens that come back at ticks: what there is at the last tick, where nothing else decides. */
function ticksKey(params: Given): KeyOf {
  const { rate, per_ms: per, capacity } = params;
  const isPlain =
    params['refill'] === ('interval' as unknown) &&
    !params['stale_tick_when_full'] &&
    !params['forget_when_full'] &&
    params['state_ttl_from_last_admit_ms'] === undefined;
  if (!isPlain) return textOf;
  return ({ fromMs, base, baseTick }: IntervalBucketState, t: number) => {
    if (fromMs < 0) return 'new';
    const tick = periodsIn(t - fromMs, per!);
    return `${Math.min(capacity!, rounded(base + (tick - baseTick) * rate!))}/${rounded(fromMs + multipleOf(per!, tick))}`;
  };
}

function windowKey(params: Given): KeyOf {
  const { limit } = params;
  const isLimited = limit !== undefined && params['refused_backoff'] === undefined;
  const most = isLimited ? limit + 1 : Number.POSITIVE_INFINITY;
  const isOpened = params['align'] === undefined || params['align'] === ('first' as unknown);
  const expires = params['state_ttl_from_last_admit_ms'] !== undefined;
  const keyOf = ({ endMs, count, admittedMs }: FixedWindowState, t: number) => {
    if (isOpened && endMs < t) return 'over';
    return `${endMs}/${Math.min(count, most)}${expires ? `/${admittedMs}` : ''}`;
  };
  if (params['local_block_ms'] === undefined) return keyOf;
  return ({ untilMs, inner }: { untilMs: number; inner: FixedWindowState }, t: number) =>
    `${untilMs > t ? untilMs : ''}/${keyOf(inner, t)}`;
}

function textOf(state: unknown): string {
  if (typeof state !== 'object' || state === null) return String(state);
  const parts = ArrayBuffer.isView(state) ? [...(state as unknown as Float64Array)] : Object.values(state);
  return `(${parts.map(textOf).join()})`;
}
