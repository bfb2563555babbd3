// `weir node clock`, `endpoints`, `operators` and `shift`: public information of a node, and operators over future cycles.
import type { AnswerOf } from '../api/client/api-client.js';
import { listEndpoints, readClock } from '../api/node.js';
import { getOperator, listOperators, shift as shiftOperators } from '../api/operators.js';
import { several, text, whole } from '../report/command/command.js';
import { inputs } from '../report/command/options.js';
import { facts, table } from '../report/command/terminal.js';
import { nodeCommand } from './node-command.js';

export const clock = nodeCommand({
  isPublic: true,
  options: {},
  examples: [['node clock', 'and when the next cycle begins']],
  run: async ({ anyone }) => {
    const answer = await anyone.call(readClock);
    const { cycle, cycle_ms, next_cycle_in_ms } = answer;
    const words = `cycle ${cycle}, of ${cycle_ms} ms; the next one begins in ${Math.ceil(next_cycle_in_ms)} ms`;
    return { answer, words };
  },
});

export const endpoints = nodeCommand({
  isPublic: true,
  options: {},
  examples: [['node endpoints', 'with authorization and purpose']],
  run: async ({ anyone }) => {
    const answer = await anyone.call(listEndpoints);
    const rows = answer.endpoints.map(({ method, path, auth, summary }) => [method, path, auth, summary]);
    return { answer, words: table(['method', 'path', 'who', 'what'], rows) };
  },
});

export const operators = nodeCommand({
  isPublic: true,
  options: { operator: text('id of an operator', { place: true }) },
  examples: [
    ['node operators', 'all of them'],
    ['node operators KO42', 'its equation, inputs and reference cases'],
  ],
  run: async ({ anyone }, { operator }) => {
    if (operator !== undefined) {
      const answer = await anyone.call(getOperator, { params: { id: operator } });
      return { answer, words: operatorText(answer.operator) };
    }
    const answer = await anyone.call(listOperators);
    const rows = answer.operators.map((one) => [one.id, one.kind, one.proof_required ? 'yes' : 'no', one.equation]);
    return { answer, words: table(['id', 'kind', 'proof', 'equation'], rows) };
  },
});

function operatorText(operator: AnswerOf<typeof getOperator>['operator']): string {
  const { id, name, version, kind, equation, result, proof_required, inputs, cases } = operator;
  const about = facts([
    ['is', `${name} ${version}, ${kind}`],
    ['equation', equation],
    ['result', `${result.description} [${result.unit}]`],
    ['proof', proof_required ? 'of every fire' : 'not required'],
  ]);
  const given = Object.entries(inputs).map(([key, one]) => [
    key,
    one.unit,
    one.min,
    one.max,
    one.default,
    one.description,
  ]);
  const wordsOf = (values: object) => Object.entries(values).map(([key, value]) => `${key}=${value}`);
  const known = cases.map((one) => [wordsOf(one.inputs).join(' '), one.result, one.source]);
  return [
    id,
    about,
    '',
    table(['input', 'unit', 'min', 'max', 'default', ''], given),
    '',
    table(['reference case', 'result', 'source'], known),
  ].join('\n');
}

export const shift = nodeCommand({
  options: {
    operator: several(text('operators in addition to KO42, which is always included', { place: true })),
    count: whole(1, 32, 'how many cycles', { default: 8 }),
    cycle: whole(0, Number.MAX_SAFE_INTEGER, 'the first one (default: the running one)'),
    set: inputs,
  },
  examples: [['node shift --count 4 --set S=100', 'KO42 over four cycles']],
  run: async ({ api }, { count: steps, cycle, operator, set: input }) => {
    const answer = await api.call(shiftOperators, {
      body: { steps, base_cycle: cycle, operators: operator, inputs: input && Object.fromEntries(input) },
    });
    const rows = answer.projection.map((one) => [one.cycle, one.operator, one.result, one.proof_digest]);
    const { min, max, mean } = answer.summary;
    const list = table(['cycle', 'operator', 'result', 'proof digest'], rows);
    return { answer, words: `${list}\nmin ${min}  max ${max}  mean ${mean}` };
  },
});
