// Changes a contract in place: it keeps its id, an audit row records the old and new values, and counts carry over as far as possible.
//
//   name, plan, candidate ─► gates carried over (limiter/carry-over.ts) ─► image and state stored ─► row ─► durable with the next commit
//
// A transition that the new numbers require follows in the same cycle; of a key, with its next event or cycle.
import { carried, carryOver } from '../../core/limiter/carry-over.js';
import type { GateImage } from '../../core/limiter/gate-record.js';
import type { Plan } from '../../core/limiter/plan.js';
import type { AuditEntry, ValueChange } from '../../core/record/row.js';
import { digestOf } from '../../core/schema/canonical.js';
import { Failure } from '../../core/schema/failure.js';
import type { ContractImage, Store } from '../store/store.js';
import { beginCandidate } from './candidate.js';
import type { Contract } from './contract.js';
import { changesBetween } from './contract-values.js';
import type { Convert } from './keys.js';
import type { Ledger } from './ledger.js';
import type { Machine } from './machine.js';
import type { SharedPlans } from './shared-plans.js';
import type { Steps } from './steps.js';

export interface ContractChange {
  readonly name?: string | null | undefined;
  readonly plan?: Plan | undefined;
  readonly candidate?: Plan | null | undefined;
  readonly promotes?: boolean;
  readonly by?: string | undefined;
}

export interface Changed {
  readonly changes: readonly ValueChange[];
  readonly forgotten: string | undefined;
  readonly resets: boolean;
}

interface ChangeContext {
  readonly plans: SharedPlans;
  readonly ledger: Ledger;
  readonly store: Store;
}

/** The machine must stay idle. @throws Failure `invalid_definition`, `no_candidate`, or that of a stopped contract */
export function* changeContract(
  { plans, ledger, store }: ChangeContext,
  machine: Machine,
  contract: Contract,
  asked: ContractChange,
  cycle: number,
): Steps<Changed> {
  if (contract.failure !== undefined) throw contract.failure;
  contract.advance(cycle);
  contract.comparison?.advance(cycle);
  const { plan: before, image: was, comparison, state: from } = contract;
  const [plan, candidate] = plansOf(plans, contract, asked);
  for (const one of [plan, candidate]) if (one !== undefined) refuseOtherEvents(before, one);
  const image = changedImage(was, asked.name, plan, candidate);
  const changes = changesBetween(was, image);
  if (changes.length === 0) return { changes, forgotten: undefined, resets: false };
  const kept = asked.promotes === true ? undefined : carryOver(before, plan);
  const old = { image: contract.gate.image(), keys: contract.keys };
  if (plan === before) contract.image = image;
  else {
    const source = kept === undefined && comparison !== undefined ? comparison.candidate : contract;
    const convert: Convert = kept === undefined ? inInitialState(plan) : (gate) => carried(gate, kept, plan);
    const keys = contract.makeKeys(image, plan, contract.cycle);
    const restored = keys && source.keys ? yield* keys.restoreFrom(source.keys, convert) : [];
    if (contract.keys !== undefined) keys?.copyFigures(contract.keys);
    contract.become(image, plan, convert(source.gate.image()), keys);
    // Events that a shorter window has dropped must not return after a restart, so the store needs these keys.
    const isKnown = source === contract && kept?.forgotten === undefined;
    for (const [key, isStored] of restored) if (!isStored || !isKnown) keys?.markDirty(key);
  }
  if (candidate === comparison?.plan) comparison?.restart(cycle);
  else {
    comparison?.candidate.delete();
    contract.comparison = candidate && (yield* beginCandidate(contract, candidate, machine.context, old, before));
  }
  const resets = kept === undefined || kept.resets;
  store.changeContract(image, contract.saved(), !resets);
  ledger.write(machine, {
    ...{ cycle: Math.max(cycle, contract.cycle), from, to: contract.state },
    ...changeRow(contract, plan, changes, asked),
    ...(resets ? { resets } : {}),
    ...(kept?.forgotten === undefined ? {} : { forgotten: kept.forgotten }),
  });
  if (plan !== before) contract.settle();
  return { changes, forgotten: kept?.forgotten, resets };
}

/** Adopts a change by another store, which decides for this contract. @returns the former plans, if it changed */
export function relearn(
  plans: SharedPlans,
  machine: Machine,
  contract: Contract,
  image: ContractImage,
): readonly Plan[] | undefined {
  const { plans: before, image: was } = contract;
  if ((image.revision ?? 0) <= (was.revision ?? 0)) return undefined;
  const plan = plans.ofStored(image.definition);
  contract.become(image, plan, undefined, contract.makeKeys(image, plan, contract.cycle));
  machine.rename(contract, was.name);
  return before;
}

export function changeRow(
  { id }: Contract,
  plan: Plan,
  changes: readonly ValueChange[],
  { by }: Pick<ContractChange, 'by'>,
): Pick<AuditEntry, 'kind' | 'contract_id' | 'definition_digest' | 'changes' | 'states' | 'cause' | 'by' | 'emitted'> {
  const states = [plan.states[plan.initial]!, ...plan.states.filter((_, index) => index !== plan.initial)];
  return {
    kind: 'contract_changed',
    contract_id: id,
    definition_digest: digestOf(plan.definition),
    changes,
    states: states.map(({ name }) => name),
    cause: 'manual',
    ...(by === undefined ? {} : { by }),
    emitted: [],
  };
}

export function plansAfter({ plan, comparison }: Contract, change: ContractChange): readonly Plan[] {
  const candidate = change.candidate === undefined ? comparison?.plan : change.candidate;
  return [change.plan ?? plan, ...(candidate ? [candidate] : [])];
}

function plansOf(
  plans: SharedPlans,
  contract: Contract,
  { plan = contract.plan, candidate, promotes = false }: ContractChange,
): [plan: Plan, candidate: Plan | undefined] {
  const checked = contract.comparison?.plan;
  if (promotes) {
    if (checked === undefined) throw noCandidate(contract);
    return [checked, contract.plan];
  }
  const wanted = candidate === undefined ? checked : candidate;
  return [plans.of(plan), wanted ? plans.of(wanted) : undefined];
}

/** Takes the counts of the candidate. The record lacks its states, so each gate starts in the initial one. */
function inInitialState({ states, initial }: Plan): Convert {
  return ({ windows, rule }): GateImage => ({
    state: states[initial]!.name,
    heldUntilCycle: windows[0]?.cycle ?? 0,
    windows,
    ...(rule === undefined ? {} : { rule }),
  });
}

export function changedImage(
  was: ContractImage,
  name: string | null | undefined,
  plan: Plan,
  candidate: Plan | undefined,
): ContractImage {
  const { name: formerName, candidate: _, revision = 0, ...left } = was;
  const named = name === undefined ? formerName : (name ?? undefined);
  return {
    ...left,
    definition: plan.definition,
    ...(named === undefined ? {} : { name: named }),
    ...(candidate === undefined ? {} : { candidate: candidate.definition }),
    revision: revision + 1,
  };
}

/** Events must stay the same because requests in progress hold the index of their kind of event. */
export function refuseOtherEvents({ kinds }: Plan, plan: Plan): void {
  const [before, after] = [kinds, plan.kinds].map((all) => all.map(({ event }) => event).join(', '));
  if (before === after) return;
  throw new Failure('invalid_definition', {
    what: 'The contract was not changed.',
    why: `It counts ${before || 'nothing'}, and the new definition counts ${after || 'nothing'}: the events of a contract cannot be changed.`,
    fix: 'Deploy another contract for them.',
  });
}

export function noCandidate({ id }: Contract): Failure {
  return new Failure('no_candidate', {
    what: `The contract ${id} has no candidate.`,
    fix: 'Give it one first: PATCH …/contracts/{contract_id} with `candidate`.',
  });
}
