// The result of verifying a record.
import type { Head } from './chain.js';

/** What was being checked when something did not hold. The checks of a row are listed in the order in which they are made. */
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
  /** The first seq that does not hold; absent if the rows hold and a key or a signature does not. */
  readonly seq?: number;
  /** Line of an export, or position among the values passed, from 1; 0 for checkpoints known in advance. */
  readonly line: number;
  readonly check: Check;
  readonly reason: string;
}

/** A checkpoint that holds: the fingerprint of its key, and whether trust in it starts from a key that the reader supplied. */
export interface SignedHead {
  readonly seq: number;
  readonly cycle: number;
  readonly signed_by: string;
  readonly pinned: boolean;
}

/** The rows 1 to `to_seq` were removed, as the node signed. */
export interface SignedCut {
  readonly to_seq: number;
  readonly at: string;
  readonly cycle: number;
  readonly signed_by: string;
}

/** Field names are those of the HTTP API. */
export interface Verification {
  readonly valid: boolean;
  readonly machine: string | null;
  /** Number of rows that hold, from the first that is there; rows after a broken one are not checked. */
  readonly rows: number;
  readonly head: Head | null;
  readonly first_broken: Broken | null;
  readonly checkpoint: SignedHead | null;
  /** Number of operator results that were computed again. */
  readonly proofs: number;
  /** The signed statement on rows that were removed; absent if none were. */
  readonly removed?: SignedCut;
  /** Rows, from the first, that were verified earlier and not again, but for the last of them; absent where all were verified now. */
  readonly earlier?: number;
}

/** The same result, but not valid where nothing pins the key of the node. */
export function pinnedOnly(found: Verification): Verification {
  if (!found.valid || found.checkpoint?.pinned === true) return found;
  const reason =
    'No key of the node is pinned or given: a forger could have signed the record with a key of their own.';
  return { ...found, valid: false, first_broken: { line: found.rows + (found.removed ? 2 : 1), check: 'key', reason } };
}
