// What the search for an order of counting asks a rule: the states that can follow if a request is counted in a span with the observed answer.
//
//   admit    state, span ──► state, the part of the span in which the rule admits, time of release       empty if the rule refuses
//   refuse   state, span ──► state, the part of the span in which the rule refuses                       empty if the rule admits
//
// A state is known in one of two ways:
//
//   bounded    counts are exact, each remembered instant has a lower and an upper bound: schedules, windows, logs, Guava's, and combinations.
//              More may seem possible than is, never less: if nothing is possible, no order explains.
//   exact      any other rule: every step of the span is tried.

/** Both ends included, in ms on the rule's clock. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** One way to count a request: the state after it, and the instants that remain possible. */
export interface Counted<State> {
  readonly state: State;
  readonly at: Span;
  readonly released: Span;
}

export interface RuleCounting<State = unknown> {
  /** Step of the clock in the search, in ms; 0 for continuous time. */
  readonly stepMs: 0 | 1;
  readonly isBounded: boolean;
  /** Whether the rule holds admitted requests, and whether it then releases them in the order of counting. */
  readonly holds: 'none' | 'in order' | 'in any order';
  /** Possible states before the first request, at `tMs`: of a limiter made for it, or made at `longAgoMs`. */
  begin(tMs: number, longAgoMs: number): State[];
  /** @param released when it was released, if the rule releases in order; otherwise any time @param n cost */
  admit(state: State, span: Span, released: Span, n: number): Counted<State>[];
  /** @param isCharged false if the rule was only asked for its decision */
  refuse(state: State, span: Span, isCharged: boolean, n: number): Counted<State>[];
  /** Drops what no longer affects decisions from `tMs` on. */
  settled(state: State, tMs: number): State;
  /** States of different keys are never joined. */
  key(state: State): string;
  /** One state that covers two of the same key; undefined if `one` already covers `other`. */
  join(one: State, other: State): State | undefined;
}

export const ALWAYS: Span = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** Rough age of a limiter that was not made for the run, in ms. */
export const LONG_AGO_MS = 1_000_000_000;

export interface RuleClock {
  readonly stepMs: 0 | 1;
  /** In ms; may be longer or shorter than the step of the search. */
  readonly resolutionMs: number;
}
