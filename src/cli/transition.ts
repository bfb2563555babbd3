// Owns `weir transition`: a contract moved by hand.

import { contractOf, contractOption } from './contract-of.js';
import { inputOption, inputsFrom } from './inputs.js';
import { nodeCommand } from './node-command.js';
import { facts } from './table.js';

export const transitionCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('slug', { type: 'string', demandOption: true, describe: 'slug of the machine' })
      .positional('to', { type: 'string', demandOption: true, describe: 'the state to enter' })
      .option('contract', contractOption)
      .option('hold', { type: 'number', requiresArg: true, describe: 'cycles for which nothing moves it on' })
      .option('input', inputOption)
      .example('$0 transition edge-gateway limiting --hold 60', 'close the gate for 60 cycles')
      .example('$0 transition edge-gateway allowing', 'the next evaluation applies the rules again'),
  run: async ({ api }, { slug, to, contract, hold: hold_cycles, input }) => {
    const id = await contractOf(api, slug, contract);
    const body = {
      to,
      ...(hold_cycles === undefined ? {} : { hold_cycles }),
      ...(input === undefined ? {} : { input: inputsFrom(input) }),
    };
    const answer = await api.transition(slug, id, body);
    const words = facts([
      ['moved', `from ${answer.previous_state} to ${answer.new_state} in cycle ${answer.cycle}`],
      ['emitted', answer.emitted.join(', ') || 'nothing'],
      ['row', `${answer.seq}, ${answer.hash}`],
      ['equation', answer.master_equation_block],
      ['proof', answer.proof_digest ?? 'not required'],
    ]);
    return { answer, words };
  },
});
