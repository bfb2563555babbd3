// Owns `weir shift`: operators projected over cycles to come.

import { inputOption, inputsFrom } from './inputs.js';
import { nodeCommand } from './node-command.js';
import { table } from './table.js';

export const shiftCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .option('steps', { type: 'number', default: 8, requiresArg: true, describe: 'how many cycles, 1 to 32' })
      .option('base-cycle', { type: 'number', requiresArg: true, describe: 'the first one (default: the running one)' })
      .option('operator', {
        type: 'string',
        array: true,
        requiresArg: true,
        describe: 'beside KO42, which is always there; several times for several',
      })
      .option('input', inputOption)
      .example('$0 shift --steps 4 --input S=100', 'KO42 over four cycles'),
  run: async ({ api }, { steps, baseCycle, operator, input }) => {
    const answer = await api.shift({
      steps,
      ...(baseCycle === undefined ? {} : { base_cycle: baseCycle }),
      ...(operator === undefined ? {} : { operators: operator }),
      ...(input === undefined ? {} : { inputs: inputsFrom(input) }),
    });
    const rows = answer.projection.map((one) => [one.cycle, one.operator, one.result, one.proof_digest]);
    const { min, max, mean } = answer.summary;
    return {
      answer,
      words: `${table(['cycle', 'operator', 'result', 'proof digest'], rows)}\nmin ${min}  max ${max}  mean ${mean}`,
    };
  },
});
