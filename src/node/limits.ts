// Every limit of a node, with its default.
/** So many units within so many cycles. */
export interface Rate {
  readonly threshold: number;
  readonly within: number;
}

export interface Limits {
  /** Bytes of a body that is read as a whole. */
  readonly bodyBytes: number;
  /** Bytes of a body of POST …/events, which is read as it comes. */
  readonly eventsBytes: number;
  /** Bytes of the request line and all headers together. */
  readonly headerBytes: number;
  /** Until the headers, until the whole request, and between two requests of a connection, in ms. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** A connection on which nothing moves for this long is cut, whichever side is to blame. */
  readonly idleTimeoutMs: number;
  /** How often slow connections are looked for, in ms. */
  readonly connectionsCheckMs: number;
  readonly sockets: number;
  /**
   * Once the event loop has not waited for anything for `afterMs`, a turn of it answers gates and events for `gateTurnMs` and other
   * requests for `otherTurnMs`, and refuses the rest.
   */
  readonly overload: { readonly afterMs: number; readonly gateTurnMs: number; readonly otherTurnMs: number };
  readonly machinesPerOwner: number;
  readonly contractsPerOwner: number;
  /** Contracts on the node. An owner may have as many as are still free, so that a few never take all. */
  readonly contracts: number;
  /** Cycles of all windows of an owner's contracts together: each is 8 bytes, for as long as the contract is there. */
  readonly windowCyclesPerOwner: number;
  /** Readers of event streams, all together, and those of one owner, or of one address without a credential. */
  readonly readers: number;
  readonly readersPerCaller: number;
  /** Bytes that wait for one reader; beyond that it gets the rest from the store, as fast as it reads. */
  readonly readerBytes: number;
  /** How often a quiet stream shows that it lives, in ms: well within the time after which proxies cut what does not move. */
  readonly heartbeatMs: number;
  /** Walks of records that may wait for their turn: one is made at a time. */
  readonly verifications: number;
  /** How many keys one address may mint in how many cycles, and how many addresses have a count of their own at a time. */
  readonly mint: { readonly threshold: number; readonly within: number; readonly addresses: number };
  /** Sessions that an owner, and an address, may open; KiB of definitions that they may have checked. */
  readonly sessions: Rate;
  readonly definitionKib: Rate;
  /** KiB of answers that are kept under idempotency keys, of an owner and of the node. */
  readonly answersKibPerOwner: number;
  readonly answersKib: number;
  readonly keyLifetimeMs: number;
  /** Keys of an owner, revoked ones too until they expire. */
  readonly keysPerOwner: number;
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
  eventsBytes: 64 * MIB,
  headerBytes: 16 << 10,
  headersTimeoutMs: 10 * SECOND,
  requestTimeoutMs: 15 * SECOND,
  keepAliveTimeoutMs: 5 * SECOND,
  idleTimeoutMs: 30 * SECOND,
  connectionsCheckMs: 2 * SECOND,
  sockets: 10_000,
  overload: { afterMs: 1_000, gateTurnMs: 200, otherTurnMs: 50 },
  machinesPerOwner: 1_000,
  contractsPerOwner: 10_000,
  contracts: 100_000,
  windowCyclesPerOwner: 10_000_000,
  readers: 4_096,
  readersPerCaller: 256,
  readerBytes: 256 << 10,
  heartbeatMs: 10 * SECOND,
  verifications: 16,
  mint: { threshold: 10, within: 60, addresses: 1_000 },
  sessions: { threshold: 30, within: 3_600 },
  definitionKib: { threshold: 2_048, within: 60 },
  answersKibPerOwner: 16 << 10,
  answersKib: 256 << 10,
  keyLifetimeMs: 30 * 24 * HOUR,
  keysPerOwner: 1_000,
  sessionLifetimeMs: 12 * HOUR,
  noticeMs: 0,
  drainMs: 10 * SECOND,
};
