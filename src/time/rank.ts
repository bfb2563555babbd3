// The order of tasks that are due at the same instant.
//
//   one instant   close -> advance -> cycle -> arrival -> service -> client -> report
//
// A contract advances into a cycle before any event of that cycle is counted, and a report sees the instant complete.

/** Lower goes first. Integers from 0 to 31: the agenda keeps rank and order of asking in one number. */
export const Rank = {
  /** The cycle before is complete and nothing of the next one has happened: its figures are taken. */
  close: 0,
  /** The host moves its contracts into the cycle. */
  advance: 1,
  /** The cycle has begun and every contract stands in it: ticks of `cycles`. */
  cycle: 2,
  /** A request comes, or a device sends its batch. */
  arrival: 3,
  /** What stands behind the gate starts or ends its work. */
  service: 4,
  /** A client reacts: retries, gives up, drains its buffer, wakes up. */
  client: 5,
  /** Somebody looks at what has happened. */
  report: 9,
} as const;

export type Rank = (typeof Rank)[keyof typeof Rank];
