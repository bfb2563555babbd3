// The order of tasks that are due at the same instant.
//
//   one instant   close -> advance -> cycle -> arrival -> service -> client -> report
//
// A contract advances into a cycle before any event of it; a report sees the complete instant.

/** Lower goes first. Integers from 0 to 31, which the agenda packs into one number with the order of adding. */
export const Rank = {
  /** The previous cycle is complete, and the next has no events yet. */
  close: 0,
  advance: 1,
  cycle: 2,
  arrival: 3,
  service: 4,
  client: 5,
  report: 9,
} as const;

export type Rank = (typeof Rank)[keyof typeof Rank];
