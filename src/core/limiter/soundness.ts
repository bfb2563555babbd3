// Whether a definition can run: its operators exist, its states can be reached, its triggers can fire. settling.ts checks that it settles.
import { fire } from '../operator/fire.js';
import { findOperator } from '../operator/registry.js';
import { meantOr } from '../schema/did-you-mean.js';
import type { Fault } from '../schema/failure.js';
import type { ContractDefinition } from './definition.js';
import type { CompiledTransition, Plan } from './plan.js';

export function operatorFaults(definition: ContractDefinition): Fault[] {
  const faults: Fault[] = [];
  for (const [index, { operator: id, proof_required, inputs = {} }] of definition.transitions.entries()) {
    const path = `/transitions/${index}`;
    const operator = findOperator(id);
    if (operator === undefined) {
      faults.push({ path: `${path}/operator`, message: `names the operator "${id}", which is not registered` });
      continue;
    }
    if (operator.proofRequired && proof_required === false) {
      faults.push({ path: `${path}/proof_required`, message: `must be true: ${id} is a ${operator.kind} operator` });
    }
    for (const [name, value] of Object.entries(inputs)) {
      const input = Object.hasOwn(operator.inputs, name) ? operator.inputs[name] : undefined;
      if (input === undefined) {
        const known = Object.keys(operator.inputs);
        const hint = meantOr(name, known, `inputs: ${known.join(', ')}`);
        faults.push({ path: `${path}/inputs/${name}`, message: `is no input of ${id}; ${hint}` });
      } else if (value < input.min || value > input.max) {
        faults.push({
          path: `${path}/inputs/${name}`,
          message: `must lie in ${input.min} .. ${input.max} ${input.unit}`,
        });
      }
    }
  }
  definition.operators?.forEach(({ id, kind }, index) => {
    const operator = findOperator(id);
    if (operator === undefined) {
      faults.push({ path: `/operators/${index}/id`, message: `names the operator "${id}", which is not registered` });
    } else if (kind !== undefined && kind !== operator.kind) {
      faults.push({ path: `/operators/${index}/kind`, message: `must be "${operator.kind}", the kind of ${id}` });
    }
  });
  return faults;
}

export function triggerKindFaults(definition: ContractDefinition): Fault[] {
  return definition.transitions.flatMap(({ trigger }, index) =>
    trigger === undefined || trigger === null || trigger.kind === 'on_aggregate'
      ? []
      : [
          {
            path: `/transitions/${index}/trigger/kind`,
            message: `"${trigger.kind}" is not a known kind of trigger; known: on_aggregate`,
          },
        ],
  );
}

export function structureFaults(definition: ContractDefinition): Fault[] {
  const names = Object.keys(definition.states);
  const initial = names.filter((name) => definition.states[name]?.initial === true);
  const faults: Fault[] = [];
  if (initial.length === 0)
    faults.push({ path: '/states', message: 'has no initial state; exactly one must be marked initial' });
  if (initial.length > 1) {
    faults.push({
      path: '/states',
      message: `has ${initial.length} initial states (${initial.join(', ')}); exactly one must be`,
    });
  }
  definition.transitions.forEach((transition, index) => {
    for (const end of ['from', 'to'] as const) {
      const name = transition[end];
      if (names.includes(name)) continue;
      faults.push({ path: `/transitions/${index}/${end}`, message: unknownState(name, names) });
    }
  });
  if (faults.length > 0) return faults;
  const reached = new Set(initial);
  for (const name of reached) {
    for (const { from, to } of definition.transitions) if (from === name) reached.add(to);
  }
  return names
    .filter((name) => !reached.has(name))
    .map((name) => ({ path: `/states/${name}`, message: `cannot be reached from the initial state "${initial[0]}"` }));
}

export function unknownState(name: string, names: readonly string[]): string {
  return `names the state "${name}", which does not exist; ${meantOr(name, names, `states: ${names.join(', ')}`)}`;
}

/** Triggers that can never fire: no count satisfies them, or their operator would refuse in every cycle. */
export function triggerFaults({ transitions }: Plan): Fault[] {
  const faults: Fault[] = [];
  for (const transition of transitions) {
    const { trigger, index } = transition;
    if (trigger === undefined) continue;
    if (trigger.counts.length === 0) {
      faults.push({
        path: `/transitions/${index}/trigger/condition`,
        message: 'holds for no count: it can never fire',
      });
      continue;
    }
    const why = whyNeverComputed(transition);
    if (why === undefined) continue;
    const message = `are such that the trigger can never fire: a trigger has no inputs, and ${why}`;
    faults.push({ path: `/transitions/${index}/inputs`, message });
  }
  return faults;
}

/** A trigger fires with the inputs of the definition: if none of them varies, one firing shows all results. */
function whyNeverComputed({ operator, inputs, proofRequired }: CompiledTransition): string | undefined {
  if (operator.kind === 'substrate') return undefined;
  const needed = Object.entries(operator.inputs).filter(
    ([name, input]) => name !== 'cycle' && input.default === undefined && !Object.hasOwn(inputs, name),
  );
  if (needed.length > 0) {
    const names = needed.map(([name, { unit }]) => (unit === '1' ? name : `${name} in ${unit}`));
    return `${operator.id} lacks ${names.join(', ')}`;
  }
  if (Object.hasOwn(operator.inputs, 'cycle')) return undefined;
  const firing = fire(operator, inputs, 0, { proofRequired });
  return firing.ok ? undefined : firing.why.replace(/\.$/, '');
}
