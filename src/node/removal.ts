// Deleting contracts and machines: by their owner, by the operator, or by the node where all keys of an owner have ended.
import type { Contract } from '../host/contract.js';
import type { Host } from '../host/host.js';
import type { Machine } from '../host/machine.js';
import { Failure } from '../schema/failure.js';
import type { Credentials } from '../store/credential-store.js';
import type { Access } from './access.js';
import type { ActiveMachines } from './active-machines.js';
import type { Durability } from './durability.js';
import type { MachineWork } from './machine-work.js';
import type { Network } from './network/network.js';
import { contractOf, deleted, type Ownership } from './ownership.js';
import type { Retention } from './retention.js';
import type { Streams } from './stream.js';
import type { Freed, Stocked, Usage } from './usage.js';

interface RemovalParts {
  readonly host: Host;
  readonly usage: Usage;
  readonly ownership: Ownership;
  readonly retention: Retention;
  readonly active: ActiveMachines;
}

interface WorkParts extends RemovalParts {
  readonly work: MachineWork;
  /** There on a network of nodes. */
  readonly network: Network | undefined;
}

interface EvictionParts extends WorkParts {
  readonly credentials: Credentials;
  readonly access: Access;
  readonly streams: Streams;
  readonly durability: Pick<Durability, 'commit'>;
}

/** @param by the id of a key; absent: the node itself @returns what is free now */
export async function deleteContract(parts: WorkParts, contract: Contract, by?: string): Promise<Freed> {
  const { host, usage, retention, network, work } = parts;
  if (network !== undefined) return freedOf(await network.entries.deleteContract(contract, by));
  const machine = host.machine(contract.machine.slug);
  return work.of(machine, function* () {
    yield 1;
    // It may be gone by now.
    contractOf(host, machine, contract.id);
    const freed = usage.free(machine, [contract]);
    host.deleteContract(contract, by);
    retention.takeDeleted(machine);
    return freed;
  });
}

/** As `deleteContract`, with all its contracts. @returns undefined where it was deleted before, and `by` is absent */
export async function deleteMachine(
  parts: WorkParts,
  machine: Machine,
  by?: string,
): Promise<(Freed & { readonly machines: number }) | undefined> {
  const { network, work } = parts;
  if (network !== undefined) {
    const freed = await network.entries.deleteMachine(machine, by);
    return freed && { machines: freed.machines, ...freedOf(freed) };
  }
  return work.of(machine, function* () {
    yield 1;
    if (machine.deletedMs === undefined) return deleteHere(parts, machine, by);
    if (by === undefined) return undefined;
    throw deleted(machine);
  });
}

/** As `deleteMachine`, on a single node, and at once. */
export function deleteHere(parts: RemovalParts, machine: Machine, by?: string) {
  const { host, usage, ownership, retention, active } = parts;
  const freed = usage.free(machine, machine.contracts);
  host.deleteMachine(machine, by);
  ownership.disown(machine);
  active.remove(machine);
  retention.takeDeleted(machine);
  return { machines: 1, ...freed };
}

function freedOf({ contracts, windowCycles, keyCells, definitionBytes }: Stocked): Freed {
  return { contracts, window_cycles: windowCycles, key_cells: keyCells, definition_bytes: definitionBytes };
}

export interface Evicted {
  readonly owner: string;
  readonly keys: number;
  readonly machines: number;
  readonly contracts: number;
}

/**
 * Ends an owner, for the operator: revokes their keys, with sessions and streams, and deletes their machines.
 * @param named the owner, the id of one of their keys, or the slug of one of their machines
 * @throws Failure `owner_not_found`, `store_away`
 */
export async function evict(parts: EvictionParts, named: string): Promise<Evicted> {
  const { host, credentials, ownership, access, streams, durability, network } = parts;
  await network?.directory.follow();
  const owner = credentials.keyById(named)?.owner ?? host.machines.get(named)?.image.owner ?? named;
  const keys = credentials.keysOf(owner, '', Number.MAX_SAFE_INTEGER).filter(({ isRevoked }) => !isRevoked);
  const machines = [...ownership.machinesOf(owner)];
  if (keys.length === 0 && machines.length === 0) throw ownerNotFound(named);
  for (const key of keys) {
    credentials.putKey({ ...key, isRevoked: true });
    access.forget(key.id);
    streams.endOf(key.id);
  }
  let contracts = 0;
  for (const machine of machines) {
    contracts += (await deleteMachine(parts, machine))?.contracts ?? 0;
  }
  await durability.commit();
  return { owner, keys: keys.length, machines: machines.length, contracts };
}

function ownerNotFound(named: string): Failure {
  return new Failure('owner_not_found', {
    what: 'No owner was evicted.',
    why: `"${named}" is no owner with keys or machines, no id of a key, and no slug of a machine.`,
    fix: 'The log of the node names owners; GET /api/chain/state-machines lists public machines.',
  });
}
