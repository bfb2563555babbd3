// Owns how machines and contracts look in answers. Leaves decisions to decision.ts.

import type { Contract } from '../host/contract.js';
import type { Machine } from '../host/machine.js';
import { restoresInCycles } from '../limiter/forecast.js';
import { Type } from '../schema/json-schema.js';
import type { Caller } from './access.js';
import { retryAfterOf } from './decision.js';
import { Cycle, Head } from './shapes.js';

const machineFields = {
  slug: Type.String(),
  display_name: Type.String(),
  is_public: Type.Boolean({ description: 'Whether anyone may look at it.' }),
  is_own: Type.Boolean({ description: 'Whether it belongs to who asks.' }),
  created_cycle: Cycle,
  head: Head,
};

export const MachineSummary = Type.Object({
  ...machineFields,
  contract_count: Type.Integer({ description: 'Contracts on the machine.' }),
});

const ContractLine = Type.Object({
  id: Type.String(),
  currentState: Type.String(),
  name: Type.String({ description: 'Name of its definition.' }),
});

export const MachineView = Type.Object({
  ...machineFields,
  contracts: Type.Array(ContractLine, { description: 'In order of creation.' }),
});

export function machineSummary(machine: Machine, caller: Caller | undefined) {
  return { ...machineFieldsOf(machine, caller), contract_count: machine.contracts.length };
}

export function machineView(machine: Machine, caller: Caller | undefined) {
  const contracts = machine.contracts.map((contract) => ({
    id: contract.id,
    currentState: contract.state,
    name: contract.plan.definition.name,
  }));
  return { ...machineFieldsOf(machine, caller), contracts };
}

function machineFieldsOf({ image, head }: Machine, caller: Caller | undefined) {
  const { slug, displayName: display_name, isPublic: is_public, createdCycle: created_cycle } = image;
  return { slug, display_name, is_public, is_own: image.owner === caller?.owner, created_cycle, head };
}

const contractFields = {
  id: Type.String(),
  currentState: Type.String({ description: 'Name of the state it is in.' }),
  machine: Type.String({ description: 'Slug of its machine.' }),
  name: Type.String({ description: 'Name of its definition.' }),
  version: Type.String({ description: 'Version of its definition.' }),
  template_id: Type.Optional(Type.String({ description: 'The template it was made from; absent when from none.' })),
  threshold: Type.Optional(Type.Integer({ description: 'Largest count at which the initial state stays.' })),
  within: Type.Optional(Type.Integer({ description: 'Length of the window in cycles.' })),
  created_cycle: Cycle,
  first_fire_cycle: Cycle,
};

export const ContractView = Type.Object(contractFields);

export const ContractStatus = Type.Object({
  ...contractFields,
  count: Type.Integer({ description: 'Events in the window.' }),
  remaining: Type.Optional(Type.Integer({ description: 'max(0, threshold - count).' })),
  retry_after_cycles: Type.Optional(
    Type.Integer({ description: '0 when a request would be admitted now; absent for never.' }),
  ),
  restores_in_cycles: Type.Optional(
    Type.Integer({ description: 'Absent when it admits now, or never will by itself.' }),
  ),
  held_until_cycle: Type.Optional(
    Type.Integer({ description: 'No evaluation moves it before; absent when nothing holds it.' }),
  ),
  failure: Type.Optional(Type.String({ description: 'Why it has stopped; absent while it runs.' })),
});

export function contractView({ id, state: currentState, image, plan }: Contract) {
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
    ...(aggregate === undefined ? {} : { within: aggregate.within }),
    created_cycle,
    first_fire_cycle,
  };
}

/** With what its window says now: the contract has been advanced to the running cycle. */
export function contractStatus(contract: Contract) {
  const { gate, plan, failure } = contract;
  const view = contractView(contract);
  const retryAfter = plan.kinds.length === 0 ? undefined : retryAfterOf(contract, 0);
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
