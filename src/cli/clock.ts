// Owns `weir clock`: the running cycle of a node.
import { nodeCommand } from './node-command.js';

export const clockCommand = nodeCommand({
  options: (yargs) => yargs.example('$0 clock', 'and when the next one begins'),
  run: async ({ anyone }) => {
    const answer = await anyone.clock();
    const { cycle, cycle_ms, next_cycle_in_ms } = answer;
    return {
      answer,
      words: `cycle ${cycle}, of ${cycle_ms} ms; the next one begins in ${Math.ceil(next_cycle_in_ms)} ms`,
    };
  },
});
