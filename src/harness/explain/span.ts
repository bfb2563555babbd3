// Bounds on instants, and how rules narrow them.

import { GRAIN_MS } from '../../core/limiter/rule/rule.js';
import type { Range } from '../../core/math/range.js';
import type { Counted, RuleClock, Span } from './counting.js';

/** Tolerance of a rule's comparisons of instants, in ms. */
export const grainOf = ({ stepMs, resolutionMs }: RuleClock) =>
  stepMs === 1 ? GRAIN_MS : Math.max(GRAIN_MS, resolutionMs);

/** Step of the clock that the rule reads, in ms; 0 for continuous time. */
export const tickOf = ({ stepMs, resolutionMs }: RuleClock) => (stepMs === 1 ? Math.max(1, resolutionMs) : 0);

export function onClock({ from, to }: Span, clock: RuleClock): Span {
  const tickMs = tickOf(clock);
  if (tickMs === 0) return { from, to };
  return { from: Math.floor(from / tickMs) * tickMs, to: Math.floor(to / tickMs) * tickMs };
}

/** The latest possible instant before `tMs`. */
export function lastBefore(tMs: number, clock: RuleClock): number {
  const tickMs = tickOf(clock);
  return tickMs === 0 ? tMs + grainOf(clock) : (Math.ceil((tMs - GRAIN_MS) / tickMs) - 1) * tickMs;
}

/** Lower bound for an instant after `tMs`. */
export function firstAfter(tMs: number, clock: RuleClock): number {
  return clock.stepMs === 1 ? tMs + GRAIN_MS : tMs - grainOf(clock);
}

export function later({ from, to }: Span, byMs: number): Range {
  return { least: from + byMs, most: to + byMs };
}

export function spanOf(from: number, to: number): Span | undefined {
  return from <= to ? { from, to } : undefined;
}

/** A range that covers both; undefined if `one` already covers `other`. */
export function joined(one: Range, other: Range): Range | undefined {
  if (one.least <= other.least && one.most >= other.most) return undefined;
  return { least: Math.min(one.least, other.least), most: Math.max(one.most, other.most) };
}

export function atOnce<State>(state: State, at: Span): Counted<State> {
  return { state, at, released: at };
}
