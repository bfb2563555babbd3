// Owns the answer to whether a record holds. Leaves finding it to verify.ts, printing it to the command and the node.
import type { Head } from './chain.js';

/** What was looked at when something did not hold. The checks of a row are listed in the order in which they are made. */
export type Check =
  | 'text'
  | 'shape'
  | 'machine'
  | 'seq'
  | 'link'
  | 'hash'
  | 'cycle'
  | 'state'
  | 'proof'
  | 'checkpoint'
  | 'tail'
  | 'key';

export interface Broken {
  /** The seq at which the record ceases to hold; absent where the rows do, and a key or a signature does not. */
  readonly seq?: number;
  /** Line of an export, or place among the values handed in, from 1; 0 for what was known before the first. */
  readonly line: number;
  readonly check: Check;
  readonly reason: string;
}

/** A checkpoint that holds: the fingerprint of its key, and whether trust in it began with a key that the reader brought. */
export interface SignedHead {
  readonly seq: number;
  readonly cycle: number;
  readonly signed_by: string;
  readonly pinned: boolean;
}

/** Field names are those of the HTTP API. */
export interface Verification {
  readonly valid: boolean;
  readonly machine: string | null;
  /** How many rows hold, counted from the first; nothing is said of those behind a broken one. */
  readonly rows: number;
  /** The last row that holds. */
  readonly head: Head | null;
  readonly first_broken: Broken | null;
  /** The newest checkpoint that holds. */
  readonly checkpoint: SignedHead | null;
  /** How many firings of operators were computed again. */
  readonly proofs: number;
}
