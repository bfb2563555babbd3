// The mark of a data folder: a file beside the database with the last row of each machine and the number of the last commit. SQLite cannot
// distinguish a lost or truncated log from a shorter one; the mark shows at start-up which acknowledged rows or counts are missing.
//
//   commit    weir.db-wal written, synced ─► weir.heads written ─► answers            the mark is never ahead of what was durable
//                                                  └─ synced, in the background       and survives the process at once
//
//   weir.heads   one slot of 96 bytes for each machine, in order of its first row; one for the commits, one for the running cycle
//   slot         seq of the last row (8) | length of the slug (1) | slug | zeros | CRC-32 of the bytes before (4)
//
// After a power failure the mark may lack the rows of the last few milliseconds. A torn slot counts as none.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { getOrInsert } from '../../core/math/get-or-insert.js';

const SLOT_BYTES = 96;
const CHECKED_BYTES = SLOT_BYTES - 4;

export interface MissingRows {
  readonly machine: string;
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** The names of slots that are not of machines: no machine has them. */
export const COMMITS = '';
export const CYCLE = '?';

const isOfMachine = (name: string) => name !== COMMITS && name !== CYCLE;

export class HeadMark {
  readonly #file: number;
  readonly #marked = new Map<string, { seq: number; readonly slot: number }>();
  readonly #pending = new Map<string, number>();
  readonly #slot = Buffer.alloc(SLOT_BYTES);
  readonly #free: number[] = [];
  #isSyncing = false;
  #isSyncedAll = true;
  #isClosed = false;

  constructor(dir: string, name = 'weir.heads') {
    const path = join(dir, name);
    this.#file = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
    for (const [slot, head] of slotsIn(fs.readFileSync(this.#file)).entries())
      if (head === undefined) this.#free.push(slot);
      else this.#marked.set(head.name, { seq: head.seq, slot });
  }

  get machines(): string[] {
    return [...this.#marked.keys()].filter(isOfMachine);
  }

  /** The seq of the last row of a machine, the number of commits, or the last cycle in which the process may have answered; 0 for none. */
  of(name: string): number {
    return this.#marked.get(name)?.seq ?? 0;
  }

  /** Rows in the mark but not in the database. @param seqOf the last seq of a machine, 0 for none */
  missing(seqOf: (machine: string) => number): MissingRows[] {
    return this.machines.flatMap((machine) => {
      const [seq, toSeq] = [seqOf(machine), this.of(machine)];
      return seq < toSeq ? [{ machine, fromSeq: seq + 1, toSeq }] : [];
    });
  }

  note(name: string, seq: number): void {
    this.#pending.set(name, seq);
  }

  /** Not synced: after a power failure an earlier cycle stays. One that cannot be written does, too. */
  noteCycle(cycle: number): void {
    try {
      this.#put(CYCLE, cycle);
    } catch {
      // The next cycle is written in its turn.
    }
  }

  /** Is as the database from now on. @param heads by machine, and its number of commits */
  follow(heads: ReadonlyMap<string, number>): void {
    for (const name of new Set([...this.machines, ...heads.keys()])) {
      const seq = heads.get(name) ?? 0;
      if (this.of(name) !== seq) this.note(name, seq);
    }
    this.write();
  }

  bytes(): Buffer {
    const bytes = Buffer.alloc((this.#marked.size + this.#free.length) * SLOT_BYTES);
    return bytes.subarray(0, fs.readSync(this.#file, bytes, 0, bytes.length, 0));
  }

  /** Written and synced before the machine is removed, so that the mark is never ahead. */
  remove(machine: string): void {
    this.#pending.delete(machine);
    const mark = this.#marked.get(machine);
    if (mark === undefined) return;
    this.#put(machine, 0);
    fs.fdatasyncSync(this.#file);
    this.#marked.delete(machine);
    this.#free.push(mark.slot);
  }

  dropPending(): void {
    this.#pending.clear();
  }

  /** After a durable commit. A mark that cannot be written stays behind, which is safe. */
  write(): void {
    if (this.#pending.size === 0) return;
    try {
      for (const [name, seq] of this.#pending) this.#put(name, seq);
      this.#isSyncedAll = false;
      this.#sync();
    } catch {
      // The next commit writes later heads.
    } finally {
      this.#pending.clear();
    }
  }

  close(): void {
    // A pending sync may hit another file that reuses the descriptor: an extra sync is harmless.
    this.#isClosed = true;
    try {
      fs.fdatasyncSync(this.#file);
    } finally {
      fs.closeSync(this.#file);
    }
  }

  #put(name: string, seq: number): void {
    const mark = getOrInsert(this.#marked, name, () => ({ seq, slot: this.#free.pop() ?? this.#marked.size }));
    mark.seq = seq;
    const slot = this.#slot.fill(0);
    slot.writeDoubleLE(seq);
    slot.writeUInt8(slot.write(name, 9, 'latin1'), 8);
    slot.writeUInt32LE(crc32(slot.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
    fs.writeSync(this.#file, slot, 0, SLOT_BYTES, mark.slot * SLOT_BYTES);
  }

  /** One sync at a time: later writes go with the next. */
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

export function missingText(missing: readonly MissingRows[], isThere: (machine: string) => boolean): string {
  const shown = missing.slice(0, SHOWN).map(({ machine, fromSeq, toSeq }) => {
    if (!isThere(machine)) return `the machine ${machine} with ${toSeq === 1 ? 'its row' : `its ${toSeq} rows`}`;
    return fromSeq === toSeq ? `row ${toSeq} of ${machine}` : `rows ${fromSeq} to ${toSeq} of ${machine}`;
  });
  const more = missing.length - shown.length;
  return `Missing: ${shown.join('; ')}${more === 0 ? '' : `; and some of ${more} more machines`}.`;
}

const SHOWN = 10;

/** In order; undefined for one that is free, or torn. */
function slotsIn(bytes: Buffer): ({ readonly name: string; readonly seq: number } | undefined)[] {
  return Array.from({ length: Math.floor(bytes.length / SLOT_BYTES) }, (_, index) => {
    const slot = bytes.subarray(index * SLOT_BYTES, (index + 1) * SLOT_BYTES);
    if (crc32(slot.subarray(0, CHECKED_BYTES)) !== slot.readUInt32LE(CHECKED_BYTES)) return undefined;
    const head = { name: slot.toString('latin1', 9, 9 + slot.readUInt8(8)), seq: slot.readDoubleLE() };
    return head.seq === 0 ? undefined : head;
  });
}
