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
import type { Ownership } from './ownership.js';
import type { Retention } from './retention.js';
import type { Streams } from './stream.js';
import type { Freed, Usage } from './usage.js';

interface RemovalParts {
  readonly host: Host;
  readonly usage: Usage;
  readonly ownership: Ownership;
  readonly retention: Retention;
  readonly active: ActiveMachines;
}

interface EvictionParts extends RemovalParts {
  readonly credentials: Credentials;
  readonly access: Access;
  readonly streams: Streams;
  readonly work: MachineWork;
  readonly durability: Pick<Durability, 'commit'>;
  /** There on a network of nodes. */
  readonly network: object | undefined;
}

/** @param by the id of a key; absent: the node itself @returns what is free now */
export function deleteContract({ host, usage, retention }: RemovalParts, contract: Contract, by?: string): Freed {
  const machine = host.machine(contract.machine.slug);
  const freed = usage.free(machine, [contract]);
  host.deleteContract(contract, by);
  retention.takeDeleted(machine);
  return freed;
}

/** As `deleteContract`, with all its contracts. */
export function deleteMachine(
  parts: RemovalParts,
  machine: Machine,
  by?: string,
): Freed & { readonly machines: number } {
  const { host, usage, ownership, retention, active } = parts;
  const freed = usage.free(machine, machine.contracts);
  host.deleteMachine(machine, by);
  ownership.disown(machine);
  active.remove(machine);
  retention.takeDeleted(machine);
  return { machines: 1, ...freed };
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
 * @throws Failure `owner_not_found`, `not_on_network`
 */
export async function evict(parts: EvictionParts, named: string): Promise<Evicted> {
  const { host, credentials, ownership, access, streams, work, durability, network } = parts;
  if (network !== undefined) throw notOnNetwork('machine');
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
    await work.of(machine, function* () {
      yield 1;
      if (machine.deletedMs === undefined) contracts += deleteMachine(parts, machine).contracts;
    });
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

/** Other nodes would go on with what this one has removed. */
export function notOnNetwork(what: 'machine' | 'contract'): Failure {
  return new Failure('not_on_network', {
    what: `The ${what} was left as it is.`,
    why: 'Nodes that share a Redis cannot delete yet.',
    fix: 'Leave it without requests: it takes no room beside its own.',
  });
}
