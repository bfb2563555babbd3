// What every node does for all: it removes records after their retention, and machines of owners without valid keys. Of two that do it at once,
// the functions of Redis refuse one.
//
//   cycle ─► some records removed ─► some owners looked at ─► their machines deleted
import type { Machine } from '../host/machine.js';
import type { Registry, RegistryContext } from '../registry/registry.js';
import type { Network } from './network.js';
import { prefixOf } from './redis/buckets.js';

const AT_ONCE = 20;

export interface NetworkRegistryContext extends RegistryContext {
  readonly network: Network;
}

export class Upkeep {
  readonly #context: NetworkRegistryContext;
  readonly #registry: Pick<Registry, 'deleteMachine'>;
  #isBusy = false;

  constructor(context: NetworkRegistryContext, registry: Pick<Registry, 'deleteMachine'>) {
    this.#context = context;
    this.#registry = registry;
  }

  async tick(): Promise<void> {
    if (this.#isBusy || this.#context.network.failure !== undefined) return;
    this.#isBusy = true;
    try {
      await this.#removeRecords();
      await this.#deleteOrphans();
    } finally {
      this.#isBusy = false;
    }
  }

  async #removeRecords(): Promise<void> {
    const { network, limits } = this.#context;
    const beforeMs = network.connection.nowMs() - limits.retentionMs;
    const over = [...network.directory.deleted].filter(({ deletedMs = 0 }) => deletedMs <= beforeMs);
    for (const machine of over.slice(0, AT_ONCE)) await this.#remove(machine, beforeMs);
  }

  async #remove(machine: Machine, beforeMs: number): Promise<void> {
    const { connection, directory } = this.#context.network;
    const prefix = prefixOf(machine.slug);
    const seq = await connection.command<string | null>('HGET', `${prefix}m:${machine.slug}`, 'seq');
    if (seq === null) {
      await directory.dropRemoved(machine);
      return;
    }
    await directory.remove(machine, Number(seq), async () => {
      const [, isDone] = await connection.call('remove', prefix, [machine.slug, String(Math.floor(beforeMs))]);
      return isDone === 1;
    });
  }

  async #deleteOrphans(): Promise<void> {
    const { network, ownership, credentials } = this.#context;
    const { connection, directory } = network;
    for (const owner of ownership.orphans(credentials, connection.nowMs())) {
      // Another node may just have made a key for the owner.
      await directory.follow();
      if (credentials.hasValidKey(owner, connection.nowMs())) continue;
      for (const machine of ownership.machinesOf(owner)) await this.#registry.deleteMachine(machine);
    }
  }
}
