// Every limit of a node, with its default.
interface Rate {
  readonly threshold: number;
  readonly within: number;
}

export interface SharedRate extends Rate {
  readonly onNode: number;
}

/** Owners may have at most `perOwner`, and at most as many as are still free, so that a few never take all. */
export interface Room {
  readonly perOwner: number;
  readonly onNode: number;
}

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const MIB = 1 << 20;

export const defaultLimits = {
  /** Bytes of bodies, which are parsed at once: definitions and arrays of events; a few fields; no field. */
  longBodyBytes: 128 << 10,
  shortBodyBytes: 16 << 10,
  emptyBodyBytes: 1 << 10,
  /** Bytes of bodies that have not ended yet; `perOwner`: per owner, or per address without a credential. */
  openBodyBytes: { perOwner: 64 * MIB, onNode: 512 * MIB },
  /** Bytes of the request line and all headers. */
  headerBytes: 16 << 10,
  headersTimeoutMs: 10 * SECOND,
  requestTimeoutMs: 15 * SECOND,
  // The gateway must close an idle connection first: a request sent while the node closes it is lost.
  // nginx keeps a connection for 60 s, Go and Traefik for 90 s, Caddy for 120 s.
  keepAliveTimeoutMs: 130 * SECOND,
  idleTimeoutMs: 30 * SECOND,
  connectionsCheckMs: 2 * SECOND,
  /** Connections over all ports; `perOwner`: per address. */
  sockets: { perOwner: 1_024, onNode: 10_000 },
  // Once the event loop has been busy for `afterMs`, one turn answers gates and events for `gateTurnMs`, other requests
  // for `otherTurnMs`, and refuses the rest. Time while the machine was stopped does not count.
  overload: { afterMs: 1_000, gateTurnMs: 200, otherTurnMs: 50 },
  /** Queued requests, beside gates and events, per owner, or per address without a credential. */
  waitingPerCaller: 256,
  machines: { perOwner: 1_000, onNode: 100_000 },
  deletedMachines: { perOwner: 1_000, onNode: 100_000 },
  contracts: { perOwner: 10_000, onNode: 100_000 },
  /** Cycles of all windows: 8 bytes each while the contract exists, written in every cycle in which they change. */
  windowCycles: { perOwner: 2_000_000, onNode: 50_000_000 },
  /** Cells of 8 bytes for the keys, in the worst case: all count in every cycle and have the longest names. */
  keyCells: { perOwner: 128_000_000, onNode: 1_024_000_000 },
  /** Bytes of definition texts; equal texts of an owner count once. */
  definitionBytes: { perOwner: 8 * MIB, onNode: 256 * MIB },
  /** Rows of records, and their KiB. At the bound the owner's machines only take deletions: see ownership.ts. */
  rows: { perOwner: 10_000_000, onNode: 100_000_000 },
  recordKib: { perOwner: 8 << 20, onNode: 64 << 20 },
  /** Readers of event streams: in total, per machine, and per owner or per address without a credential. */
  readers: 8_192,
  readersPerMachine: 2_048,
  readersPerCaller: 256,
  /** Contracts whose counts are streamed: per stream, and in total. Each takes up to 80 kB. */
  watchedContractsPerStream: 24,
  watchedContracts: 1_024,
  /** Bytes buffered for one reader; the rest it gets from the store, as fast as it reads. */
  readerBytes: 256 << 10,
  /** How often a quiet stream sends a comment: well within the idle timeout of proxies. */
  heartbeatMs: 10 * SECOND,
  /** Queued walks of records; one runs at a time. */
  verifications: 16,
  /** Keys per address, 0 for none at all; `addresses`: how many have a count of their own at a time. */
  mint: { threshold: 10, within: 60, addresses: 1_000 },
  sessions: { threshold: 30, within: 3_600, onNode: 3_000 },
  newMachines: { threshold: 1_000, within: 3_600, onNode: 10_000 },
  definitionKib: { threshold: 2_048, within: 60, onNode: 16_384 },
  /** KiB of answers kept under idempotency keys. */
  answersKib: { perOwner: 16 << 10, onNode: 256 << 10 },
  keyLifetimeMs: 30 * 24 * HOUR,
  /** Keys of an owner, including revoked ones until they expire. */
  keysPerOwner: 1_000,
  /** How long the record of a deleted machine is readable; then its slug is free. */
  retentionMs: 30 * 24 * HOUR,
  sessionLifetimeMs: 12 * HOUR,
  /** How long an answer on a network of nodes waits for the row of its change. */
  linkedWithinMs: 3 * SECOND,
  /** How long a closing node accepts requests while /readyz says no, so that balancers turn away first. */
  noticeMs: 0,
  /** How long a kept connection is silent before a closing node ends it: a request may be on its way. */
  quietMs: 500,
  drainMs: 10 * SECOND,
};

export type Limits = Readonly<typeof defaultLimits>;

/** Rooms of owners, and rates per source; both are shown and set by `nameOfLimit`. */
export const ROOMS = [
  ...(['machines', 'contracts', 'windowCycles', 'keyCells', 'definitionBytes', 'rows', 'recordKib'] as const),
];
export const RATES = ['sessions', 'newMachines', 'definitionKib'] as const;

/** The name of a limit in the API: `windowCycles` is `window_cycles`. */
export function nameOfLimit(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Share of what others leave that owners of one network of addresses may have together. */
const NETWORK_SHARE = 1 / 8;

/** The room of one network of addresses, given what others have: above `NETWORK_SHARE` if two owners would not fit into it. */
export function roomOfNetwork({ perOwner, onNode }: Room, others: number): number {
  return Math.min(1, Math.max(NETWORK_SHARE, (2 * perOwner) / onNode)) * (onNode - others);
}
