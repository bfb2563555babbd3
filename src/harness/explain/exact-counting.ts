// Counting by any rule: its state is known exactly, and each step of the span is tried. States with equal future decisions are merged.
//
// Continuous time is cut into steps, so within a step of the instant at which the answer changes, both answers are accepted.
import { copyOf, LIMITED } from '../../core/limiter/rule/rule.js';
import { type ParamsOf, type RuleDefinition, uncheckedRule } from '../../core/limiter/rule/rule-definition.js';
import type { BucketAndIntervalState } from '../../core/limiter/rule/token-bucket-and-interval.js';
import type { Counted, RuleClock, RuleCounting, Span } from './counting.js';

const CONTINUOUS_STEP_MS = 0.5;

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

export function exactCounting(definition: RuleDefinition, clock: RuleClock): RuleCounting {
  const { resolutionMs, stepMs } = clock;
  const rule = uncheckedRule({ ...definition, ...(resolutionMs === 0 ? {} : { clock_resolution_ms: resolutionMs }) });
  const inner = rule.ownClock ? (state: unknown) => state : (state: unknown) => (state as { inner: unknown }).inner;
  /** A merged state covers several instants, so its time is reset: the rule must not see time go back. */
  const atAnyTime = rule.ownClock
    ? (state: unknown) => state
    : (state: unknown) => ({ atMs: Number.NEGATIVE_INFINITY, inner: inner(state) });
  const textOf =
    definition.primitive === 'token_bucket_and_interval'
      ? bucketText(definition.params as ParamsOf<'token_bucket_and_interval'>)
      : plainText;
  const keyOf = (state: unknown, tMs: number) => (rule.forgettable(state, tMs) ? 'fresh' : textOf(inner(state)));
  const searchStepMs = stepMs || CONTINUOUS_STEP_MS;
  const earlyMs = stepMs === 1 ? 0 : CONTINUOUS_STEP_MS;

  const admitAt = (state: unknown, tMs: number, n: number): Admitted | undefined => {
    const next = copyOf(state);
    const delayMs = rule.admit(next, tMs, n, 0);
    if (delayMs !== LIMITED) return { state: next, delayMs };
    if (earlyMs === 0) return undefined;
    const atMs = rule.nextAdmission(state, tMs, n);
    if (atMs > tMs + earlyMs) return undefined;
    const later = copyOf(state);
    const delay = rule.admit(later, atMs, n, 0);
    return delay === LIMITED ? undefined : { state: later, delayMs: delay };
  };
  const refuseAt = (state: unknown, tMs: number, n: number): Admitted | undefined => {
    const next = copyOf(state);
    if (rule.admit(next, tMs, n, 0) === LIMITED) return { state: next, delayMs: 0 };
    if (earlyMs === 0) return undefined;
    const earlier = copyOf(state);
    return rule.admit(earlier, tMs - earlyMs, n, 0) === LIMITED ? { state: earlier, delayMs: 0 } : undefined;
  };
  const each = (span: Span, ask: (tMs: number) => Admitted | undefined): Counted<State>[] => {
    const found = new Map<string, Counted<State>>();
    bisected(span, searchStepMs, (tMs) => {
      const one = ask(tMs);
      if (one === undefined) return '';
      const key = keyOf(one.state, tMs);
      const same = found.get(key);
      const releasedMs = tMs + one.delayMs;
      found.set(key, {
        state: same !== undefined && same.at.from <= tMs ? same.state : { rule: atAnyTime(one.state), key },
        at: { from: Math.min(same?.at.from ?? tMs, tMs), to: Math.max(same?.at.to ?? tMs, tMs) },
        released: {
          from: Math.min(same?.released.from ?? releasedMs, releasedMs),
          to: Math.max(same?.released.to ?? releasedMs, releasedMs),
        },
      });
      return key;
    });
    return [...found.values()];
  };
  const known = (state: unknown, tMs: number): State => ({ rule: atAnyTime(state), key: keyOf(state, tMs) });
  const isHolding =
    holding.has(definition.primitive) || (definition.params as { max_wait_ms?: number }).max_wait_ms !== undefined;

  return {
    stepMs,
    isBounded: false,
    holds: isHolding ? 'in any order' : 'none',
    begin: (tMs, longAgoMs) => [known(rule.fresh(longAgoMs), tMs), known(rule.fresh(tMs), tMs)],
    admit: (state, span, _released, n) => each(span, (tMs) => admitAt((state as State).rule, tMs, n)),
    refuse: (state, span, isCharged, n) =>
      each(span, (tMs) => {
        const one = refuseAt((state as State).rule, tMs, n);
        return one === undefined || isCharged ? one : { state: (state as State).rule, delayMs: 0 };
      }),
    settled: (state, tMs) => known((state as State).rule, tMs),
    key: (state) => (state as State).key,
    join: () => undefined,
  };
}

/** Rules are monotonic in time: if both ends of a span lead to one state, so does all of it. */
function bisected({ from, to }: Span, stepMs: number, at: (tMs: number) => string): void {
  const between = (least: number, first: string, most: number, last: string): void => {
    if (first === last || most - least <= stepMs) return;
    const middle = least + Math.max(1, Math.floor((most - least) / stepMs / 2)) * stepMs;
    const key = at(middle);
    between(least, first, middle, key);
    between(middle, key, most, last);
  };
  between(from, at(from), to, to > from ? at(to) : '');
}

interface State {
  readonly rule: unknown;
  readonly key: string;
}

/** A bucket in continuous time is identified by the time at which it is full, rounded to absorb errors of doubles. */
function bucketText({ rate, per_ms, capacity }: ParamsOf<'token_bucket_and_interval'>): (state: unknown) => string {
  return (state) => {
    const { startMs, taken, bucket } = state as BucketAndIntervalState;
    const fullMs = bucket.atMs + ((capacity - bucket.tokens) * per_ms) / rate;
    return `${startMs}/${taken}/${Math.round(fullMs * 1e6)}`;
  };
}

function plainText(state: unknown): string {
  if (typeof state !== 'object' || state === null) return String(state);
  const parts = ArrayBuffer.isView(state) ? [...(state as unknown as Float64Array)] : Object.values(state);
  return `(${parts.map(plainText).join()})`;
}
