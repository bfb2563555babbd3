// Every limit of a node, with its default.

interface Rate {
  readonly threshold: number;
  readonly within: number;
}

export interface SharedRate extends Rate {
  readonly onNode: number;
}

/** How many of a thing an owner may have, and all together. An owner may have as many as are still free, so that a few never take all. */
export interface Room {
  readonly perOwner: number;
  readonly onNode: number;
}

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const MIB = 1 << 20;

export const defaultLimits = {
  /** Bytes of events, one a line, with an idempotency key: they are read as a whole. */
  bodyBytes: MIB,
  /**
   * Bytes of any other body, which is parsed in one go: of a definition, of an array of events or of many requests, of what has a few
   * fields, and where a route takes no field.
   */
  longBodyBytes: 128 << 10,
  shortBodyBytes: 16 << 10,
  emptyBodyBytes: 1 << 10,
  /** Bytes of a body of POST …/events, which is read as it comes. */
  eventsBytes: 64 * MIB,
  /** Bytes of the request line and all headers together. */
  headerBytes: 16 << 10,
  /** Until the headers, and until the whole request, in ms. */
  headersTimeoutMs: 10 * SECOND,
  requestTimeoutMs: 15 * SECOND,
  /**
   * How long a connection waits for its next request, in ms. The gateway has to be the one that closes it: a request sent while the
   * node closes is lost. nginx keeps a connection for 60 s, Go and Traefik for 90 s, Caddy for 120 s.
   */
  keepAliveTimeoutMs: 130 * SECOND,
  /** A connection on which nothing moves for this long is cut, whichever side is to blame. */
  idleTimeoutMs: 30 * SECOND,
  /** How often slow connections are looked for, in ms. */
  connectionsCheckMs: 2 * SECOND,
  /** Connections over all ports; `perOwner`: of an address. */
  sockets: { perOwner: 1_024, onNode: 10_000 },
  /**
   * Once the event loop has not waited for anything for `afterMs`, a turn of it answers gates and events for `gateTurnMs` and other
   * requests for `otherTurnMs`, and refuses the rest. Time in which the machine stood still counts for none of them.
   */
  overload: { afterMs: 1_000, gateTurnMs: 200, otherTurnMs: 50 },
  /** Requests, beside gates and events, of one owner, or of one address without a credential, that may wait for their turn. */
  waitingPerCaller: 256,
  machines: { perOwner: 1_000, onNode: 100_000 },
  /** Machines that were deleted, and whose records are still read. */
  deletedMachines: { perOwner: 1_000, onNode: 100_000 },
  contracts: { perOwner: 10_000, onNode: 100_000 },
  /** Cycles of all windows together: each is 8 bytes, for as long as the contract is there, and is written every cycle in which it changes. */
  windowCycles: { perOwner: 2_000_000, onNode: 50_000_000 },
  /** Cells of 8 bytes that the keys of all contracts with keys may take if all count in every cycle, and have the longest names. */
  keyCells: { perOwner: 128_000_000, onNode: 1_024_000_000 },
  /** Bytes of the texts of definitions; those of an owner that are equal count once. */
  definitionBytes: { perOwner: 8 * MIB, onNode: 256 * MIB },
  /**
   * Rows of records, and their KiB: they are kept for ever where the operator sets no number to keep. Beyond it nothing is asked of the
   * machines of an owner any more.
   */
  rows: { perOwner: 10_000_000, onNode: 100_000_000 },
  recordKib: { perOwner: 8 << 20, onNode: 64 << 20 },
  /** Readers of event streams, all together, those of one machine, and those of one owner, or of one address without a credential. */
  readers: 8_192,
  readersPerMachine: 2_048,
  readersPerCaller: 256,
  /** Contracts whose counts streams give cycle by cycle: of one stream, and of all together. Each takes some 40 kB. */
  coursesPerStream: 24,
  courses: 1_024,
  /** Bytes that wait for one reader; beyond that it gets the rest from the store, as fast as it reads. */
  readerBytes: 256 << 10,
  /** How often a quiet stream shows that it lives, in ms: well within the time after which proxies cut what does not move. */
  heartbeatMs: 10 * SECOND,
  /** Walks of records that may wait for their turn: one is made at a time. */
  verifications: 16,
  /** How many keys one address may mint in how many cycles, 0 for none at all, and how many addresses have a count of their own at a time. */
  mint: { threshold: 10, within: 60, addresses: 1_000 },
  /** Sessions that may be opened, machines that may be created, KiB of definitions that may be checked. */
  sessions: { threshold: 30, within: 3_600, onNode: 3_000 },
  newMachines: { threshold: 1_000, within: 3_600, onNode: 10_000 },
  definitionKib: { threshold: 2_048, within: 60, onNode: 16_384 },
  /** KiB of answers that are kept under idempotency keys, of an owner and of the node. */
  answersKibPerOwner: 16 << 10,
  answersKib: 256 << 10,
  keyLifetimeMs: 30 * 24 * HOUR,
  /** Keys of an owner, revoked ones too until they expire. */
  keysPerOwner: 1_000,
  /** How long the record of a deleted machine is read; its slug is free after that. */
  retentionMs: 30 * 24 * HOUR,
  sessionLifetimeMs: 12 * HOUR,
  /** How long a closing node still takes requests while /readyz says no, so that balancers turn away first; in ms. */
  noticeMs: 0,
  /** How long a closing node waits for requests that are under way, in ms. */
  drainMs: 10 * SECOND,
};

export type Limits = Readonly<typeof defaultLimits>;

/** The part of what others leave that owners of one network of addresses may have together. */
const POOL = 1 / 8;

/** How many they may have together, given what others have: more than that part where two owners could not have their bounds in it. */
export function poolOf({ perOwner, onNode }: Room, others: number): number {
  return Math.min(1, Math.max(POOL, (2 * perOwner) / onNode)) * (onNode - others);
}
