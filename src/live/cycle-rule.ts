// Rules of limiters as arithmetic on bounds: what is taken of the limit in a cycle, when the counts before are known within bounds only.
//
//   rolling     |  c - within + 1  ...  c |         all requests of these cycles
//   sliding   |/|.................|/|               the same to the millisecond; /: a part of a cycle, in the window or not

export interface Range {
  readonly least: number;
  readonly most: number;
}

/** What was counted, as far as it is known. Cycles are those of the rule; both ends are included. */
export interface Counted {
  /** Requests without an answer that may have been counted and admitted are in `most`. */
  admitted(from: number, to: number): Range;
  limited(from: number, to: number): Range;
}

/** A rule that decides cycle by cycle: rolling and fixed windows, buckets, cell rates. */
export interface CycleRule {
  readonly limit: number;
  /** Length of a cycle in ms. */
  readonly cycleMs: number;
  /** Whether instants within a cycle make no difference: it then admits first and limits afterwards, and its phase matters. */
  readonly isByCycle: boolean;
  /**
   * What is taken of the limit in a cycle, by the requests admitted up to the cycle `admittedTo`, which is the same or the one before,
   * and by whatever else was counted in earlier cycles. A request admitted in the cycle adds 1 or less.
   * It has to be sound: the true value lies within the result whenever all counts lie within `counted`.
   */
  load(cycle: number, admittedTo: number, counted: Counted): Range;
}

/** At most `threshold` requests, limited ones included, in `within` cycles. */
export function rollingWindow(threshold: number, within: number, cycleMs: number): CycleRule {
  return {
    limit: threshold,
    cycleMs,
    isByCycle: true,
    load: (cycle, admittedTo, counted) => sum(counted, cycle - within + 1, admittedTo, cycle - 1),
  };
}

/** The same to the millisecond, looked at in parts of a cycle: some of the oldest part has left the window. */
export function slidingWindow(threshold: number, within: number, cycleMs: number): CycleRule {
  const parts = within * PARTS;
  return {
    limit: threshold,
    cycleMs: cycleMs / PARTS,
    isByCycle: false,
    load: (part, admittedTo, counted) => ({
      least: sum(counted, part - parts + 1, admittedTo, part - 1).least,
      most: sum(counted, part - parts, admittedTo, part - 1).most,
    }),
  };
}

const PARTS = 8;

function sum(counted: Counted, from: number, admittedTo: number, limitedTo: number): Range {
  const [admitted, limited] = [counted.admitted(from, admittedTo), counted.limited(from, limitedTo)];
  return { least: admitted.least + limited.least, most: admitted.most + limited.most };
}
