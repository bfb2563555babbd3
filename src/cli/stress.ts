// Owns the options of `weir stress`. Leaves the doing to stress-run.ts.
import type { ArgumentsCamelCase, Argv, CommandModule } from 'yargs';
import { liveOptions } from './load.js';
import { jsonOption } from './options.js';

const options = (yargs: Argv) =>
  yargs
    .options(liveOptions)
    .option('workers', {
      type: 'number',
      requiresArg: true,
      describe: 'threads that ask, beside this one (default: 0)',
    })
    .option('seconds', { type: 'number', requiresArg: true, describe: 'length of a round in seconds (default: 3)' })
    .option('rounds', { type: 'number', requiresArg: true, describe: 'rounds of which the median counts (default: 3)' })
    .option('p99', {
      type: 'string',
      requiresArg: true,
      describe: 'also search for the highest rate whose 99th percentile stays below this, for example 20ms',
    })
    .option('json', jsonOption)
    .example('$0 stress', 'how much a node on this machine holds')
    .example('$0 stress --url http://127.0.0.1:7770 --connections 200', 'a node that runs already')
    .example('$0 stress --p99 20ms', 'and the highest rate that is still quick')
    .strict();

type Options = ReturnType<typeof options> extends Argv<infer Given> ? Given : never;
export type StressArguments = ArgumentsCamelCase<Options>;

export const stressCommand: CommandModule<object, Options> = {
  command: 'stress',
  describe: 'saturate a node with many connections: how much does it hold',
  builder: options,
  handler: async (given) => {
    const { runStress } = await import('./stress-run.js');
    await runStress(given);
  },
};
