// What can change in a contract on a network of nodes: whatever keeps the counts in Redis.
//
//   threshold, window     the gate in Redis follows at once, its keys with their next event or within the next cycles
//   numbers of a rule     each turn goes on from the state as it is
//   name, shadow          as on a single node
//
// Refused: another rule or states of its own, which count differently, and a candidate, which would be a second question at every decision.
import { carryOver } from '../../core/limiter/carry-over.js';
import type { CompiledTransition, Plan } from '../../core/limiter/plan.js';
import type { ValueChange } from '../../core/record/row.js';
import { canonicalJson } from '../../core/schema/canonical.js';
import { Failure } from '../../core/schema/failure.js';
import type { Contract } from '../host/contract.js';
import { type ContractChange, changedImage, refuseOtherEvents } from '../host/contract-change.js';
import { changesBetween } from '../host/contract-values.js';
import type { ContractImage } from '../store/store.js';
import { plainPlan } from './plain-plan.js';

/** Longer windows are not converted: Redis would block meanwhile. */
const LONGEST_TURNED = 10_000;

export interface KeptChange {
  readonly plan: Plan;
  readonly image: ContractImage;
  readonly changes: readonly ValueChange[];
  readonly forgotten: string | undefined;
}

/** @throws Failure `not_on_network`, `invalid_definition` */
export function plannedChange(
  contract: Contract,
  { plan = contract.plan, candidate, promotes, name }: ContractChange,
): KeptChange {
  if (candidate || promotes === true)
    throw new Failure('not_on_network', {
      what: 'The contract has no candidate.',
      why: 'On a network of nodes a second rule would be a second question to Redis at every decision, and the differences of all nodes another write.',
      fix: 'Check it on a single node, or with `weir replay --compare` on a log.',
    });
  refuseOtherEvents(contract.plan, plan);
  const { forgotten, resets } = carryOver(contract.plan, plan);
  const why = resets ? forgotten : whyAnotherGate(contract.plan, plan);
  if (why !== undefined)
    throw new Failure('not_on_network', {
      what: `The contract ${contract.id} was not changed.`,
      why: `On a network of nodes it changes in place only where its counts can be kept. ${why}`,
      fix: 'Deploy another contract, let gateways ask that one, and delete this one.',
    });
  const image = changedImage(contract.image, name, plan, undefined);
  return { plan, image, changes: changesBetween(contract.image, image), forgotten };
}

function whyAnotherGate(before: Plan, after: Plan): string | undefined {
  const [was, is] = [plainPlan(before), plainPlan(after)];
  if (was === undefined && is === undefined) return undefined;
  if (was === undefined || is === undefined || movesOf(before) !== movesOf(after))
    return 'Redis counts the one by itself, and not the other, or by other states.';
  if (was.within === is.within || Math.max(was.within, is.within) <= LONGEST_TURNED) return undefined;
  return `A window of more than ${LONGEST_TURNED} cycles keeps its length.`;
}

/** Rows of moves that wait for their link are made by the current plan, so these must be the same. */
function movesOf({ states, transitions }: Plan): string {
  const move = ({ from, to, operator, inputs, emits }: CompiledTransition) => ({
    from,
    to,
    operator: operator.id,
    inputs,
    emits,
  });
  return canonicalJson([states.map(({ name }) => name), transitions.map(move)]);
}

/** The functions of Redis expect id and name first. */
export function asStored({ id, name, ...image }: ContractImage): ContractImage {
  return { id, ...(name === undefined ? {} : { name }), ...image };
}

export function movedMeanwhile({ id }: Contract): Failure {
  return new Failure('node_overloaded', {
    what: `The contract ${id} was not changed.`,
    why: 'It moved each time before it was changed.',
    fix: 'Try again.',
  });
}
