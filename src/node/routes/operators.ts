// Owns looking at the operator registry. Leaves the operators to core/operator/.

import type { Operator } from '../../operator/operator.js';
import type { OperatorRegistry } from '../../operator/registry.js';
import { nearest } from '../../schema/did-you-mean.js';
import { Failure } from '../../schema/failure.js';
import { Type } from '../../schema/json-schema.js';
import { route } from '../route.js';
import { Ok } from '../shapes.js';

const Numbers = Type.Record(Type.String(), Type.Number());

const OperatorView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  version: Type.String(),
  kind: Type.Enum(['substrate', 'physics']),
  equation: Type.String({ description: 'As it is written to the record.' }),
  inputs: Type.Record(
    Type.String(),
    Type.Object({
      unit: Type.String(),
      min: Type.Number(),
      max: Type.Number(),
      default: Type.Optional(Type.Number({ description: 'Absent where the input has to be given.' })),
      description: Type.String(),
    }),
  ),
  result: Type.Object({ unit: Type.String(), description: Type.String() }),
  proof_required: Type.Boolean({ description: 'Whether every fire is proved and verified.' }),
  cases: Type.Array(
    Type.Object({ inputs: Numbers, result: Type.Number(), tolerance: Type.Number(), source: Type.String() }),
    { description: 'Published values that it reproduces.' },
  ),
});

export const listOperators = route({
  method: 'GET',
  path: '/api/operators',
  auth: 'public',
  tier: 'public',
  domain: 'operators',
  summary: 'Lists the operators that transitions can fire: equations, inputs with units and ranges, reference cases.',
  answers: {
    200: {
      description: 'The registry.',
      schema: Type.Object({ ok: Ok, count: Type.Integer(), operators: Type.Array(OperatorView) }),
    },
  },
  example: { status: 200 },
  handle({ operators }) {
    const views = operators.list().map(operatorView);
    return { ok: true, count: views.length, operators: views };
  },
});

export const getOperator = route({
  method: 'GET',
  path: '/api/operators/{id}',
  auth: 'public',
  tier: 'public',
  domain: 'operators',
  summary: 'Shows one operator.',
  shapes: { params: Type.Object({ id: Type.String({ description: 'Id of the operator.' }) }) },
  answers: { 200: { description: 'The operator.', schema: Type.Object({ ok: Ok, operator: OperatorView }) } },
  errors: ['operator_not_found'],
  example: { params: { id: 'KO42' }, status: 200 },
  handle({ operators }, { params }) {
    const operator = operators.get(params.id);
    if (operator === undefined) throw notFound(operators, params.id);
    return { ok: true, operator: operatorView(operator) };
  },
});

function operatorView({ id, name, version, kind, equation, inputs, result, proofRequired, cases }: Operator) {
  return { id, name, version, kind, equation, inputs, result, proof_required: proofRequired, cases };
}

function notFound(operators: OperatorRegistry, id: string): Failure {
  const ids = operators.list().map((operator) => operator.id);
  const guess = nearest(id, ids);
  return new Failure('operator_not_found', {
    what: `There is no operator "${id}".`,
    fix: guess === undefined ? `There are ${ids.join(', ')}.` : `Did you mean "${guess}"?`,
  });
}
