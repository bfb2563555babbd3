// The mark of a data folder: the last row of each machine, and the number of the last commit, in a file of its own beside the database.
// SQLite takes a log that is gone or cut off for a log that ends earlier; compared with the mark at the start, it is known which
// acknowledged rows are missing, and whether counts are.
//
//   commit    weir.db-wal written, synced ─► weir.heads written ─► answers            the mark is never ahead of what was durable
//                                                  └─ synced, in the background       and survives the process at once
//
//   weir.heads   one slot of 96 bytes for each machine, in order of its first row; one without a slug, for the commits
//   slot         seq of the last row (8) | length of the slug (1) | slug | zeros | CRC-32 of the bytes before (4)
//
// After a power failure the mark may lack the rows of the last few milliseconds. A slot that is torn counts as none.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

const SLOT_BYTES = 96;
const CHECKED_BYTES = SLOT_BYTES - 4;

/** Rows of a machine that were acknowledged and are not in the database: `fromSeq .. toSeq`. */
export interface MissingRows {
  readonly machine: string;
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** The name of the slot whose seq is the number of the last commit: no machine has it. */
const COMMITS = '';

export class HeadMark {
  readonly #file: number;
  /** The seq of the mark, and its slot, by machine. */
  readonly #marked = new Map<string, { seq: number; readonly slot: number }>();
  /** Heads of the transaction that is not committed yet. */
  readonly #pending = new Map<string, number>();
  readonly #slot = Buffer.alloc(SLOT_BYTES);
  /** Slots of machines that were removed. */
  readonly #free: number[] = [];
  #isSyncing = false;
  #isSyncedAll = true;
  #isClosed = false;

  /** Opens the mark of a folder; it is made if it is missing. */
  constructor(dir: string, name = 'weir.heads') {
    const path = join(dir, name);
    this.#file = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
    const bytes = fs.readFileSync(this.#file);
    for (let slot = 0; (slot + 1) * SLOT_BYTES <= bytes.length; slot += 1) {
      const head = readSlot(bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES));
      if (head?.seq === 0 && head.machine !== COMMITS) {
        this.#free.push(slot);
        continue;
      }
      // A slot that cannot be read keeps its place, under a name that no machine has.
      this.#marked.set(head?.machine ?? `?${slot}`, { seq: head?.seq ?? 0, slot });
    }
  }

  /** Machines that have rows. */
  get machines(): string[] {
    return [...this.#marked].flatMap(([machine, { seq }]) => (machine === COMMITS || seq === 0 ? [] : [machine]));
  }

  /** What the mark has and the database has not. @param seqOf the seq of the last row of a machine, 0 for none */
  missing(seqOf: (machine: string) => number): MissingRows[] {
    const missing: MissingRows[] = [];
    for (const [machine, { seq: toSeq }] of this.#marked) {
      if (machine === COMMITS) continue;
      const seq = toSeq === 0 ? 0 : seqOf(machine);
      if (seq < toSeq) missing.push({ machine, fromSeq: seq + 1, toSeq });
    }
    return missing;
  }

  /** The number of the last commit; 0 in a mark of an earlier version. */
  get commits(): number {
    return this.#marked.get(COMMITS)?.seq ?? 0;
  }

  /** The number of the transaction that is being written. */
  noteCommit(number: number): void {
    this.#pending.set(COMMITS, number);
  }

  /** Whether the database has rows that the mark has not. */
  isBehind(machine: string, seq: number): boolean {
    return (this.#marked.get(machine)?.seq ?? 0) < seq;
  }

  /** The head of a machine in the transaction that is being written. */
  note(machine: string, seq: number): void {
    this.#pending.set(machine, seq);
  }

  /** The whole mark. */
  bytes(): Buffer {
    const bytes = Buffer.alloc((this.#marked.size + this.#free.length) * SLOT_BYTES);
    return bytes.subarray(0, fs.readSync(this.#file, bytes, 0, bytes.length, 0));
  }

  /** A machine is about to be removed: written and synced at once, so that the mark is not ahead whatever happens next. */
  remove(machine: string): void {
    this.#pending.delete(machine);
    const mark = this.#marked.get(machine);
    if (mark === undefined) return;
    this.#put(machine, 0);
    fs.fdatasyncSync(this.#file);
    this.#marked.delete(machine);
    this.#free.push(mark.slot);
  }

  /** The transaction was rolled back. */
  forget(): void {
    this.#pending.clear();
  }

  /** The transaction is durable. A mark that cannot be written stays behind, which is safe. */
  write(): void {
    if (this.#pending.size === 0) return;
    try {
      for (const [machine, seq] of this.#pending) this.#put(machine, seq);
      this.#isSyncedAll = false;
      this.#sync();
    } catch {
      // The next commit writes the heads that it has.
    } finally {
      this.#pending.clear();
    }
  }

  close(): void {
    // A sync that is under way may find another file at its number: one sync more does no harm.
    this.#isClosed = true;
    try {
      fs.fdatasyncSync(this.#file);
    } finally {
      fs.closeSync(this.#file);
    }
  }

  #put(machine: string, seq: number): void {
    let mark = this.#marked.get(machine);
    if (mark === undefined) {
      mark = { seq, slot: this.#free.pop() ?? this.#marked.size };
      this.#marked.set(machine, mark);
    }
    mark.seq = seq;
    const slot = this.#slot.fill(0);
    slot.writeDoubleLE(seq);
    slot.writeUInt8(slot.write(machine, 9, 'latin1'), 8);
    slot.writeUInt32LE(crc32(slot.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
    fs.writeSync(this.#file, slot, 0, SLOT_BYTES, mark.slot * SLOT_BYTES);
  }

  /** One sync at a time: what is written meanwhile goes with the next. */
  #sync(): void {
    if (this.#isSyncing || this.#isSyncedAll) return;
    this.#isSyncing = true;
    this.#isSyncedAll = true;
    fs.fdatasync(this.#file, () => {
      this.#isSyncing = false;
      if (!this.#isClosed) this.#sync();
    });
  }
}

/** Missing rows in words. @param isThere whether there is still such a machine */
export function missingText(missing: readonly MissingRows[], isThere: (machine: string) => boolean): string {
  const shown = missing.slice(0, SHOWN).map(({ machine, fromSeq, toSeq }) => {
    if (!isThere(machine)) return `the machine ${machine} with ${toSeq === 1 ? 'its row' : `its ${toSeq} rows`}`;
    return fromSeq === toSeq ? `row ${toSeq} of ${machine}` : `rows ${fromSeq} to ${toSeq} of ${machine}`;
  });
  const more = missing.length - shown.length;
  return `Missing: ${shown.join('; ')}${more === 0 ? '' : `; and some of ${more} more machines`}.`;
}

const SHOWN = 10;

function readSlot(slot: Buffer): { readonly machine: string; readonly seq: number } | undefined {
  if (crc32(slot.subarray(0, CHECKED_BYTES)) !== slot.readUInt32LE(CHECKED_BYTES)) return undefined;
  return { machine: slot.toString('latin1', 9, 9 + slot.readUInt8(8)), seq: slot.readDoubleLE() };
}
