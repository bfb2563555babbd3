// Every bound of a node, with its default. What is counted is one table: who may have, or ask for, how much of what, and what the refused get;
// bounds.ts counts it. Sizes, times and turns are options of the server.
import type { FailureCode } from '../core/schema/failure.js';

/** A number within a window: for an owner, and for an address; `onNode`: for all together. */
export interface RateLimit {
  readonly threshold: number;
  /** Cycles, or a time as `1h`. */
  readonly within: number | string;
  readonly onNode: number;
}

/** A number at a time: for an owner, or an address without a credential, and for all together. */
export interface Room {
  readonly perOwner: number;
  readonly onNode: number;
  /** What a network of addresses may have of what others leave. Default: an eighth, or as much as two owners may have. */
  readonly share?: number;
}

export interface Bound<Limit> {
  readonly limit: Limit;
  /** What is counted, in words. */
  readonly of: string;
  readonly what: string;
  readonly fix: string;
  /** Default: `too_many_requests`. */
  readonly code?: FailureCode;
  /** Where all have too much together. Default: `code`. */
  readonly codeOfAll?: FailureCode;
}

const MIB = 1 << 20;

const WAIT = 'Wait as long as Retry-After says; GET /api/limits lists the bounds.';
const KEPT = { code: 'limit_reached', fix: 'Delete what you do not need, or ask another node.' } as const;
const BUSY = { code: 'node_overloaded', fix: 'Try again later, or send fewer at a time.' } as const;
const STAYS = 'Nothing was counted or changed.';
const NO_MACHINE = 'No machine was created.';
const NO_CONTRACT = 'No contract was created.';
const NO_STREAM = 'The stream was not opened.';

// biome-ignore format: one bound a line
export const RATES = {
  mint: { limit: per(10, 60, 1_000), of: 'free keys', what: 'No key was minted.', fix: WAIT },
  sessions: { limit: per(30, 3_600, 3_000), of: 'sessions', what: 'No session was opened.', fix: WAIT },
  newMachines: { limit: per(1_000, 3_600, 10_000), of: 'new machines', what: NO_MACHINE, fix: WAIT },
  definitionKib: { limit: per(2_048, 60, 16_384), of: 'KiB of definitions to check', what: 'The definition was not checked.', fix: WAIT },
} as const satisfies Readonly<Record<string, Bound<RateLimit>>>;

// biome-ignore format: one bound a line
export const ROOMS = {
  machines: { limit: room(1_000, 100_000), of: 'machines', what: NO_MACHINE, ...KEPT, fix: 'Put further contracts on the machines you have.' },
  /** Whose records are still kept. */
  deletedMachines: { limit: room(1_000, 100_000), of: 'deleted machines whose records are kept', what: NO_MACHINE, ...KEPT },
  contracts: { limit: room(10_000, 100_000), of: 'contracts', what: NO_CONTRACT, ...KEPT, fix: 'Let several clients share one.' },
  /** 8 bytes each while the contract exists, written in every cycle in which they change. */
  windowCycles: { limit: room(2_000_000, 50_000_000), of: "cycles of its contracts' windows", what: NO_CONTRACT, ...KEPT, fix: 'Choose shorter windows.' },
  /** Cells of 8 bytes. The worst case: all keys count in every cycle and have the longest names. */
  keyCells: { limit: room(128_000_000, 1_024_000_000), of: 'cells for keys', what: NO_CONTRACT, ...KEPT, fix: 'Choose fewer max_keys or shorter windows.' },
  /** Equal texts of an owner count once. */
  definitionBytes: { limit: room(8 * MIB, 256 * MIB), of: 'bytes of definitions', what: NO_CONTRACT, ...KEPT, fix: 'Let contracts share a definition.' },
  /** At the bound of either the owner's machines only take deletions: see ownership.ts. */
  rows: { limit: room(10_000_000, 100_000_000), of: 'rows', what: STAYS, ...KEPT },
  recordKib: { limit: room(8 << 20, 64 << 20), of: 'KiB of rows', what: STAYS, ...KEPT },
  /** Kept under idempotency keys, until the windows that counted them have passed. */
  answersKib: { limit: room(16 << 10, 256 << 10), of: 'KiB of kept answers', what: STAYS, fix: 'Send fewer requests with more events each, or wait a window.' },
  sockets: { limit: room(1_024, 10_000), of: 'connections', what: 'The connection was cut.', ...BUSY },
  /** Bodies that have not ended yet. */
  openBodyBytes: { limit: room(64 * MIB, 512 * MIB), of: 'bytes of bodies under way', what: 'The body was not read to its end.', ...BUSY },
  /** All readers of a machine may come from one network. */
  streams: { limit: room(256, 8_192, 1 / 4), of: 'streams', what: NO_STREAM, ...BUSY, code: 'too_many_requests', codeOfAll: BUSY.code },
  /** Whose counts are streamed: each takes up to 80 kB. All readers may be in one network. */
  watchedContracts: { limit: room(1_024, 1_024, 1 / 2), of: 'contracts whose counts are watched', what: NO_STREAM, ...BUSY },
  /** Walks of records; one runs at a time. */
  verifications: { limit: room(16, 16, 1 / 2), of: 'records waiting to be verified', what: 'The record was not verified.', ...BUSY },
} as const satisfies Readonly<Record<string, Bound<Room>>>;

function per(threshold: number, within: number, onNode: number): RateLimit {
  return { threshold, within, onNode };
}

function room(perOwner: number, onNode: number, share?: number): Room {
  return { perOwner, onNode, ...(share !== undefined && { share }) };
}

export type RateName = keyof typeof RATES;
export type RoomName = keyof typeof ROOMS;

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

const sizes = {
  /** Bytes of bodies, which are parsed at once: arrays of events; definitions, which are checked at once, too, and others; no field. */
  longBodyBytes: 128 << 10,
  shortBodyBytes: 32 << 10,
  emptyBodyBytes: 1 << 10,
  /** Bytes of the request line and all headers. */
  headerBytes: 16 << 10,
  headersTimeoutMs: 10 * SECOND,
  requestTimeoutMs: 15 * SECOND,
  // The gateway must close an idle connection first: a request sent while the node closes it is lost.
  // nginx keeps a connection for 60 s, Go and Traefik for 90 s, Caddy for 120 s.
  keepAliveTimeoutMs: 130 * SECOND,
  idleTimeoutMs: 30 * SECOND,
  connectionsCheckMs: 2 * SECOND,
  // Once the event loop has been busy for `afterMs`, one turn answers gates and events for `gateTurnMs`, other requests
  // for `otherTurnMs`, and refuses the rest. Time while the machine was stopped does not count.
  overload: { afterMs: 1_000, gateTurnMs: 200, otherTurnMs: 50 },
  /** Queued requests, beside gates and events, per owner, or per address without a credential. */
  waitingPerCaller: 256,
  /** Bytes buffered for one reader; the rest it gets from the store, as fast as it reads. */
  readerBytes: 256 << 10,
  /** How often a quiet stream sends a comment: well within the idle timeout of proxies. */
  heartbeatMs: 10 * SECOND,
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

export type Limits = Readonly<typeof sizes & Record<RateName, RateLimit> & Record<RoomName, Room>>;

const counted = Object.entries({ ...RATES, ...ROOMS }).map(([name, { limit }]) => [name, limit]);

export const defaultLimits = { ...sizes, ...Object.fromEntries(counted) } as Limits;

/** The name of a limit in the API: `windowCycles` is `window_cycles`. */
export function nameOfLimit(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Share of what others leave that owners of one network of addresses may have together. */
const NETWORK_SHARE = 1 / 8;

/** The room of one network of addresses, given what others have: above its share if two owners would not fit into it. */
export function roomOfNetwork({ perOwner, onNode, share }: Room, others: number): number {
  return (share ?? Math.min(1, Math.max(NETWORK_SHARE, (2 * perOwner) / onNode))) * (onNode - others);
}
