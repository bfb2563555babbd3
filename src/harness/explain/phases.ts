// The distinct phases of a limiter's clock relative to ours.
//
// Rules cut time at edges of their own: windows at multiples since 1970 by another clock, intervals since a process started, seconds of
// a coarse clock. Only the side of an edge on which each request lies matters:
//
//   requests    |-|    |--|        |-|            all edges within a gap are equivalent: its middle is tried; within a request
//   edges           ^    ^   ^                    each ms is tried
import { clockStepOf, membersOf, type RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { modulo } from '../../core/math/modulo.js';
import { LONG_AGO_MS } from './counting.js';
import type { QueueOptions } from './queues.js';
import { behindMs, type SeenRequest } from './seen-request.js';

const MOST_PHASES = 10_000;

/** Reading of the limiter's clock when the first request is sent, and when the limiter was made; in ms. */
export interface Phase {
  readonly startMs: number;
  readonly longAgoMs: number;
}

/** Edges in gaps first; undefined if there are too many phases. */
export function phasesOf(
  requests: readonly SeenRequest[],
  definition: RuleDefinition,
  { slackMs, pauses = [] }: QueueOptions,
): readonly Phase[] | undefined {
  const periods = [...new Set(periodsOf(definition))];
  if (periods.length === 0) return [startingAt(0, 1)];
  // All edges lie on a grid of the greatest common divisor and repeat with the common multiple.
  const period = periods.reduce(commonDivisor);
  const longest = periods.reduce((one, other) => (one * other) / commonDivisor(one, other));
  const answered = requests.filter(({ answeredMs }) => Number.isFinite(answeredMs));
  const fromMs = requests.reduce((least, { sentMs }) => Math.min(least, sentMs), Number.POSITIVE_INFINITY);
  const lastMs = answered.reduce((most, { answeredMs }) => Math.max(most, answeredMs), fromMs);
  const within = new Set<number>();
  for (const { sentMs, answeredMs } of answered) {
    const to = Math.min(answeredMs + slackMs, sentMs + period) - fromMs + 1;
    for (let ms = Math.floor(sentMs - behindMs(pauses, sentMs) - fromMs - slackMs); ms <= to; ms += 1)
      within.add(modulo(ms, period));
  }
  if (within.size === 0) return [startingAt(0, longest)];
  const inOrder = [...within].sort((one, other) => one - other);
  // The share of the previous window that such a rule counts changes with its edge, ms by ms.
  if (hasSlidingCounter(definition) && longest > 2)
    return longest > MOST_PHASES ? undefined : Array.from({ length: longest }, (_, ms) => startingAt(ms, longest));
  const between = inOrder.flatMap((ms, k) => {
    const next = inOrder[k + 1] ?? inOrder[0]! + period;
    return next - ms > 1 ? [modulo(Math.floor((ms + next) / 2), period)] : [];
  });
  const phases = [...between, ...inOrder];
  // An edge of a longer period is also one of the shortest; which one matters only within the length of the run.
  const isNested = longest === Math.max(...periods);
  const times = longest / period;
  const others = isNested ? Math.min(times, Math.ceil((lastMs - fromMs) / period) + 2) : times;
  if (!isNested && !(others * phases.length <= MOST_PHASES)) return undefined;
  const starts = phases.flatMap((ms) => Array.from({ length: others }, (_, k) => modulo(-(ms + k * period), longest)));
  return starts.map((ms) => startingAt(ms, longest));
}

function hasSlidingCounter(definition: RuleDefinition): boolean {
  return definition.primitive === 'sliding_counter' || membersOf(definition).some(hasSlidingCounter);
}

function startingAt(ms: number, longest: number): Phase {
  const longAgoMs = Math.ceil(LONG_AGO_MS / longest) * longest;
  return { startMs: 2 * longAgoMs + ms, longAgoMs };
}

function commonDivisor(one: number, other: number): number {
  let [a, b] = [Math.round(one * 16), Math.round(other * 16)];
  while (b > 0) [a, b] = [b, a % b];
  return a / 16;
}

/** Periods of the edges whose phase is unknown, in ms. */
function periodsOf(definition: RuleDefinition): number[] {
  const { align, window_ms, per_ms, refill, segments, cycle_ms, even_ms } = definition.params as Own;
  const stepMs = clockStepOf(definition) ?? 0;
  const clock = stepMs > 1 ? [stepMs] : [];
  const isOwn = align === 'epoch' || align === 'construction';
  switch (definition.primitive) {
    case 'fixed_window':
    case 'sliding_counter':
      return [...clock, ...(isOwn ? [window_ms!] : []), ...(even_ms ? [2] : [])];
    case 'token_bucket':
      return [...clock, ...(refill === 'interval' && align !== 'first' ? [per_ms!] : [])];
    case 'segmented_window':
      return [...clock, window_ms! / segments!];
    case 'rolling_count':
      return [...clock, cycle_ms ?? 777];
    default:
      return [...clock, ...membersOf(definition).flatMap(periodsOf)];
  }
}

interface Own {
  readonly align?: string;
  readonly window_ms?: number;
  readonly per_ms?: number;
  readonly refill?: string;
  readonly segments?: number;
  readonly cycle_ms?: number;
  readonly even_ms?: boolean;
}
