// Owns the chain: each row carries the hash of the one before, so that no row can change without all later ones. Leaves checking
// to verify.ts, the word of the node for how long the chain is to signing.ts.
//
//   000…0 ◄── row 1 ◄── row 2 ◄── row 3        hash = SHA-256(canonical JSON of the row without `hash`)
import { digestOf } from '../schema/canonical.js';
import { type AuditEntry, type AuditRow, GENESIS } from './row.js';

/** The end of a chain: the last row, or where the first one begins. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
}

/** The head of a chain without rows. */
export const EMPTY: Head = Object.freeze({ seq: 0, hash: GENESIS });

/** The entry as the row that follows `previous`. @throws Bug for a field that is there and undefined, or a number that is not finite */
export function link(previous: Head, entry: AuditEntry): AuditRow {
  const content = { ...entry, seq: previous.seq + 1, previous_hash: previous.hash };
  return { ...content, hash: digestOf(content) };
}

/** The hash that the content of the row gives, whatever its field `hash` says. */
export function hashOf(row: AuditRow): string {
  const { hash: _, ...content } = row;
  return digestOf(content);
}
