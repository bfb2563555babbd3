// The chain of a record: each row contains the hash of the row before it, so changing one row changes all later hashes.
//
//   000…0 ◄── row 1 ◄── row 2 ◄── row 3        hash = SHA-256(canonical JSON of the row without `hash`)
import { digestOf } from '../schema/canonical.js';
import { type AuditEntry, type AuditRow, GENESIS } from './row.js';

/** The last row, or, before the first row, the start of the chain. */
export type Head = Pick<AuditRow, 'seq' | 'hash'>;

export const EMPTY: Head = Object.freeze({ seq: 0, hash: GENESIS });

/** @throws Bug for a field that is present but undefined, or for a number that is not finite */
export function link(previous: Head, entry: AuditEntry): AuditRow {
  const content = { ...entry, seq: previous.seq + 1, previous_hash: previous.hash };
  return { ...content, hash: digestOf(content) };
}

/** Computed without `hash` and `signature`. */
export function hashOf(row: AuditRow): string {
  const { hash: _, signature: __, ...content } = row;
  return digestOf(content);
}
