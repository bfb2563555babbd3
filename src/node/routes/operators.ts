// Routes of operators: the registry, and projections over cycles.
import type { Static } from 'typebox';
import * as api from '../../api/operators.js';
import { fire } from '../../core/operator/fire.js';
import { SUBSTRATE } from '../../core/operator/ko42.js';
import type { Operator } from '../../core/operator/operator.js';
import { findOperator, standardOperators } from '../../core/operator/registry.js';
import { nearest } from '../../core/schema/did-you-mean.js';
import { Failure } from '../../core/schema/failure.js';
import { CYCLE_MS } from '../../core/time/cycle.js';
import { sourceOf } from '../request-source.js';
import { forAnyone, route } from '../route.js';

export const listOperators = route(api.listOperators, forAnyone, {
  summary: 'Lists the operators that transitions can fire: equations, inputs with units and ranges, reference cases.',
  handle() {
    const views = [...standardOperators().values()].map(operatorView);
    return { ok: true, count: views.length, operators: views };
  },
});

export const getOperator = route(api.getOperator, forAnyone, {
  summary: 'Shows one operator.',
  errors: ['operator_not_found'],
  example: { params: { id: 'KO42' } },
  handle(_, { params }) {
    const operator = findOperator(params.id);
    if (operator !== undefined) return { ok: true, operator: operatorView(operator) };
    throw new Failure('operator_not_found', {
      what: `There is no operator "${params.id}".`,
      fix: guessFor(params.id) ?? `There are ${[...standardOperators().keys()].join(', ')}.`,
    });
  },
});

function operatorView({ id, name, version, kind, equation, inputs, result, proofRequired, cases }: Operator) {
  return { id, name, version, kind, equation, inputs, result, proof_required: proofRequired, cases };
}

function guessFor(id: string): string | undefined {
  const guess = nearest(id, [...standardOperators().keys()]);
  return guess && `Did you mean "${guess}"?`;
}

const STEPS_AT_ONCE = 16;

const forProjections = { auth: 'key_and_session', scope: 'read', tier: 'computation (public)' } as const;

export const shift = route(api.shift, forProjections, {
  summary: 'Projects operators over cycles: computed, proved, verified, step by step.',
  errors: ['operator_not_registered', 'invalid_input', 'compute_failed', 'prove_failed', 'verify_failed'],
  example: { body: { steps: 3, base_cycle: 2_345_678_901, operators: [SUBSTRATE], inputs: { S: 100 } } },
  async handle({ clock, queue }, request) {
    const { body } = request;
    const { steps, base_cycle = clock.cycle(), inputs = {} } = body;
    const chosen = chosenFrom(body.operators ?? []);
    refuseUnknownInputs(chosen, inputs);
    const projection: ReturnType<typeof stepOf>[] = [];
    let step = 0;
    const project = () => {
      for (let left = Math.ceil(STEPS_AT_ONCE / chosen.length); left > 0 && step < steps; left -= 1, step += 1)
        for (const operator of chosen) projection.push(stepOf(operator, inputs, step, base_cycle + step));
      return step < steps;
    };
    // The first piece runs now, in the caller's turn.
    if (project()) while (await queue.of(sourceOf(request), project));
    const summary = {
      ...summaryOf(projection),
      by_operator: Object.fromEntries(
        chosen.map(({ id }) => [id, summaryOf(projection.filter(({ operator }) => operator === id))]),
      ),
    };
    return { ok: true, base_cycle, steps, cycle_seconds: CYCLE_MS / 1000, projection, summary };
  },
});

function stepOf(
  operator: Operator,
  inputs: Readonly<Record<string, number>>,
  step: number,
  cycle: number,
): Static<typeof api.Step> {
  const known = Object.entries(inputs).filter(([name]) => Object.hasOwn(operator.inputs, name));
  const firing = fire(operator, Object.fromEntries(known), cycle, { proofRequired: true });
  if (!firing.ok) {
    throw new Failure(firing.code, {
      what: `The projection ends at step ${step}.`,
      why: firing.why,
      fix: 'Give inputs within the ranges of GET /api/operators.',
    });
  }
  const { result, equation, proofDigest = '' } = firing;
  return { step, cycle, operator: operator.id, result, master_equation_block: equation, proof_digest: proofDigest };
}

/** The substrate first, then the others in the given order, each once. */
function chosenFrom(ids: readonly string[]): Operator[] {
  return [...new Set([SUBSTRATE, ...ids])].map((id) => {
    const operator = findOperator(id);
    if (operator !== undefined) return operator;
    throw new Failure('operator_not_registered', {
      what: 'Nothing was projected.',
      why: `There is no operator "${id}".`,
      fix: guessFor(id) ?? 'GET /api/operators lists the operators of this node.',
      faults: [{ path: `/operators/${ids.indexOf(id)}`, message: 'is not registered' }],
    });
  });
}

function refuseUnknownInputs(chosen: readonly Operator[], inputs: Readonly<Record<string, number>>): void {
  // The step sets the cycle.
  const known = chosen.flatMap((operator) => Object.keys(operator.inputs)).filter((name) => name !== 'cycle');
  const faults = Object.keys(inputs)
    .filter((name) => !known.includes(name))
    .map((name) => ({
      path: `/inputs/${name}`,
      message: `is not known; allowed here: ${[...new Set(known)].join(', ')}`,
    }));
  const [first] = faults;
  if (first === undefined) return;
  throw new Failure('invalid_input', {
    what: 'Nothing was projected.',
    why: `${first.path} ${first.message}.`,
    fix: 'GET /api/operators lists the inputs of every operator.',
    faults,
  });
}

function summaryOf(steps: readonly { readonly result: number }[]): Static<typeof api.Summary> {
  const results = steps.map(({ result }) => result);
  // Divided before they are added: the sum of finite numbers may overflow.
  const mean = results.reduce((sum, result) => sum + result / results.length, 0);
  return { min: Math.min(...results), max: Math.max(...results), mean };
}
