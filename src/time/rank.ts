// The order of tasks that are due at the same instant.
//
//   one instant   close -> advance -> cycle -> arrival -> service -> client -> report
//
// A contract advances into a cycle before any event of it, and a report sees the instant complete.

/** Lower goes first. Integers from 0 to 31, which the agenda keeps in one number with the order of asking. */
export const Rank = {
  /** The previous cycle is complete, and nothing of the next one has happened. */
  close: 0,
  advance: 1,
  /** Ticks of `cycles`. */
  cycle: 2,
  arrival: 3,
  service: 4,
  client: 5,
  report: 9,
} as const;

export type Rank = (typeof Rank)[keyof typeof Rank];
