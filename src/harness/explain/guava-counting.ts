// Guava's rules: bounds on stored permits and on the time of the next request.
//
// The next state is monotonic in both and in the instant of counting, except for a kink where that instant equals the time of the next
// request. So the rule itself is evaluated at the corners and at the kink.

import { NEVER } from '../../core/limiter/rule/rule.js';
import { type ParamsOf, type RuleDefinition, uncheckedRule } from '../../core/limiter/rule/rule-definition.js';
import type { Range } from '../../core/math/range.js';
import { type Counted, LONG_AGO_MS, type RuleClock, type RuleCounting, type Span } from './counting.js';
import { firstAfter, grainOf, joined, lastBefore, onClock, spanOf } from './span.js';

interface Permits {
  readonly stored: Range;
  readonly next: Range;
}

type GuavaParams = Partial<ParamsOf<'guava_bursty'> & ParamsOf<'guava_warmup'>> & { readonly interval_ms: number };

interface Kept {
  readonly atMs: number;
  readonly inner: { stored: number; nextMs: number };
}

/** Guava truncates prices to whole microseconds. */
const CUT_MS = 0.002;

export function guavaCounting(definition: RuleDefinition, clock: RuleClock): RuleCounting<Permits> | undefined {
  if (definition.primitive !== 'guava_bursty' && definition.primitive !== 'guava_warmup') return undefined;
  const params = definition.params as GuavaParams;
  const longestMs = params.queue ? NEVER : (params.max_wait_ms ?? 0);
  const grainMs = grainOf(clock);
  const rule = uncheckedRule({ ...definition, params: { ...params, queue: true } });
  const { mostStored, coolMs } = capacityOf(params);
  const exactly = (state: unknown): Permits => {
    const { stored, nextMs } = (state as Kept).inner;
    return { stored: { least: stored, most: stored }, next: { least: nextMs, most: nextMs } };
  };

  const admitted = ({ stored, next }: Permits, at: Span): Counted<Permits> => {
    const instants = [at.from, at.to];
    const times = [next.least, next.most];
    for (const ms of [at.from, at.to]) if (ms > next.least && ms < next.most) times.push(ms);
    for (const ms of [next.least, next.most]) if (ms > at.from && ms < at.to) instants.push(ms);
    let after: Permits | undefined;
    for (const tMs of instants) {
      for (const nextMs of times) {
        for (const one of [stored.least, stored.most]) {
          const state: Kept = { atMs: 0, inner: { stored: one, nextMs } };
          rule.admit(state, tMs, 1, 0);
          const corner = exactly(state);
          after = after === undefined ? corner : (join(after, corner) ?? after);
        }
      }
    }
    const { least, most } = after!.next;
    return {
      state: { stored: after!.stored, next: { least: least - CUT_MS, most: most + CUT_MS } },
      at,
      released: { from: Math.max(at.from, next.least), to: Math.max(at.to, next.most) },
    };
  };

  return {
    stepMs: clock.stepMs,
    isBounded: true,
    holds: longestMs > 0 ? 'in order' : 'none',
    begin: (tMs, longAgoMs) => [exactly(rule.fresh(longAgoMs)), exactly(rule.fresh(tMs))],
    admit({ stored, next }, span, released) {
      const { from, to } = onClock(span, clock);
      const most = Math.min(next.most, to + longestMs + grainMs, released.to + grainMs);
      const at = spanOf(Math.max(from, next.least - longestMs - grainMs), Math.min(to, released.to));
      if (at === undefined || next.least > most) return [];
      const narrowed = { least: next.least, most };
      if (at.from >= released.from || next.least >= released.from) return [admitted({ stored, next: narrowed }, at)];
      const late = spanOf(released.from, at.to);
      const held = released.from - grainMs;
      return [
        ...(late === undefined ? [] : [admitted({ stored, next: narrowed }, late)]),
        ...(held <= most ? [admitted({ stored, next: { least: held, most } }, at)] : []),
      ];
    },
    refuse({ stored, next }, span) {
      const { from, to } = onClock(span, clock);
      const at = spanOf(from, Math.min(to, lastBefore(next.most - longestMs, clock)));
      const least = Math.max(next.least, firstAfter(from + longestMs, clock));
      if (at === undefined || least > next.most) return [];
      return [{ state: { stored, next: { least, most: next.most } }, at, released: at }];
    },
    settled(state, tMs) {
      const isFull = state.stored.least + (tMs - state.next.most) / coolMs >= mostStored;
      if (state.next.most > tMs || !isFull) return state;
      return { stored: { least: mostStored, most: mostStored }, next: { least: LONG_AGO_MS, most: LONG_AGO_MS } };
    },
    key: () => '',
    join,
  };
}

function join(one: Permits, other: Permits): Permits | undefined {
  const [stored, next] = [joined(one.stored, other.stored), joined(one.next, other.next)];
  if (stored === undefined && next === undefined) return undefined;
  return { stored: stored ?? one.stored, next: next ?? one.next };
}

function capacityOf({ interval_ms: T, max_stored, warmup_ms = 0, cold_factor = 3 }: GuavaParams): {
  readonly mostStored: number;
  readonly coolMs: number;
} {
  if (max_stored !== undefined) return { mostStored: max_stored, coolMs: T };
  const mostStored = warmup_ms / (2 * T) + (2 * warmup_ms) / (T + cold_factor * T);
  return { mostStored, coolMs: warmup_ms / mostStored };
}
