// Owns looking at the operator registry. Leaves the operators to core/operator/.

import * as api from '../../api/operators.js';
import type { Operator } from '../../operator/operator.js';
import type { OperatorRegistry } from '../../operator/registry.js';
import { nearest } from '../../schema/did-you-mean.js';
import { Failure } from '../../schema/failure.js';
import { route } from '../route.js';

export const listOperators = route({
  ...api.listOperators,
  auth: 'public',
  tier: 'public',
  domain: 'operators',
  summary: 'Lists the operators that transitions can fire: equations, inputs with units and ranges, reference cases.',
  example: { status: 200 },
  handle({ operators }) {
    const views = operators.list().map(operatorView);
    return { ok: true, count: views.length, operators: views };
  },
});

export const getOperator = route({
  ...api.getOperator,
  auth: 'public',
  tier: 'public',
  domain: 'operators',
  summary: 'Shows one operator.',
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
