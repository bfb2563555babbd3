// The endpoints of operators: the registry, and projections over future cycles.
import { SUBSTRATE } from '../core/operator/ko42.js';
import { exact, flag, shape, whole } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { CYCLE_MS } from '../core/time/cycle.js';
import { get, post } from './endpoint.js';
import { Cycle, Hash, ok } from './shapes.js';

const Numbers = Type.Record(Type.String(), Type.Number());

const OperatorView = shape({
  id: Type.String(),
  name: Type.String(),
  version: Type.String(),
  kind: Type.Enum(['substrate', 'physics']),
  equation: Type.String({ description: 'As it is written to the record.' }),
  inputs: Type.Record(
    Type.String(),
    shape({
      unit: Type.String(),
      min: Type.Number(),
      max: Type.Number(),
      'default?': Type.Number({ description: 'Absent if the input is required.' }),
      description: Type.String(),
    }),
  ),
  result: shape({ unit: Type.String(), description: Type.String() }),
  proof_required: flag('Whether every fire is proved and verified.'),
  cases: Type.Array(
    shape({ inputs: Numbers, result: Type.Number(), tolerance: Type.Number(), source: Type.String() }),
    { description: 'Published values that the operator reproduces.' },
  ),
});

const MOST_STEPS = 32;

const Body = exact({
  steps: whole(1, MOST_STEPS, 'How many cycles, one a step.'),
  'base_cycle?': whole(0, Number.MAX_SAFE_INTEGER - MOST_STEPS, 'The cycle of step 0; the running one when absent.'),
  'operators?': Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    maxItems: 16,
    description: `Ids of operators; ${SUBSTRATE} is always part of it.`,
  }),
  'inputs?': Type.Record(
    Type.String({ minLength: 1, maxLength: 64 }),
    Type.Number({ minimum: -1e300, maximum: 1e300 }),
    {
      maxProperties: 64,
      description: 'By name; each operator uses the inputs it knows.',
    },
  ),
});

export const Summary = shape({ min: Type.Number(), max: Type.Number(), mean: Type.Number() });

export const Step = shape({
  step: Type.Integer({ description: 'From 0.' }),
  cycle: Cycle,
  operator: Type.String(),
  result: Type.Number(),
  master_equation_block: Type.String({ description: 'The equation, verbatim.' }),
  proof_digest: Hash,
});

export const listOperators = get('/api/operators', {
  answers: ok('The registry.', { count: Type.Integer(), operators: Type.Array(OperatorView) }),
});

export const getOperator = get('/api/operators/{id}', {
  shapes: { params: shape({ id: Type.String({ description: 'Id of the operator.' }) }) },
  answers: ok('The operator.', { operator: OperatorView }),
});

export const shift = post('/api/core/shift', {
  shapes: { body: Body },
  answers: ok('The projection, cycle by cycle.', {
    base_cycle: Cycle,
    steps: Type.Integer(),
    cycle_seconds: Type.Literal(CYCLE_MS / 1000),
    projection: Type.Array(Step),
    summary: shape('Of all results, and for each operator.', {
      ...Summary.properties,
      by_operator: Type.Record(Type.String(), Summary),
    }),
  }),
});
