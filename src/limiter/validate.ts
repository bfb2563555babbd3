// The two stages that every definition passes before it runs: (1) parse, by the schema and of its conditions; (2) soundness: operators
// that exist, states that can be reached, triggers that can fire (trigger-faults.ts), coming to rest (rest.ts). The same for a template and for any other contract.
import type { FindOperator } from '../operator/operator.js';
import { findStandardOperator } from '../operator/registry.js';
import { compileSchema } from '../schema/compile-schema.js';
import { nearest } from '../schema/did-you-mean.js';
import { Failure, type FailureCode, type Fault } from '../schema/failure.js';
import { faultsOf } from '../schema/schema-faults.js';
import { ContractDefinition, isOnAggregate, OnCount, OnRefused } from './definition.js';
import { definitionOf, isDrawn } from './drawn-definition.js';
import { makePlan, type Plan, parseTransitions, type Steps } from './plan.js';
import { restFaults } from './rest.js';
import { checkRule } from './rule/rule-definition.js';
import { triggerFaults } from './trigger-faults.js';

const definitionSchema = compileSchema(ContractDefinition);
const triggers = {
  count: { shape: OnCount, compiled: compileSchema(OnCount) },
  refused: { shape: OnRefused, compiled: compileSchema(OnRefused) },
} as const;

/**
 * Makes a definition ready to run. Every fault that a stage finds is listed with its place.
 * @param input a definition, or the JSON of an XState machine: see drawn-definition.ts
 * @param findOperator the operators that the definition may name; the plan keeps those that its transitions fire
 * @param options.isStored whether it was accepted before: a definition that an earlier version let run runs on
 * @throws Failure `invalid_definition` (does not fit the schema) or `invalid_expression` (a condition cannot be read): stage 1
 * @throws Failure `operator_not_registered` or `definition_unsound` (cannot run): stage 2
 */
export function planContract(
  input: unknown,
  findOperator: FindOperator = findStandardOperator,
  options: { readonly isStored?: boolean } = {},
): Plan {
  const steps = planInSteps(input, findOperator, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** As `planContract`, in steps: a definition of 128 KiB takes some 30 ms. */
export function* planInSteps(
  input: unknown,
  findOperator: FindOperator,
  { isStored = false }: { readonly isStored?: boolean } = {},
): Steps<Plan> {
  const definition = parseDefinition(isDrawn(input) ? definitionOf(input) : input);
  yield definition.transitions.length / 8;
  const { aggregates, transitions, faults } = yield* parseTransitions(definition, findOperator);
  refuse('invalid_expression', faults);
  refuse('operator_not_registered', yield* operatorFaults(definition, findOperator));
  refuse('definition_unsound', [...triggerKindFaults(definition), ...structureFaults(definition)]);
  yield definition.transitions.length / 8;
  const plan = yield* makePlan(definition, aggregates, transitions);
  if (!isStored) refuse('definition_unsound', [...(yield* triggerFaults(plan)), ...(yield* restFaults(plan))]);
  return plan;
}

/** Stage 1, by the schema alone. */
function parseDefinition(input: unknown): ContractDefinition {
  if (!definitionSchema.fits(input)) {
    refuse('invalid_definition', faultsOf(ContractDefinition, definitionSchema.errors(input)));
  }
  const definition = input as ContractDefinition;
  refuse(
    'invalid_definition',
    definition.transitions.flatMap(({ trigger }, index) => {
      if (trigger?.kind !== 'on_aggregate') return [];
      const { shape, compiled } = triggers[definition.rule === undefined ? 'count' : 'refused'];
      if (compiled.fits(trigger)) return [];
      return faultsOf(shape, compiled.errors(trigger)).map(({ path, message }) => ({
        path: `/transitions/${index}/trigger${path === '/' ? '' : path}`,
        message,
      }));
    }),
  );
  if (definition.rule !== undefined) refuse('invalid_definition', ruleFaults(definition));
  return definition;
}

/** A rule that cannot be made, or that no trigger looks at; and one that judges several kinds of events with one state. */
function ruleFaults({ rule, transitions }: ContractDefinition): Fault[] {
  try {
    checkRule(rule);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.faults.map(({ path, message }) => ({ path: `/rule${path === '/' ? '' : path}`, message }));
  }
  const events = new Set(transitions.flatMap(({ trigger }) => (isOnAggregate(trigger) ? [trigger.event] : [])));
  if (events.size === 1) return [];
  return [
    {
      path: '/rule',
      message:
        events.size === 0
          ? 'is looked at by no trigger; give one with aggregate refused'
          : `decides one kind of event, and the triggers name ${events.size}: ${[...events].join(', ')}`,
    },
  ];
}

const advice: Partial<Record<FailureCode, string>> = {
  invalid_definition:
    'Correct the places listed; GET /api/contracts/templates/rate-limiter shows a definition that holds.',
  invalid_expression: 'A condition compares numbers, for example `count > 100` or `input.level >= 3 && count > 0`.',
  operator_not_registered: 'GET /api/operators lists the operators of this node.',
  definition_unsound: 'Correct the places listed.',
};

function refuse(code: FailureCode, faults: readonly Fault[]): void {
  const [first] = faults;
  if (first === undefined) return;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  throw new Failure(code, {
    what: 'The contract definition was refused.',
    why: `${first.path} ${first.message}${more}.`,
    ...(advice[code] === undefined ? {} : { fix: advice[code] }),
    faults,
  });
}

/** Every operator is registered; what the definition says of it is so; physics operators are always proved. */
function* operatorFaults(definition: ContractDefinition, findOperator: FindOperator): Steps<Fault[]> {
  const faults: Fault[] = [];
  for (const [index, { operator: id, proof_required, inputs = {} }] of definition.transitions.entries()) {
    yield 1 / 8 + Object.keys(inputs).length / 8;
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
        const guess = nearest(name, Object.keys(operator.inputs));
        const hint =
          guess === undefined ? `inputs: ${Object.keys(operator.inputs).join(', ')}` : `did you mean "${guess}"?`;
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

function triggerKindFaults(definition: ContractDefinition): Fault[] {
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

/** Exactly one initial state; every end of a transition is a state; every state can be reached. */
function structureFaults(definition: ContractDefinition): Fault[] {
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
      const guess = nearest(name, names);
      const hint = guess === undefined ? `states: ${names.join(', ')}` : `did you mean "${guess}"?`;
      faults.push({
        path: `/transitions/${index}/${end}`,
        message: `names the state "${name}", which does not exist; ${hint}`,
      });
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
