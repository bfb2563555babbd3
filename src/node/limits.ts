// Every limit of a node, with its default.

export interface Rate {
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

export interface Limits {
  /** Bytes of events, one a line, with an idempotency key: they are read as a whole. */
  readonly bodyBytes: number;
  /**
   * Bytes of any other body, which is parsed in one go: of a definition, of an array of events or of many requests, of what has a few
   * fields, and where a route takes no field.
   */
  readonly longBodyBytes: number;
  readonly shortBodyBytes: number;
  readonly emptyBodyBytes: number;
  /** Bytes of a body of POST …/events, which is read as it comes. */
  readonly eventsBytes: number;
  /** Bytes of the request line and all headers together. */
  readonly headerBytes: number;
  /** Until the headers, and until the whole request, in ms. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /**
   * How long a connection waits for its next request, in ms. The gateway has to be the one that closes it: a request sent while the
   * node closes is lost. nginx keeps a connection for 60 s, Go and Traefik for 90 s, Caddy for 120 s.
   */
  readonly keepAliveTimeoutMs: number;
  /** A connection on which nothing moves for this long is cut, whichever side is to blame. */
  readonly idleTimeoutMs: number;
  /** How often slow connections are looked for, in ms. */
  readonly connectionsCheckMs: number;
  /** Connections over all ports; `perOwner`: of an address. */
  readonly sockets: Room;
  /**
   * Once the event loop has not waited for anything for `afterMs`, a turn of it answers gates and events for `gateTurnMs` and other
   * requests for `otherTurnMs`, and refuses the rest. Time in which the machine stood still counts for none of them.
   */
  readonly overload: { readonly afterMs: number; readonly gateTurnMs: number; readonly otherTurnMs: number };
  /** Requests, beside gates and events, of one owner, or of one address without a credential, that may wait for their turn. */
  readonly waitingPerCaller: number;
  readonly machines: Room;
  /** Machines that were deleted, and whose records are still read. */
  readonly deletedMachines: Room;
  readonly contracts: Room;
  /** Cycles of all windows together: each is 8 bytes, for as long as the contract is there, and is written every cycle in which it changes. */
  readonly windowCycles: Room;
  /** Cells of 8 bytes that the keys of all contracts with keys may take if all count in every cycle, and have the longest names. */
  readonly keyCells: Room;
  /** Bytes of the texts of definitions; those of an owner that are equal count once. */
  readonly definitionBytes: Room;
  /**
   * Rows of records, and their KiB: they are kept for ever where the operator sets no number to keep. Beyond it nothing is asked of the
   * machines of an owner any more.
   */
  readonly rows: Room;
  readonly recordKib: Room;
  /** Readers of event streams, all together, those of one machine, and those of one owner, or of one address without a credential. */
  readonly readers: number;
  readonly readersPerMachine: number;
  readonly readersPerCaller: number;
  /** Contracts whose counts streams give cycle by cycle: of one stream, and of all together. Each takes some 40 kB. */
  readonly coursesPerStream: number;
  readonly courses: number;
  /** Bytes that wait for one reader; beyond that it gets the rest from the store, as fast as it reads. */
  readonly readerBytes: number;
  /** How often a quiet stream shows that it lives, in ms: well within the time after which proxies cut what does not move. */
  readonly heartbeatMs: number;
  /** Walks of records that may wait for their turn: one is made at a time. */
  readonly verifications: number;
  /** How many keys one address may mint in how many cycles, 0 for none at all, and how many addresses have a count of their own at a time. */
  readonly mint: { readonly threshold: number; readonly within: number; readonly addresses: number };
  /** Sessions that may be opened, machines that may be created, KiB of definitions that may be checked. */
  readonly sessions: SharedRate;
  readonly newMachines: SharedRate;
  readonly definitionKib: SharedRate;
  /** KiB of answers that are kept under idempotency keys, of an owner and of the node. */
  readonly answersKibPerOwner: number;
  readonly answersKib: number;
  readonly keyLifetimeMs: number;
  /** Keys of an owner, revoked ones too until they expire. */
  readonly keysPerOwner: number;
  /** How long the record of a deleted machine is read; its slug is free after that. */
  readonly retentionMs: number;
  readonly sessionLifetimeMs: number;
  /** How long a closing node still takes requests while /readyz says no, so that balancers turn away first; in ms. */
  readonly noticeMs: number;
  /** How long a closing node waits for requests that are under way, in ms. */
  readonly drainMs: number;
}

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const MIB = 1 << 20;

export const defaultLimits: Limits = {
  bodyBytes: MIB,
  longBodyBytes: 128 << 10,
  shortBodyBytes: 16 << 10,
  emptyBodyBytes: 1 << 10,
  eventsBytes: 64 * MIB,
  headerBytes: 16 << 10,
  headersTimeoutMs: 10 * SECOND,
  requestTimeoutMs: 15 * SECOND,
  keepAliveTimeoutMs: 130 * SECOND,
  idleTimeoutMs: 30 * SECOND,
  connectionsCheckMs: 2 * SECOND,
  sockets: { perOwner: 1_024, onNode: 10_000 },
  overload: { afterMs: 1_000, gateTurnMs: 200, otherTurnMs: 50 },
  waitingPerCaller: 256,
  machines: { perOwner: 1_000, onNode: 100_000 },
  deletedMachines: { perOwner: 1_000, onNode: 100_000 },
  contracts: { perOwner: 10_000, onNode: 100_000 },
  windowCycles: { perOwner: 2_000_000, onNode: 50_000_000 },
  keyCells: { perOwner: 128_000_000, onNode: 1_024_000_000 },
  definitionBytes: { perOwner: 8 * MIB, onNode: 256 * MIB },
  rows: { perOwner: 10_000_000, onNode: 100_000_000 },
  recordKib: { perOwner: 8 << 20, onNode: 64 << 20 },
  readers: 8_192,
  readersPerMachine: 2_048,
  readersPerCaller: 256,
  coursesPerStream: 24,
  courses: 1_024,
  readerBytes: 256 << 10,
  heartbeatMs: 10 * SECOND,
  verifications: 16,
  mint: { threshold: 10, within: 60, addresses: 1_000 },
  sessions: { threshold: 30, within: 3_600, onNode: 3_000 },
  newMachines: { threshold: 1_000, within: 3_600, onNode: 10_000 },
  definitionKib: { threshold: 2_048, within: 60, onNode: 16_384 },
  answersKibPerOwner: 16 << 10,
  answersKib: 256 << 10,
  keyLifetimeMs: 30 * 24 * HOUR,
  keysPerOwner: 1_000,
  retentionMs: 30 * 24 * HOUR,
  sessionLifetimeMs: 12 * HOUR,
  noticeMs: 0,
  drainMs: 10 * SECOND,
};

/** The part of what others leave that owners of one network of addresses may have together. */
const POOL = 1 / 8;

/** How many they may have together, given what others have: more than that part where two owners could not have their bounds in it. */
export function poolOf({ perOwner, onNode }: Room, others: number): number {
  return Math.min(1, Math.max(POOL, (2 * perOwner) / onNode)) * (onNode - others);
}
