// Bounds on instants, and how rules narrow them.
import { GRAIN_MS } from '../limiter/rule/rule.js';
import type { Counted, RuleClock, Span } from './counting.js';

/** A number that lies between two. */
export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** How far an instant may be off that a rule compares, in ms. */
export const grainOf = ({ stepMs, resolutionMs }: RuleClock) =>
  stepMs === 1 ? GRAIN_MS : Math.max(GRAIN_MS, resolutionMs);

/** The steps of the clock that the rule reads, in ms; 0 in continuous time. */
export const tickOf = ({ stepMs, resolutionMs }: RuleClock) => (stepMs === 1 ? Math.max(1, resolutionMs) : 0);

/** The span as the clock of the rule shows it. */
export function onClock({ from, to }: Span, clock: RuleClock): Span {
  const tickMs = tickOf(clock);
  if (tickMs === 0) return { from, to };
  return { from: Math.floor(from / tickMs) * tickMs, to: Math.floor(to / tickMs) * tickMs };
}

/** The last instant that can lie before `tMs`. */
export function lastBefore(tMs: number, clock: RuleClock): number {
  const tickMs = tickOf(clock);
  return tickMs === 0 ? tMs + grainOf(clock) : (Math.ceil((tMs - GRAIN_MS) / tickMs) - 1) * tickMs;
}

/** The least bound for an instant after `tMs`. */
export function firstAfter(tMs: number, clock: RuleClock): number {
  return clock.stepMs === 1 ? tMs + GRAIN_MS : tMs - grainOf(clock);
}

export function spanOf(from: number, to: number): Span | undefined {
  return from <= to ? { from, to } : undefined;
}

/** Bounds that hold all of both; undefined where the first do already. */
export function joined(one: Bounds, other: Bounds): Bounds | undefined {
  if (one.least <= other.least && one.most >= other.most) return undefined;
  return { least: Math.min(one.least, other.least), most: Math.max(one.most, other.most) };
}

/** A request that is released as it is counted. */
export function atOnce<State>(state: State, at: Span): Counted<State> {
  return { state, at, released: at };
}
