// Owns `weir operators`: what transitions can fire.
import type { Operator } from '../client/answers.js';
import { nodeCommand } from './node-command.js';
import { facts, table } from './table.js';

export const operatorsCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('id', { type: 'string', describe: 'id of an operator' })
      .example('$0 operators', 'all of them')
      .example('$0 operators KO42', 'its equation, inputs and reference cases'),
  run: async ({ anyone }, { id }) => {
    if (id !== undefined) {
      const answer = await anyone.operator(id);
      return { answer, words: wordsOf(answer.operator) };
    }
    const answer = await anyone.operators();
    const rows = answer.operators.map((one) => [one.id, one.kind, one.proof_required ? 'yes' : 'no', one.equation]);
    return { answer, words: table(['id', 'kind', 'proof', 'equation'], rows) };
  },
});

function wordsOf({ id, name, version, kind, equation, result, proof_required, inputs, cases }: Operator): string {
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
