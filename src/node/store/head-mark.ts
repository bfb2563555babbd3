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

const SLOT_BYTES = 96;
const CHECKED_BYTES = SLOT_BYTES - 4;

export interface MissingRows {
  readonly machine: string;
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** The slugs of slots that are not of machines: no machine has them. */
const COMMITS = '';
const CYCLE = '?';

const isOfMachine = (slug: string) => slug !== COMMITS && slug !== CYCLE;

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
    const bytes = fs.readFileSync(this.#file);
    for (let slot = 0; (slot + 1) * SLOT_BYTES <= bytes.length; slot += 1) {
      const head = readSlot(bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES));
      if (head?.seq === 0 && isOfMachine(head.machine)) {
        this.#free.push(slot);
        continue;
      }
      // An unreadable slot keeps its place, under a name that no machine has.
      this.#marked.set(head?.machine ?? `?${slot}`, { seq: head?.seq ?? 0, slot });
    }
  }

  get machines(): string[] {
    return [...this.#marked].flatMap(([machine, { seq }]) => (isOfMachine(machine) && seq > 0 ? [machine] : []));
  }

  /** Rows in the mark but not in the database. @param seqOf the last seq of a machine, 0 for none */
  missing(seqOf: (machine: string) => number): MissingRows[] {
    const missing: MissingRows[] = [];
    for (const [machine, { seq: toSeq }] of this.#marked) {
      if (!isOfMachine(machine)) continue;
      const seq = toSeq === 0 ? 0 : seqOf(machine);
      if (seq < toSeq) missing.push({ machine, fromSeq: seq + 1, toSeq });
    }
    return missing;
  }

  get commits(): number {
    return this.#marked.get(COMMITS)?.seq ?? 0;
  }

  noteCommit(number: number): void {
    this.#pending.set(COMMITS, number);
  }

  /** The last cycle in which the process may have answered; 0 for none. */
  get cycle(): number {
    return this.#marked.get(CYCLE)?.seq ?? 0;
  }

  /** Not synced: after a power failure an earlier cycle stays. One that cannot be written does, too. */
  noteCycle(cycle: number): void {
    try {
      this.#put(CYCLE, cycle);
    } catch {
      // The next cycle is written in its turn.
    }
  }

  isBehind(machine: string, seq: number): boolean {
    return (this.#marked.get(machine)?.seq ?? 0) < seq;
  }

  note(machine: string, seq: number): void {
    this.#pending.set(machine, seq);
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
      for (const [machine, seq] of this.#pending) this.#put(machine, seq);
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

function readSlot(slot: Buffer): { readonly machine: string; readonly seq: number } | undefined {
  if (crc32(slot.subarray(0, CHECKED_BYTES)) !== slot.readUInt32LE(CHECKED_BYTES)) return undefined;
  return { machine: slot.toString('latin1', 9, 9 + slot.readUInt8(8)), seq: slot.readDoubleLE() };
}
