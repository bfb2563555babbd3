// The two stages that every definition passes before it runs: (1) parsing, by the schema and of its conditions; (2) soundness
// (soundness.ts, settling.ts).
import { compileSchema } from '../schema/compile-schema.js';
import { Failure, type FailureCode, type Fault, firstOf, placed } from '../schema/failure.js';
import { valueFaults } from '../schema/value-faults.js';
import { compile } from './compile.js';
import { ContractDefinition, isOnAggregate, OnCount, OnRefused } from './definition.js';
import { isDrawn, readDrawn } from './drawn-definition.js';
import { configOf, type MachineConfig } from './machine-config.js';
import type { Plan } from './plan.js';
import { planRule } from './planned-rule.js';
import { checkRule } from './rule/rule-definition.js';
import { faultsWithoutEffect } from './rule/without-effect.js';
import { settlingFaults } from './settling.js';
import { operatorFaults, structureFaults, triggerFaults, triggerKindFaults } from './soundness.js';

const isDefinition = compileSchema(ContractDefinition);

/**
 * @param input a definition, or the JSON of an XState machine
 * @throws Failure `invalid_definition`, `invalid_expression`: stage 1; `operator_not_registered`, `definition_unsound`: 2
 */
export function planContract(input: unknown): Plan {
  if (!isDrawn(input)) return planDefinition(input);
  const { definition, drawnPath } = readDrawn(input);
  try {
    return planDefinition(definition);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const faults = error.faults.map((fault) => ({ ...fault, path: drawnPath(fault.path) }));
    refuse(error.code, faults);
    throw error;
  }
}

export function configOfPlan({ definition }: Plan): MachineConfig {
  return configOf(definition).config;
}

function planDefinition(input: unknown): Plan {
  const definition = parseDefinition(input);
  const { config, faults } = configOf(definition);
  refuse('invalid_expression', faults);
  refuse('operator_not_registered', operatorFaults(definition));
  refuse('definition_unsound', [...triggerKindFaults(definition), ...structureFaults(definition)]);
  const machine = compile(config);
  const rule = definition.rule === undefined ? undefined : planRule(definition.rule);
  const thresholds = rule === undefined ? machine.thresholds : [rule.most];
  const plan: Plan = { ...machine, definition, rule, thresholds, isShadow: definition.shadow === true };
  if (definition.rule !== undefined) refuse('definition_unsound', faultsWithoutEffect(definition.rule, '/rule'));
  refuse('definition_unsound', [...triggerFaults(plan), ...settlingFaults(plan)]);
  return plan;
}

function parseDefinition(input: unknown): ContractDefinition {
  if (!isDefinition(input)) refuse('invalid_definition', valueFaults(ContractDefinition, input));
  const definition = input as ContractDefinition;
  refuse(
    'invalid_definition',
    definition.transitions.flatMap(({ trigger }, index) => {
      if (trigger?.kind !== 'on_aggregate') return [];
      const shape = definition.rule === undefined ? OnCount : OnRefused;
      return valueFaults(shape, trigger, `/transitions/${index}/trigger`);
    }),
  );
  if (definition.rule !== undefined) refuse('invalid_definition', ruleFaults(definition));
  return definition;
}

function ruleFaults({ rule, transitions }: ContractDefinition): Fault[] {
  try {
    checkRule(rule);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.faults.map((fault) => placed(fault, '/rule'));
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
  if (faults.length === 0) return;
  throw new Failure(code, {
    what: 'The contract definition was refused.',
    why: firstOf(faults),
    ...(advice[code] === undefined ? {} : { fix: advice[code] }),
    faults,
  });
}
