// The record of what was done to the keys of an owner: who, what, when. It is that of a private machine of the owner, made with the first
// row, to which only the node writes. It is read, streamed, exported and verified like any other.
//
//   weir-keys-5f2a…   1 machine_created   2 admin_action key_made by key_a: key_b   3 admin_action key_revoked by key_a: key_b

import type { Host } from '../host/host.js';
import type { AdminNote } from '../host/ledger.js';
import type { Machine } from '../host/machine.js';
import { sha256Hex } from '../schema/canonical.js';
import { Failure } from '../schema/failure.js';
import type { Caller } from './access.js';
import type { Network } from './network/network.js';
import type { Ownership } from './ownership.js';

export class KeyRecord {
  readonly #host: Host;
  readonly #ownership: Ownership;
  readonly #network: Network | undefined;

  constructor(host: Host, ownership: Ownership, network?: Network) {
    this.#host = host;
    this.#ownership = ownership;
    this.#network = network;
  }

  /** The machine whose record it is; undefined before the first row. */
  of(owner: string): Machine | undefined {
    return this.#host.machines.get(slugOf(owner));
  }

  /** Writes a row; durable with the next commit. */
  write({ owner, key }: Caller, note: Omit<AdminNote, 'by'>): void {
    const network = this.#network;
    if (network !== undefined) network.directory.keep(this.#writeTo(network, owner, { ...note, by: key.id }));
    else this.#host.note(this.of(owner) ?? this.#machineFor(owner), { ...note, by: key.id });
  }

  async #writeTo(network: Network, owner: string, note: AdminNote): Promise<void> {
    if (this.of(owner) === undefined) {
      await network.entries.createMachine(imageFor(owner)).catch((error) => {
        // Another node was first.
        if (!(error instanceof Failure) || error.code !== 'slug_taken') throw error;
      });
    }
    await network.entries.note(slugOf(owner), note);
  }

  #machineFor(owner: string): Machine {
    const machine = this.#host.createMachine(imageFor(owner));
    this.#ownership.add(machine);
    return machine;
  }
}

function imageFor(owner: string) {
  return { slug: slugOf(owner), owner, isPublic: false, displayName: 'What was done to your keys' };
}

function slugOf(owner: string): string {
  return `weir-keys-${sha256Hex(owner).slice(0, 24)}`;
}
