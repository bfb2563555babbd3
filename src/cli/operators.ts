// `weir node operators` and `weir node shift`: lists the operators that transitions can fire, and projects them over future cycles.
import { getOperator, listOperators, shift } from '../api/operators.js';
import type { AnswerOf } from '../client/api-client.js';
import { several, text, whole } from './command.js';
import { nodeCommand } from './node-command.js';
import { inputs } from './options.js';
import { facts, table } from './terminal.js';

export const operators = nodeCommand({
  isPublic: true,
  options: { id: text('id of an operator', { place: true }) },
  examples: [
    ['node operators', 'all of them'],
    ['node operators KO42', 'its equation, inputs and reference cases'],
  ],
  run: async ({ anyone }, { id }) => {
    if (id !== undefined) {
      const answer = await anyone.call(getOperator, { params: { id } });
      return { answer, words: operatorText(answer.operator) };
    }
    const answer = await anyone.call(listOperators);
    const rows = answer.operators.map((one) => [one.id, one.kind, one.proof_required ? 'yes' : 'no', one.equation]);
    return { answer, words: table(['id', 'kind', 'proof', 'equation'], rows) };
  },
});

function operatorText({
  id,
  name,
  version,
  kind,
  equation,
  result,
  proof_required,
  inputs,
  cases,
}: AnswerOf<typeof getOperator>['operator']): string {
  const about = facts([
    ['is', `${name} ${version}, ${kind}`],
    ['equation', equation],
    ['result', `${result.description} [${result.unit}]`],
    ['proof', proof_required ? 'of every fire' : 'not required'],
  ]);
  const given = table(
    ['input', 'unit', 'min', 'max', 'default', ''],
    Object.entries(inputs).map(([key, one]) => [key, one.unit, one.min, one.max, one.default, one.description]),
  );
  const known = table(
    ['reference case', 'result', 'source'],
    cases.map((one) => [
      Object.entries(one.inputs)
        .map(([key, value]) => `${key}=${value}`)
        .join(' '),
      one.result,
      one.source,
    ]),
  );
  return [id, about, '', given, '', known].join('\n');
}

export const shiftOperators = nodeCommand({
  options: {
    operator: several(text('operators in addition to KO42, which is always included', { place: true })),
    count: whole(1, 32, 'how many cycles', { default: 8 }),
    cycle: whole(0, Number.MAX_SAFE_INTEGER, 'the first one (default: the running one)'),
    set: inputs,
  },
  examples: [['node shift --count 4 --set S=100', 'KO42 over four cycles']],
  run: async ({ api }, { count: steps, cycle, operator, set: input }) => {
    const answer = await api.call(shift, {
      body: { steps, base_cycle: cycle, operators: operator, inputs: input && Object.fromEntries(input) },
    });
    const rows = answer.projection.map((one) => [one.cycle, one.operator, one.result, one.proof_digest]);
    const { min, max, mean } = answer.summary;
    return {
      answer,
      words: `${table(['cycle', 'operator', 'result', 'proof digest'], rows)}\nmin ${min}  max ${max}  mean ${mean}`,
    };
  },
});
