// What the search for an order of counting asks of a rule: which states follow if a request is counted at some instant of a span of time,
// and answered as it was seen.
//
//   admit    state, span ──► state, the part of the span in which the rule admits, when it releases      none where the rule refuses
//   refuse   state, span ──► state, the part of the span in which the rule refuses                       none where the rule admits
//
// Two ways to know a state:
//
//   within bounds    counts are exact, and each instant that the rule remembers lies between two. Schedules, windows, logs, Guava's, and
//                    what is made of them. More may seem possible than is, and never less: where nothing is possible, no order explains.
//   exactly          any other rule: every step of the span is tried.

/** All instants between two, both included, in ms by the clock of the rule. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A request that was counted: the state after it, and the instants that are left. */
export interface Counted<State> {
  readonly state: State;
  readonly at: Span;
  /** When it is released, if it was admitted. */
  readonly released: Span;
}

export interface Counting<State = unknown> {
  /** The steps of the clock that the search follows, in ms; 0 for a clock in continuous time. */
  readonly stepMs: 0 | 1;
  /** Whether states are known within bounds, and not exactly. */
  readonly isBounded: boolean;
  /** Whether admitted requests are held, and then whether they are released in the order in which they were counted. */
  readonly holds: 'none' | 'in order' | 'in any order';
  /** What the limiter may be before its first request, at `tMs`: it was made for it, or long ago. */
  begin(tMs: number, longAgoMs: number): State[];
  /** @param released when it was released, where the rule releases in order; else any time @param n cost */
  admit(state: State, span: Span, released: Span, n: number): Counted<State>[];
  /** @param isCharged whether the request is told to the rule, or the rule was only asked what it would have decided */
  refuse(state: State, span: Span, isCharged: boolean, n: number): Counted<State>[];
  /** What decides as the state does from `tMs` on, with what no longer decides left out. */
  settled(state: State, tMs: number): State;
  /** States of different keys are never joined. */
  key(state: State): string;
  /** One state for two of the same key. Undefined where the first is as wide already. */
  join(one: State, other: State): State | undefined;
}

export const ALWAYS: Span = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** About when a limiter was made that was not made for the run, in ms. */
export const LONG_AGO_MS = 1_000_000_000;

/** The clock that a rule reads. */
export interface RuleClock {
  readonly stepMs: 0 | 1;
  /** Steps that are longer or shorter than those of the search, in ms. */
  readonly resolutionMs: number;
}
