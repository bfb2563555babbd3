// `weir node evict`: revokes an owner's keys and deletes their machines.
import { Failure } from '../core/schema/failure.js';
import type { NodeContext } from './node-context.js';

export interface Evicted {
  readonly owner: string;
  readonly keys: number;
  readonly machines: number;
  readonly contracts: number;
}

/**
 * Revokes an owner's keys, with sessions and streams, and deletes the owner's machines.
 * @param named the owner, or a key id or machine slug of theirs @throws Failure `owner_not_found`, `store_away`
 */
export async function evict(context: NodeContext, named: string): Promise<Evicted> {
  const { host, credentials, ownership, registry } = context;
  await registry.follow?.();
  const owner = credentials.keyById(named)?.owner ?? host.machines.get(named)?.image.owner ?? named;
  const keys = credentials.keysOf(owner, '', Number.MAX_SAFE_INTEGER).filter(({ isRevoked }) => !isRevoked);
  const machines = [...ownership.machinesOf(owner)];
  if (keys.length === 0 && machines.length === 0) throw ownerNotFound(named);
  // Counted before: the node may delete machines of an owner without keys meanwhile.
  const contracts = machines.reduce((sum, machine) => sum + machine.contracts.length, 0);
  await registry.changeKeys({ changed: keys.map((key) => ({ ...key, isRevoked: true })) });
  for (const machine of machines) await registry.deleteMachine(machine);
  return { owner, keys: keys.length, machines: machines.length, contracts };
}

function ownerNotFound(named: string): Failure {
  return new Failure('owner_not_found', {
    what: 'No owner was evicted.',
    why: `"${named}" is no owner with keys or machines, no id of a key, and no slug of a machine.`,
    fix: 'The log of the node names owners; GET /api/chain/state-machines lists public machines.',
  });
}
