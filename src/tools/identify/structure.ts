// The rules that a limiter may follow, with the parameters that the answers must reveal. Pure.
//
//   structure    a primitive with its modifiers: "a fixed window from the first request, which a refused request restarts"
//   parameters   limit, part (a second count), span and other (times in ms), shift (the phase of the limiter's own grid)
//
// Structures that decide alike for one cost and one key appear once: a bucket of B tokens, a GCRA, nginx with nodelay and Guava's bursty
// limiter are one; a bucket that each tick fills up is a fixed window on a grid.
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';

export interface Parameters {
  readonly limit: number;
  /** Number of segments, tokens per tick, or requests that are not held. */
  readonly part: number;
  readonly spanMs: number;
  readonly otherMs: number;
  /** How far the limiter's clock is ahead of ours, at least 0. */
  readonly shiftMs: number;
  /** Instant of counting, as a share of its uncertainty. */
  readonly countedAt: number;
  /** Sending times of slow requests that were counted at the latest instant. */
  readonly late?: readonly number[] | undefined;
  /** Some held answers were read later than they came. */
  readonly isStalled?: true | undefined;
}

export type Name = 'limit' | 'part' | 'spanMs' | 'otherMs' | 'shiftMs';

export interface Structure {
  readonly id: string;
  readonly words: string;
  readonly family: string;
  readonly definition: (parameters: Parameters) => RuleDefinition;
  readonly has: readonly Name[];
  /** Most simultaneous admissions, if `otherMs` is the time of a fraction of a request. Default: the limit. */
  readonly capacity?: ((parameters: Parameters) => number) | undefined;
  readonly period?: ((parameters: Parameters) => number) | undefined;
  /** Error of its instants by the steps in which it counts, in ms. Default: 0. */
  readonly grainMs?: ((parameters: Parameters) => number) | undefined;
  /** Counts requests in windows: all or admitted ones; successive or restarted windows; with a block after a refusal; or an estimate. */
  readonly window?: {
    readonly isAll?: true;
    readonly isFixed?: true;
    /** Each refused request restarts the window. */
    readonly isRestarted?: true;
    readonly isBlocked?: true;
    readonly isEstimate?: true;
  };
  readonly isPutOff?: true;
  readonly holds?: true;
  readonly isInFlight?: true;
  /** Fixed value of `part`, for a structure listed once per value. Default: 1. */
  readonly part?: number;
  /** Tried after the simple ones: there are many, and they may come close to a simple one. */
  readonly isFine?: true;
  readonly extends?: string;
}

export interface Hypothesis {
  readonly structure: Structure;
  readonly parameters: Parameters;
}

/** The time in which all that is used comes back. */
export function windowMsOf(hypothesis: Hypothesis): number {
  return hypothesis.parameters.spanMs * spansInWindow(hypothesis);
}

/** A bucket fills up one by one, or by as many as it gets at a tick. */
export function spansInWindow({ structure, parameters: { limit, part } }: Hypothesis): number {
  if (!isByToken(structure)) return 1;
  return isByTick(structure) ? Math.ceil(limit / part) : limit;
}

export function isInCells({ family }: Structure): boolean {
  return family === 'segmented window' || family === 'rolling count';
}

export function isByTick({ id }: Structure): boolean {
  return id.startsWith('bucket-ticks');
}

export function isByToken({ family }: Structure): boolean {
  return family === 'token bucket' || family === 'queue';
}
