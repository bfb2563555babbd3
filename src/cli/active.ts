// Owns `weir active`: the busiest public machines.
import { nodeCommand } from './node-command.js';
import { table } from './table.js';

export const activeCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .option('cycles', { type: 'number', requiresArg: true, describe: 'within so many cycles (default: 60)' })
      .option('limit', { type: 'number', requiresArg: true, describe: 'how many (default: 10)' })
      .example('$0 active', 'within the last 60 cycles')
      .example('$0 active --cycles 3600 --limit 3', 'the three busiest of the last 47 minutes'),
  run: async ({ anyone }, { cycles, limit }) => {
    const answer = await anyone.active({ cycles, limit });
    const { window_cycles, cycle, machines } = answer;
    const rows = machines.map((one) => [one.slug, one.transitions, cycle - one.last_transition_cycle, one.contracts]);
    const words =
      rows.length === 0
        ? `No public machine has moved within ${window_cycles} cycles.`
        : table(['machine', 'transitions', 'cycles ago', 'contracts'], rows);
    return { answer, words };
  },
});
