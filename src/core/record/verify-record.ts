// Verifies a record row by row in bounded memory, and reports the first fault. key-ring.ts decides which keys to trust.

import { EMPTY, type Head, hashOf } from './chain.js';
import type { KeyRing } from './key-ring.js';
import { recheck } from './recheck.js';
import type { AuditRow, Cut } from './row.js';
import { SeenStates } from './seen-states.js';
import { readCheckpoint, readCut, readRow } from './shape.js';
import { fingerprintOf, publicKeyFrom, textHolds } from './signing.js';
import type { Broken, Check, SignedCut, SignedHead, Verification } from './verification.js';

export interface VerifyOptions {
  /** Required if there is a checkpoint. */
  readonly keys?: KeyRing | undefined;
  readonly checkpoints?: readonly unknown[];
}

type Fault = readonly [check: Check, reason: string];

/**
 * Every method returns whether everything has held so far; after the first `false` the rest is ignored. Memory grows
 * with contracts, keys outside their initial state and checkpoints ahead of their rows, not with rows.
 * After a cut, the first row of a contract shows its state.
 */
export class RecordVerifier {
  readonly #keys: KeyRing | undefined;
  #machine: string | null = null;
  #head = EMPTY;
  #cycle = 0;
  #proofs = 0;
  readonly #states = new SeenStates();
  /** Checkpoints whose rows have not arrived yet, by seq, and the greatest seq of all checkpoints. */
  readonly #ahead = new Map<number, Signed>();
  #signedSeq = 0;
  #earlierSeq = 0;
  /** With its line and, once known, the fingerprint of its signer. */
  #cut: { readonly value: Cut; readonly line: number; signedBy: string | undefined } | undefined;
  readonly #signers = new Map<string, number>();
  #newest: SignedHead | null = null;
  #broken: Broken | null = null;

  constructor({ keys, checkpoints = [] }: VerifyOptions = {}) {
    this.#keys = keys;
    for (const checkpoint of checkpoints) this.checkpoint(checkpoint, 0);
  }

  get head(): Head {
    return this.#head;
  }

  get holds(): boolean {
    return this.#broken === null;
  }

  /**
   * Skips the rows up to a signed one that was verified earlier: checks only their order, and that the last is the row of the
   * checkpoint. An earlier change is not noticed. Call it before the first row, after `checkpoint` for that row.
   */
  resumeAfter(seq: number): void {
    this.#earlierSeq = seq;
  }

  get isEarlier(): boolean {
    return this.#head.seq < this.#earlierSeq;
  }

  /**
   * Replaces the first rows. Call it before the first row; `signedCut` checks the signature, at the latest in `end`.
   * A head saved before the cut cannot be compared any more, and does not hold.
   */
  cut(value: unknown, line: number): boolean {
    if (!this.holds) return false;
    const read = readCut(value);
    if ('fault' in read) return this.refuse(['shape', `The cut does not look like one: ${read.fault}.`], line);
    const { machine, removed_to_seq: seq, removed_hash: hash } = read.value;
    if (this.#head.seq > 0 || this.#cut !== undefined)
      return this.refuse(['seq', 'Removed rows can only be the first ones.'], line, this.#head.seq + 1);
    this.#machine ??= machine;
    if (machine !== this.#machine) {
      const reason = `The removed rows are those of ${machine}, and the record is that of ${this.#machine}.`;
      return this.refuse(['machine', reason], line);
    }
    for (const [signedSeq, signed] of this.#ahead) {
      if (signedSeq > seq || (signedSeq === seq && signed.hash === hash)) continue;
      const reason =
        signedSeq === seq
          ? `It removed another row ${seq} than the one that the node signed: the record was written anew.`
          : `Rows 1 to ${seq} were removed, and the saved head is that of row ${signedSeq}: nothing shows that it was in this record.`;
      return this.refuse(['checkpoint', reason], line, signedSeq);
    }
    this.#newest = this.#ahead.get(seq)?.head ?? null;
    this.#ahead.delete(seq);
    this.#cut = { value: read.value, line, signedBy: undefined };
    this.#states.isCut = true;
    this.#head = { seq, hash };
    return true;
  }

  signedCut(keys = this.#keys): boolean {
    if (!this.holds || this.#cut === undefined || this.#cut.signedBy !== undefined) return this.holds;
    const { value, line } = this.#cut;
    this.#cut.signedBy = keys?.signerOf(value);
    if (this.#cut.signedBy !== undefined) return true;
    const reason = `The cut of rows 1 to ${value.removed_to_seq} in cycle ${value.cycle} is not signed by ${keys ?? 'a known key'}.`;
    return this.refuse(['key', reason], line);
  }

  row(value: unknown, line: number): boolean {
    if (!this.holds) return false;
    const next = this.#head.seq + 1;
    if (next < this.#earlierSeq) return this.#skip(value, line, next);
    const read = readRow(value);
    if ('fault' in read) return this.refuse(['shape', `It does not look like a row: ${read.fault}.`], line, next);
    const fault = this.#faultOf(read.value);
    if (fault !== undefined) return this.refuse(fault, line, next);
    this.#accept(read.value);
    return true;
  }

  /** Before the row it signs or directly after it. `keys`: for a caller that learns them later. */
  checkpoint(value: unknown, line: number, keys = this.#keys): boolean {
    if (!this.holds) return false;
    const read = readCheckpoint(value);
    if ('fault' in read) return this.refuse(['shape', `The checkpoint does not look like one: ${read.fault}.`], line);
    const { machine, seq, hash, cycle } = read.value;
    this.#machine ??= machine;
    if (machine !== this.#machine) {
      const reason = `The checkpoint belongs to ${machine}, and the record to ${this.#machine}.`;
      return this.refuse(['machine', reason], line);
    }
    if (keys === undefined) return this.refuse(['key', 'No key is known to check the checkpoint by.'], line);
    const signedBy = keys.signerOf(read.value);
    if (signedBy === undefined) {
      return this.refuse(['key', `The checkpoint of row ${seq} in cycle ${cycle} is not signed by ${keys}.`], line);
    }
    const signed = { hash, head: { seq, cycle, signed_by: signedBy, pinned: keys.pinned } };
    if (seq > this.#head.seq) return this.#expect(signed, line);
    const fault: Fault | undefined =
      seq < this.#head.seq
        ? ['checkpoint', `The checkpoint signs row ${seq}, and the record goes on to row ${this.#head.seq}.`]
        : checkpointFault(signed, this.#head.hash, this.#cycle);
    if (fault !== undefined) return this.refuse(fault, line, seq);
    this.#newest = signed.head;
    return true;
  }

  refuse([check, reason]: Fault, line: number, seq?: number): false {
    this.#broken ??= { ...(seq === undefined ? {} : { seq }), line, check, reason };
    return false;
  }

  complete(): boolean {
    const { seq } = this.#head;
    if (!this.holds || this.#signedSeq <= seq) return this.holds;
    const line = this.#rows + (this.#cut === undefined ? 1 : 2);
    return this.refuse(['tail', `The node signed ${this.#signedSeq} rows, and only ${seq} are here.`], line, seq + 1);
  }

  end(): Verification {
    this.signedCut();
    this.complete();
    const { seq } = this.#head;
    const removed = this.#removed();
    return {
      valid: this.holds,
      machine: this.#machine,
      rows: this.#rows,
      head: seq === 0 ? null : this.#head,
      first_broken: this.#broken,
      checkpoint: this.#newest,
      proofs: this.#proofs,
      ...(removed === undefined ? {} : { removed }),
      ...(this.#earlierSeq === 0 ? {} : { earlier: Math.min(seq, this.#earlierSeq) }),
    };
  }

  get #rows(): number {
    return this.#head.seq - (this.#cut?.value.removed_to_seq ?? 0);
  }

  #removed(): SignedCut | undefined {
    if (this.#cut?.signedBy === undefined) return undefined;
    const { value, signedBy: signed_by } = this.#cut;
    return { to_seq: value.removed_to_seq, at: value.at, cycle: value.cycle, signed_by };
  }

  /** A row before the one to continue from: only the states of contracts are needed later. */
  #skip(value: unknown, line: number, next: number): boolean {
    const row = (typeof value === 'object' ? value : null) as AuditRow | null;
    if (row?.seq !== next) return this.refuse(['seq', `Row ${next} is due here.`], line, next);
    this.#states.take(row);
    // The signed hash of the row to continue from covers that of this one.
    this.#head = { seq: next, hash: row.hash };
    return true;
  }

  #faultOf(row: AuditRow): Fault | undefined {
    const { seq, hash } = this.#head;
    if (this.#machine !== null && row.machine !== this.#machine) {
      return ['machine', `The row belongs to ${row.machine}, and the record to ${this.#machine}.`];
    }
    if (row.seq !== seq + 1) return ['seq', `Row ${row.seq} stands where row ${seq + 1} is due.`];
    if (row.previous_hash !== hash) return ['link', 'Its previous_hash is not the hash of the row before.'];
    if (row.hash !== hashOf(row)) return ['hash', 'Its hash is not that of its content.'];
    const unsigned = this.#signatureFault(row);
    if (unsigned !== undefined) return ['key', unsigned];
    if (row.cycle < this.#cycle)
      return ['cycle', `Its cycle ${row.cycle} lies before that of the row before, ${this.#cycle}.`];
    const state = this.#states.faultOf(row);
    if (state !== undefined) return ['state', state];
    const proof = row.kind === 'transition' ? recheck(row) : undefined;
    if (proof !== undefined) return ['proof', proof];
    const signed = this.#ahead.get(row.seq);
    return signed && checkpointFault(signed, row.hash, row.cycle);
  }

  /** Signed by the key that it names; whether to trust that key is for `trusting`. */
  #signatureFault({ signed_by: key, signature, hash, seq }: AuditRow): string | undefined {
    if (key === undefined) return signature === undefined ? undefined : 'It has a signature, and names no key.';
    if (signature === undefined || !textHolds(key, 'row', hash, signature))
      return 'It is not signed by the key it names.';
    if (!this.#signers.has(key)) this.#signers.set(key, seq);
    return undefined;
  }

  trusting(isTrusted: (publicKey: string) => boolean, line: number): boolean {
    const [stranger] = [...this.#signers].filter(([key]) => !isTrusted(key));
    if (stranger === undefined) return this.holds;
    const [key, seq] = stranger;
    return this.refuse(
      ['key', `Row ${seq} is signed by ${fingerprintOf(publicKeyFrom(key))}, which is not trusted.`],
      line,
      seq,
    );
  }

  #accept(row: AuditRow): void {
    this.#machine = row.machine;
    this.#head = { seq: row.seq, hash: row.hash };
    this.#cycle = row.cycle;
    if (row.kind === 'transition') this.#proofs += row.substrate === undefined ? 1 : 2;
    this.#states.take(row);
    const signed = this.#ahead.get(row.seq);
    if (signed === undefined) return;
    this.#newest = signed.head;
    this.#ahead.delete(row.seq);
  }

  #expect(signed: Signed, line: number): boolean {
    const { seq } = signed.head;
    const other = this.#ahead.get(seq);
    if (other !== undefined && other.hash !== signed.hash) {
      return this.refuse(['checkpoint', `The node signed two different rows ${seq}.`], line, seq);
    }
    this.#ahead.set(seq, signed);
    this.#signedSeq = Math.max(this.#signedSeq, seq);
    return true;
  }
}

/** A checkpoint with a valid signature, and the hash required of its row. */
interface Signed {
  readonly hash: string;
  readonly head: SignedHead;
}

function checkpointFault({ hash, head }: Signed, rowHash: string, rowCycle: number): Fault | undefined {
  if (hash !== rowHash) return ['checkpoint', 'It is not the row that the node signed: the record was written anew.'];
  if (head.cycle < rowCycle) return ['checkpoint', `The node signed it in cycle ${head.cycle}, before it happened.`];
  return undefined;
}
