// Signs the heads of records: some cycles after they grew, and when the node closes.

import type { Host } from '../host/host.js';
import type { Machine } from '../host/machine.js';
import type { AuditRow } from '../record/row.js';
import { type Signer, signCheckpoint } from '../record/signing.js';
import type { Store } from '../store/store.js';

/** Interval in cycles. Rows appended since are chained, but could be cut off unnoticed. */
const EVERY_CYCLES = 4;

/** Signatures per turn: one takes some 50 µs. The rest follows a cycle later. */
const AT_ONCE = 100;

const REVIEWED_AT_ONCE = 500;

export class Checkpoints {
  readonly #host: Host;
  readonly #store: Store;
  readonly #signer: Signer;
  readonly #grown = new Set<Machine>();
  readonly #unreviewed: Iterator<Machine>;
  #nextCycle = 0;

  constructor(host: Host, store: Store, signer: Signer) {
    this.#host = host;
    this.#store = store;
    this.#signer = signer;
    this.#unreviewed = [...host.machines.values()].values();
  }

  take(row: AuditRow): void {
    const machine = this.#host.machines.get(row.machine);
    if (machine !== undefined) this.#grown.add(machine);
  }

  sign(cycle: number): void {
    if (cycle < this.#nextCycle) return;
    this.#review();
    let left = AT_ONCE;
    for (const machine of this.#grown) {
      if (left === 0) return;
      left -= 1;
      this.#sign(machine, cycle);
    }
    this.#nextCycle = cycle + EVERY_CYCLES;
  }

  signAll(cycle: number): void {
    for (const machine of this.#grown) this.#sign(machine, cycle);
  }

  #sign(machine: Machine, cycle: number): void {
    this.#store.putCheckpoint(signCheckpoint(this.#signer, { machine: machine.slug, ...machine.head, cycle }));
    this.#grown.delete(machine);
  }

  #review(): void {
    for (let left = REVIEWED_AT_ONCE; left > 0; left -= 1) {
      const { value: machine } = this.#unreviewed.next();
      if (machine === undefined) return;
      if ((this.#store.checkpoint(machine.slug)?.seq ?? 0) < machine.head.seq) this.#grown.add(machine);
    }
  }
}
