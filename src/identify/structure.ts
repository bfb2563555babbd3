// The rules that a limiter may follow, each with the parameters that answers have to show. Pure.
//
//   structure    a primitive with its modifiers: "a fixed window from the first request, which a refused request restarts"
//   parameters   limit, part (a second count), span and other (times in ms), shift (where a grid of the limiter's own lies)
//
// A structure that decides as another one for a single cost and a single key stands here once: a bucket of B tokens, a GCRA, nginx with
// nodelay and Guava's bursty limiter are one; a bucket that is filled up at each tick is a fixed window on a grid.
import type { RuleDefinition } from '../limiter/rule/rule-definition.js';

export interface Parameters {
  readonly limit: number;
  /** Segments, tokens of a tick, or how many are not held. */
  readonly part: number;
  readonly spanMs: number;
  readonly otherMs: number;
  /** How much later than ours the clock of the limiter is, in ms, at least 0. */
  readonly shiftMs: number;
  /** Where requests are counted, as a part of the time between sending and answer. */
  readonly countedAt: number;
  /** Slow requests, by their sending, that were counted at the end of their time. */
  readonly late?: readonly number[] | undefined;
}

export type Name = 'limit' | 'part' | 'spanMs' | 'otherMs' | 'shiftMs';

export interface Structure {
  readonly id: string;
  readonly words: string;
  readonly family: string;
  readonly definition: (parameters: Parameters) => RuleDefinition;
  /** The parameters that it has, beside `limit` and `spanMs`. */
  readonly has: readonly Name[];
  /** How many requests it admits at once, where `otherMs` is the time of a part of one. Default: the limit. */
  readonly capacity?: ((parameters: Parameters) => number) | undefined;
  /** The period of its own grid in ms; undefined without one. */
  readonly period?: ((parameters: Parameters) => number) | undefined;
  /** How far its instants may be off by the steps in which it counts, in ms. Default: 0. */
  readonly grainMs?: ((parameters: Parameters) => number) | undefined;
  /** It counts single requests in windows: all or the admitted ones, in windows that open anew, with a block after a refusal, or by an estimate. */
  readonly window?: {
    readonly isAll?: true;
    readonly isFixed?: true;
    readonly isBlocked?: true;
    readonly isEstimate?: true;
  };
  /** Each refused request puts off when something comes back. */
  readonly isPutOff?: true;
  /** Admitted requests are held. */
  readonly holds?: true;
  /** What is in flight counts. */
  readonly isInFlight?: true;
  /** The one value of `part`, for a structure that is listed with each of several. Default: 1. */
  readonly part?: number;
  /** Looked at only once the simple ones were: there are many, and they may come close to a simple one. */
  readonly isFine?: true;
  /** The structure that it is where its additional parameter is small, or large. */
  readonly extends?: string;
}

export interface Hypothesis {
  readonly structure: Structure;
  readonly parameters: Parameters;
}

/** The time in which the whole limit comes back, in ms. */
export function windowMsOf({ structure, parameters: { spanMs, limit } }: Hypothesis): number {
  return isByToken(structure) ? spanMs * limit : spanMs;
}

/** Whether it counts in cells, the segments or cycles of a window. */
export function isInCells({ family }: Structure): boolean {
  return family === 'segmented window' || family === 'rolling count';
}

/** Whether its span is the time of a token, and not that of a window. */
export function isByToken({ family }: Structure): boolean {
  return family === 'token bucket' || family === 'queue';
}
