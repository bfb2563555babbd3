// `weir operators` and `weir shift`: lists the operators that transitions can fire, and projects them over future cycles.
import { getOperator, listOperators, shift } from '../api/operators.js';
import type { AnswerOf } from '../client/api-client.js';
import { nodeCommand } from './node-command.js';
import { inputOption, inputsFrom } from './options.js';
import { facts, table } from './terminal.js';

export const operatorsCommand = nodeCommand({
  isPublic: true,
  options: (yargs) =>
    yargs
      .positional('id', { type: 'string', describe: 'id of an operator' })
      .example('$0 operators', 'all of them')
      .example('$0 operators KO42', 'its equation, inputs and reference cases'),
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

export const shiftCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .option('steps', { type: 'number', default: 8, requiresArg: true, describe: 'how many cycles, 1 to 32' })
      .option('base-cycle', { type: 'number', requiresArg: true, describe: 'the first one (default: the running one)' })
      .option('operator', {
        type: 'string',
        array: true,
        requiresArg: true,
        describe: 'an operator in addition to KO42, which is always included; may be repeated',
      })
      .option('input', inputOption)
      .example('$0 shift --steps 4 --input S=100', 'KO42 over four cycles'),
  run: async ({ api }, { steps, baseCycle, operator, input }) => {
    const answer = await api.call(shift, {
      body: { steps, base_cycle: baseCycle, operators: operator, inputs: input && inputsFrom(input) },
    });
    const rows = answer.projection.map((one) => [one.cycle, one.operator, one.result, one.proof_digest]);
    const { min, max, mean } = answer.summary;
    return {
      answer,
      words: `${table(['cycle', 'operator', 'result', 'proof digest'], rows)}\nmin ${min}  max ${max}  mean ${mean}`,
    };
  },
});
