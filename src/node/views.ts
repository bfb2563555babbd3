// Machines and contracts as answers show them.
import { restoresInCycles } from '../core/limiter/forecast.js';
import type { Gate } from '../core/limiter/gate.js';
import { retryAfterOf } from './counting/decision.js';
import type { CandidateComparison } from './host/candidate-comparison.js';
import type { Contract } from './host/contract.js';
import { candidateOf } from './host/contract-values.js';
import { keyedFields } from './host/keys.js';
import type { Machine } from './host/machine.js';
import type { Caller } from './permission.js';

export const CONTRACTS_SHOWN = 100;

export function shortView({ id, state: currentState, plan, image }: Contract) {
  return { id, currentState, name: image.name ?? plan.definition.name };
}

/** @param contracts the first ones; absent for a new machine */
export function machineView(
  machine: Machine,
  caller: Caller | undefined,
  contracts: readonly ReturnType<typeof shortView>[] = [],
  head = machine.head,
) {
  return { ...machineSummary(machine, caller), head, contracts };
}

export function machineSummary({ image, contracts, deletedMs, head }: Machine, caller: Caller | undefined) {
  const { slug, displayName: display_name, isPublic: is_public, createdCycle: created_cycle } = image;
  return {
    slug,
    display_name,
    is_public,
    is_own: image.owner === caller?.owner,
    created_cycle,
    ...(deletedMs === undefined ? {} : { deleted_at: new Date(deletedMs).toISOString() }),
    head,
    contract_count: contracts.length,
  };
}

/** What its contracts and their keys are doing. */
export function machineState({ contracts }: Machine) {
  const withKeys = contracts.flatMap(({ keys }) => keys ?? []);
  const sum = (of: (keys: (typeof withKeys)[number]) => number) => withKeys.reduce((all, one) => all + of(one), 0);
  const keyed = { keys: sum(({ size }) => size), limited: sum(({ limited }) => limited) };
  return {
    limiting: contracts.filter(({ limiting }) => limiting > 0).length,
    ...(withKeys.length === 0 ? {} : { keyed }),
  };
}

export function contractView(contract: Contract) {
  const { id, state: currentState, image, plan, keys } = contract;
  const { machine, templateId, createdCycle: created_cycle, firstFireCycle: first_fire_cycle } = image;
  const { name: definition_name, version } = plan.definition;
  const [aggregate] = plan.aggregates;
  const threshold = plan.thresholds[0] ?? Number.POSITIVE_INFINITY;
  return {
    id,
    currentState,
    machine,
    name: image.name ?? definition_name,
    definition_name,
    version,
    ...(templateId === undefined ? {} : { template_id: templateId }),
    ...(threshold === Number.POSITIVE_INFINITY ? {} : { threshold }),
    ...(aggregate === undefined || plan.rule !== undefined ? {} : { within: aggregate.within }),
    ...(plan.rule === undefined ? {} : { rule: plan.rule.definition.primitive }),
    ...(plan.isShadow ? { shadow: true } : {}),
    ...(plan.definition.when_away === undefined ? {} : { when_away: plan.definition.when_away }),
    ...(keys && { keyed: { ...keyedFields(image.keyed).keyed!, keys: keys.size, limited: keys.limited } }),
    ...candidateView(contract),
    created_cycle,
    first_fire_cycle,
  };
}

function candidateView({ comparison }: Contract) {
  if (comparison === undefined) return {};
  const { plan, wouldLimit: would_limit, compared } = comparison;
  const limited = compared.both + compared.only_limiter;
  return { candidate: { limiter: candidateOf(plan.definition), ...comparedView(comparison), limited, would_limit } };
}

export function comparedView({ since, requests, compared }: CandidateComparison) {
  return { since, requests, ...compared };
}

export function contractStatus(contract: Contract, gate: Gate, name?: string) {
  const { plan, failure } = contract;
  const ofKey = { ...(name !== undefined && { key: name }), currentState: plan.states[gate.state]!.name };
  const view = { ...contractView(contract), ...ofKey };
  const retryAfter = plan.kinds.length === 0 ? undefined : retryAfterOf(gate);
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
