// Machines and contracts as answers show them.
import type { Contract } from '../host/contract.js';
import { KeyedContract, keyedFields } from '../host/keyed-contract.js';
import type { Machine } from '../host/machine.js';
import { restoresInCycles } from '../limiter/forecast.js';
import type { Caller } from './access.js';
import { retryAfterOf } from './decision.js';

export function machineSummary(machine: Machine, caller: Caller | undefined) {
  return { ...machineFieldsOf(machine, caller), contract_count: machine.contracts.length };
}

/** Contracts that are listed with their machine. */
export const CONTRACTS_SHOWN = 100;

/** @param shown the contracts to be listed, where they are not those of the host */
export function machineView(
  machine: Machine,
  caller: Caller | undefined,
  shown: readonly Contract[] = machine.contracts,
) {
  const contracts = shown.slice(0, CONTRACTS_SHOWN).map((contract) => ({
    id: contract.id,
    currentState: contract.state,
    name: contract.plan.definition.name,
  }));
  return { ...machineFieldsOf(machine, caller), contract_count: machine.contracts.length, contracts };
}

function machineFieldsOf({ image, head, deletedMs }: Machine, caller: Caller | undefined) {
  const { slug, displayName: display_name, isPublic: is_public, createdCycle: created_cycle } = image;
  return {
    slug,
    display_name,
    is_public,
    is_own: image.owner === caller?.owner,
    created_cycle,
    ...deletion(deletedMs),
    head,
  };
}

function deletion(deletedMs: number | undefined) {
  return deletedMs === undefined ? {} : { deleted_at: new Date(deletedMs).toISOString() };
}

export function contractView(contract: Contract) {
  const { id, state: currentState, image, plan } = contract;
  const { machine, templateId, createdCycle: created_cycle, firstFireCycle: first_fire_cycle } = image;
  const { name, version } = plan.definition;
  const [aggregate] = plan.aggregates;
  const threshold = plan.thresholds[0] ?? Number.POSITIVE_INFINITY;
  return {
    id,
    currentState,
    machine,
    name,
    version,
    ...(templateId === undefined ? {} : { template_id: templateId }),
    ...(threshold === Number.POSITIVE_INFINITY ? {} : { threshold }),
    ...(aggregate === undefined || plan.rule !== undefined ? {} : { within: aggregate.within }),
    ...(plan.rule === undefined ? {} : { rule: plan.rule.definition.primitive }),
    ...(plan.isShadow ? { shadow: true } : {}),
    ...(plan.definition.when_away === undefined ? {} : { when_away: plan.definition.when_away }),
    ...keyedView(contract),
    created_cycle,
    first_fire_cycle,
  };
}

function keyedView(contract: Contract) {
  if (!(contract instanceof KeyedContract)) return {};
  const { table, limited } = contract.keys;
  return { keyed: { ...keyedFields(contract.keyed).keyed!, keys: table.size, limited } };
}

/** With what its window says now, or that of one key: the contract has been advanced to the running cycle. */
/** @param now how it stands, where the host does not know */
export function contractStatus(contract: Contract, name?: string, now?: Contract) {
  const { plan, failure } = contract;
  const isOfKey = name !== undefined && contract instanceof KeyedContract;
  const { gate } = now ?? (isOfKey ? contract.viewOf(name, contract.keys.cycle) : contract);
  const ofKey = { ...(name !== undefined && { key: name }), currentState: plan.states[gate.state]!.name };
  const view = { ...contractView(contract), ...ofKey };
  const retryAfter = plan.kinds.length === 0 ? undefined : retryAfterOf(gate, 0);
  const restoresIn = restoresInCycles(gate);
  return {
    ...view,
    count: gate.count,
    ...(view.threshold === undefined ? {} : { remaining: Math.max(0, view.threshold - gate.count) }),
    ...(retryAfter === undefined ? {} : { retry_after_cycles: retryAfter }),
    ...(restoresIn === undefined ? {} : { restores_in_cycles: restoresIn }),
    ...(gate.heldUntilCycle > gate.cycle ? { held_until_cycle: gate.heldUntilCycle } : {}),
    ...(failure === undefined ? {} : { failure: failure.message }),
  };
}
