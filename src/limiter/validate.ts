// Owns the two stages that every definition passes before it runs: (1) parse, by the schema and of its conditions; (2) soundness
// against the live operator registry. One function for the deploy of a template and for the creation of any contract.

import type { FindOperator } from '../operator/operator.js';
import { findStandardOperator } from '../operator/registry.js';
import { Failure, type FailureCode, type Fault } from '../schema/failure.js';
import { compileSchema } from '../schema/json-schema.js';
import { faultsOf } from '../schema/schema-faults.js';
import { parseTransitions } from './conditions.js';
import { ContractDefinition, OnAggregate } from './definition.js';
import { makePlan, type Plan } from './plan.js';
import { operatorFaults, restlessFaults, structureFaults, triggerKindFaults } from './soundness.js';

const definitionSchema = compileSchema(ContractDefinition);
const onAggregateSchema = compileSchema(OnAggregate);

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
  refuse('definition_unsound', restlessFaults(plan));
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
      if (trigger?.kind !== 'on_aggregate' || onAggregateSchema.fits(trigger)) return [];
      return faultsOf(OnAggregate, onAggregateSchema.errors(trigger)).map(({ path, message }) => ({
        path: `/transitions/${index}/trigger${path === '/' ? '' : path}`,
        message,
      }));
    }),
  );
  return definition;
}

const advice: Partial<Record<FailureCode, string>> = {
  invalid_definition:
    'Mend the places listed; GET /api/contracts/templates/rate-limiter shows a definition that holds.',
  invalid_expression: 'A condition compares numbers, for example `count > 100` or `input.level >= 3 && count > 0`.',
  operator_not_registered: 'GET /api/operators lists the operators of this node.',
  definition_unsound: 'Mend the places listed.',
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
