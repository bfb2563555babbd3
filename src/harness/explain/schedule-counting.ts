// Rules that keep one instant, the turn of the next request: GCRA, buckets in continuous time, nginx, queues.
//
//   turn' = max(turn, t - kept) + spacing (+ rounding)
//
//   admitted    t >= turn - early                        t |-------| early before the turn
//   released    at max(t, turn - free)
//
//   GCRA                 spacing T, early tau, never held
//   bucket of B          spacing 1 / r, early (B - 1) / r; with a longest wait w: early w more, held from (B - 1) / r on
//   nginx                spacing 1 / r, early burst / r, held from delay / r on; each division cuts up to a thousandth of a request
//   queue                spacing T, early the longest wait, held from the turn on
//   slack of S           spacing T, early any, held from the turn on, kept S T

import { NEVER } from '../../core/limiter/rule/rule.js';
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import type { Range } from '../../core/math/range.js';
import type { Counted, RuleClock, RuleCounting, Span } from './counting.js';
import { atOnce, firstAfter, grainOf, joined, lastBefore, onClock, spanOf } from './span.js';

interface Schedule {
  readonly spacingMs: number;
  /** How early before its turn a request is admitted. */
  readonly earlyMs: number;
  /** How early before its turn a request is released. */
  readonly freeMs: number;
  /** How much unused time is kept. Default: 0. */
  readonly keptMs?: number;
  readonly roundingMs?: number;
  readonly cutsDelay?: true;
  /** Time to the first turn if the limiter was made for the first request. Default: the turn has passed. */
  readonly firstMs?: number;
  /** The first request starts the schedule, without kept time. */
  readonly beginsWithNothing?: true;
}

interface Turn extends Range {
  readonly isNew: boolean;
}

const LONG_PAST = Number.NEGATIVE_INFINITY;

export function scheduleCounting(definition: RuleDefinition, clock: RuleClock): RuleCounting<Turn> | undefined {
  const schedule = scheduleOf(definition);
  return schedule === undefined ? undefined : countingBy(schedule, clock);
}

function scheduleOf({ primitive, params }: RuleDefinition): Schedule | undefined {
  const given = params as Record<string, number> & { nodelay?: boolean; refill?: string };
  switch (primitive) {
    case 'gcra':
      return { spacingMs: given['T_ms']!, earlyMs: given['tau_ms']!, freeMs: NEVER };
    case 'leaky_queue': {
      const { spacing_ms, max_queue, registered = 0, max_wait_ms = NEVER } = given;
      const longest = max_queue === undefined ? NEVER : (max_queue + registered) * spacing_ms!;
      return { spacingMs: spacing_ms!, earlyMs: Math.min(max_wait_ms, longest), freeMs: 0 };
    }
    case 'uber_slack': {
      const { spacing_ms, slack = 10 } = given;
      const keptMs = slack * spacing_ms!;
      return { spacingMs: spacing_ms!, earlyMs: NEVER, freeMs: 0, keptMs, beginsWithNothing: true };
    }
    case 'nginx_limit_req': {
      const { rate_1000, burst = 0, delay = 0, nodelay } = given;
      const spacingMs = 1_000_000 / rate_1000!;
      const roundingMs = rate_1000! % 1000 === 0 ? 0 : spacingMs / 1000;
      const freeMs = nodelay ? NEVER : delay * spacingMs;
      return { spacingMs, earlyMs: burst * spacingMs, freeMs, roundingMs, cutsDelay: true };
    }
    case 'token_bucket': {
      const { rate, per_ms, capacity, max_wait_ms = 0 } = given;
      const initial = given['initial'] ?? capacity!;
      const isContinuous = (given.refill ?? 'continuous') === 'continuous';
      if (!isContinuous || capacity! < 1 || 'state_ttl_from_last_admit_ms' in given) return undefined;
      const spacingMs = per_ms! / rate!;
      const spareMs = (capacity! - 1) * spacingMs;
      const firstMs = (capacity! - Math.min(capacity!, initial)) * spacingMs;
      const freeMs = max_wait_ms === 0 ? NEVER : spareMs;
      return { spacingMs, earlyMs: spareMs + max_wait_ms, freeMs, firstMs };
    }
    default:
      return undefined;
  }
}

function countingBy(schedule: Schedule, clock: RuleClock): RuleCounting<Turn> {
  const { spacingMs, earlyMs, freeMs, keptMs = 0, roundingMs = 0, cutsDelay, firstMs = 0 } = schedule;
  const grainMs = grainOf(clock);
  const cutMs = cutsDelay ? 1 : 0;

  /** Cost n takes n turns in a row and is admitted by the last; `counting-of` excludes costs for rules that hold. */
  const earlyFor = (n: number) => earlyMs - (n - 1) * spacingMs;
  const isTooMuch = (n: number) => n > 1 && earlyFor(n) < -grainMs;

  const admitted = ({ least, most, isNew }: Turn, { from, to }: Span, n: number): Counted<Turn> => {
    const next = isNew ? { from, to } : { from: Math.max(least, from - keptMs), to: Math.max(most, to - keptMs) };
    return {
      state: { least: next.from + n * spacingMs, most: next.to + n * spacingMs + roundingMs, isNew: false },
      at: { from, to },
      released: { from: Math.max(from, least - freeMs - cutMs), to: Math.max(to, most - freeMs) },
    };
  };

  return {
    stepMs: clock.stepMs,
    isBounded: true,
    holds: freeMs === NEVER ? 'none' : 'in order',
    begin(tMs) {
      const isNew = schedule.beginsWithNothing === true;
      const idle = { least: LONG_PAST, most: LONG_PAST, isNew };
      return firstMs > 0 ? [idle, { least: tMs + firstMs, most: tMs + firstMs, isNew: false }] : [idle];
    },
    admit(turn, span, released, n) {
      const { from, to } = onClock(span, clock);
      const least = turn.least;
      const earlyOf = earlyFor(n);
      const most = Math.min(turn.most, to + earlyOf + grainMs, released.to + freeMs + cutMs + grainMs);
      const at = spanOf(Math.max(from, least - earlyOf - grainMs), Math.min(to, released.to));
      if (at === undefined || least > most || isTooMuch(n)) return [];
      const narrowed = { ...turn, most };
      // Released late because it was counted late, or because its turn was late.
      if (at.from >= released.from || least - freeMs - grainMs >= released.from) return [admitted(narrowed, at, n)];
      const late = spanOf(released.from, at.to);
      const held = released.from + freeMs - grainMs;
      return [
        ...(late === undefined ? [] : [admitted(narrowed, late, n)]),
        ...(held <= most ? [admitted({ ...narrowed, least: held }, at, n)] : []),
      ];
    },
    refuse(turn, span, _isCharged, n) {
      const { from, to } = onClock(span, clock);
      if (isTooMuch(n)) return [atOnce(turn, { from, to })];
      const earlyOf = earlyFor(n);
      const at = spanOf(from, Math.min(to, lastBefore(turn.most + roundingMs - earlyOf, clock)));
      const least = Math.max(turn.least, firstAfter(from + earlyOf - roundingMs, clock));
      if (at === undefined || least > turn.most) return [];
      return [{ state: { ...turn, least }, at, released: at }];
    },
    settled(turn, tMs) {
      const isPast = (ms: number) => ms <= tMs - keptMs;
      if (turn.isNew || turn.least === LONG_PAST || !isPast(turn.least)) return turn;
      return { ...turn, least: LONG_PAST, most: isPast(turn.most) ? LONG_PAST : turn.most };
    },
    key: ({ isNew }) => `${isNew}`,
    join(one, other) {
      const bounds = joined(one, other);
      return bounds === undefined ? undefined : { ...one, ...bounds };
    },
  };
}
