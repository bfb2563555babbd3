// The two stages that every definition passes before it runs: (1) parse, by the schema and of its conditions; (2) soundness: operators
// that exist, states that can be reached, no endless firing. The same for a template and for any other contract.
import type { FindOperator } from '../operator/operator.js';
import { findStandardOperator } from '../operator/registry.js';
import { compileSchema } from '../schema/compile-schema.js';
import { nearest } from '../schema/did-you-mean.js';
import { Failure, type FailureCode, type Fault } from '../schema/failure.js';
import { faultsOf } from '../schema/schema-faults.js';
import { ContractDefinition, isOnAggregate, OnCount, OnRefused } from './definition.js';
import type { IntegerSet } from './expression/integer-set.js';
import { firingAt, makePlan, type Plan, parseTransitions } from './plan.js';
import { checkRule } from './rule/definition.js';

const definitionSchema = compileSchema(ContractDefinition);
const triggers = {
  count: { shape: OnCount, compiled: compileSchema(OnCount) },
  refused: { shape: OnRefused, compiled: compileSchema(OnRefused) },
} as const;

/**
 * Makes a definition ready to run. Every fault that a stage finds is listed with its place.
 * @param findOperator the operators that the definition may name; the plan keeps those that its transitions fire
 * @throws Failure `invalid_definition` (does not fit the schema) or `invalid_expression` (a condition cannot be read): stage 1
 * @throws Failure `operator_not_registered` or `definition_unsound` (cannot run): stage 2
 */
export function planContract(input: unknown, findOperator: FindOperator = findStandardOperator): Plan {
  const definition = parseDefinition(input);
  const { aggregates, transitions, faults } = parseTransitions(definition, findOperator);
  refuse('invalid_expression', faults);
  refuse('operator_not_registered', operatorFaults(definition, findOperator));
  refuse('definition_unsound', [...triggerKindFaults(definition), ...structureFaults(definition)]);
  const plan = makePlan(definition, aggregates, transitions);
  refuse('definition_unsound', endlessFaults(plan));
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
function operatorFaults(definition: ContractDefinition, findOperator: FindOperator): Fault[] {
  const faults: Fault[] = [];
  definition.transitions.forEach(({ operator: id, proof_required, inputs = {} }, index) => {
    const path = `/transitions/${index}`;
    const operator = findOperator(id);
    if (operator === undefined) {
      faults.push({ path: `${path}/operator`, message: `names the operator "${id}", which is not registered` });
      return;
    }
    if (operator.proofRequired && proof_required === false) {
      faults.push({ path: `${path}/proof_required`, message: `must be true: ${id} is a ${operator.kind} operator` });
    }
    for (const [name, value] of Object.entries(inputs)) {
      const input = operator.inputs[name];
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
  });
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

/**
 * The most transitions that are evaluated over all combinations of counts: about 50 ms. A definition that needs more is refused: checking
 * it would keep all other requests waiting.
 */
const EVALUATIONS = 2_000_000;

/** The most counts of one window at which a condition may change: a request that counts many events fires at each of them. */
const STRETCHES = 1_000;

/**
 * Finds a definition that never settles: at some counts its triggers lead in a circle, so that it fires at every evaluation for as
 * long as the counts stay the same.
 *
 * Conditions change their value only at the ends of their ranges, so one count from each stretch between two ends is enough.
 */
function endlessFaults(plan: Plan): Fault[] {
  const stretches = plan.aggregates.map((_, aggregate) => stretchStarts(plan, aggregate));
  const combinations = stretches.reduce((product, starts) => product * starts.length, 1);
  const transitions = plan.states.reduce((sum, state) => sum + state.transitions.length, 0);
  if (combinations * transitions > EVALUATIONS || stretches.some((starts) => starts.length > STRETCHES)) {
    return [{ path: '/transitions', message: 'look at too many different windows and counts at once; use fewer' }];
  }
  const counts = new Array<number>(stretches.length).fill(0);
  for (let combination = 0; combination < combinations; combination += 1) {
    let rest = combination;
    stretches.forEach((starts, aggregate) => {
      counts[aggregate] = starts[rest % starts.length]!;
      rest = Math.floor(rest / starts.length);
    });
    const circle = findCircle(plan, counts);
    if (circle !== undefined) return [{ path: '/transitions', message: endlessWords(plan, circle, counts) }];
  }
  return [];
}

function stretchStarts(plan: Plan, aggregate: number): number[] {
  const starts = new Set([0]);
  const mark = (set: IntegerSet) => {
    for (const { lo, hi } of set) {
      starts.add(lo);
      if (hi < Number.POSITIVE_INFINITY) starts.add(hi + 1);
    }
  };
  for (const { transitions } of plan.states) {
    for (const { trigger } of transitions) if (trigger?.aggregate === aggregate) mark(trigger.counts);
  }
  return [...starts].sort((a, b) => a - b);
}

/** States on a circle that fires at these counts, in order, or undefined. */
function findCircle(plan: Plan, counts: readonly number[]): number[] | undefined {
  const next = plan.states.map((_, state) => firingAt(plan, state, counts)?.to);
  // From which start each state was first reached.
  const seenFrom = new Map<number, number>();
  for (let start = 0; start < next.length; start += 1) {
    let state: number | undefined = start;
    for (; state !== undefined && !seenFrom.has(state); state = next[state]) seenFrom.set(state, start);
    if (state === undefined || seenFrom.get(state) !== start) continue;
    const circle = [state];
    for (let on = next[state]!; on !== state; on = next[on]!) circle.push(on);
    return circle;
  }
  return undefined;
}

function endlessWords(plan: Plan, circle: readonly number[], counts: readonly number[]): string {
  const names = circle.map((state) => `"${plan.states[state]!.name}"`);
  const where = plan.aggregates
    .map(({ event, within }, index) =>
      plan.rule === undefined ? `count ${counts[index]} of ${event} in ${within} cycles` : `refused ${counts[index]}`,
    )
    .join(' and ');
  const round = names.length === 1 ? `${names[0]} leads to itself` : `${names.join(' and ')} lead to each other`;
  return `never come to rest: at ${where}, ${round} at every evaluation`;
}
