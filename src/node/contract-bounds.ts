// How many contracts an owner may have, and how long their windows may be together.
import { type Plan, windowCycles } from '../limiter/plan.js';
import { Failure } from '../schema/failure.js';
import type { Limits } from './limits.js';
import type { Ownership } from './ownership.js';

/**
 * @param onNode contracts of all owners
 * @throws Failure `limit_reached`
 */
export function refuseTooMany(
  used: ReturnType<Ownership['usageOf']>,
  onNode: number,
  plan: Plan,
  { contractsPerOwner, contracts, windowCyclesPerOwner }: Limits,
): void {
  const refuse = (why: string, fix: string): never => {
    throw new Failure('limit_reached', { what: 'No contract was created.', why, fix });
  };
  if (used.contracts >= contractsPerOwner)
    refuse(`An owner has up to ${contractsPerOwner} contracts on this node.`, 'Let several clients share one.');
  if (used.contracts >= contracts - onNode)
    refuse(
      `An owner has no more contracts than are still free on the node: ${contracts - onNode}.`,
      'Ask another node.',
    );
  const cycles = used.windowCycles + windowCycles(plan);
  if (cycles > windowCyclesPerOwner)
    refuse(
      `The windows of an owner's contracts have up to ${windowCyclesPerOwner} cycles together, and with this one it would be ${cycles}.`,
      'Choose shorter windows, or let several clients share a contract.',
    );
}
