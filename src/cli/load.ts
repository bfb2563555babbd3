// Owns the options of `weir load`. Leaves the doing to load-run.ts.
import type { ArgumentsCamelCase, Argv, CommandModule } from 'yargs';
import { jsonOption, noDefault, outOption, reportOption, topOption } from './options.js';

/** Options of every command that sends to a live target. */
export const liveOptions = {
  url: {
    type: 'string',
    requiresArg: true,
    describe: 'the target (default: a node is started on a free loopback port)',
  },
  'cycle-ms': {
    type: 'number',
    requiresArg: true,
    describe: 'length of a cycle of that node in ms (default: that of the scenario)',
  },
  key: { type: 'string', requiresArg: true, describe: 'a key of the node (default: one is minted)' },
  'allow-remote': {
    type: 'boolean',
    default: false,
    describe: 'the target may be another machine: make sure that it is yours',
  },
  timeout: { type: 'number', requiresArg: true, describe: 'how long an answer is waited for, in ms (default: 5000)' },
  connections: { type: 'number', requiresArg: true, describe: 'the most connections to open (default: 128)' },
} as const;

const options = (yargs: Argv) =>
  yargs
    .positional('scenario', {
      type: 'string',
      array: true,
      demandOption: true,
      ...noDefault,
      describe: 'scenario files (YAML or JSON)',
    })
    .options(liveOptions)
    .option('seed', { type: 'number', requiresArg: true, describe: 'instead of the seed of the scenario' })
    .option('pacing', {
      choices: ['arrival', 'spaced', 'at once'] as const,
      requiresArg: true,
      describe: 'where in its cycle a request is sent (default: as its arrival says)',
    })
    .option('out', outOption)
    .option('report', reportOption)
    .option('top', topOption)
    .option('json', jsonOption)
    .example('$0 load scenarios/burst.yaml', 'against a node started for the run, at full cycles')
    .example('$0 load scenarios/burst.yaml --cycle-ms 50', 'the same in seconds')
    .example('$0 load scenarios/*.yaml --url http://127.0.0.1:7770', 'against a node that runs already')
    .strict();

type Options = ReturnType<typeof options> extends Argv<infer Given> ? Given : never;
export type LoadArguments = ArgumentsCamelCase<Options>;

export const loadCommand: CommandModule<object, Options> = {
  command: 'load <scenario..>',
  describe: 'send the requests of scenarios to a live node, and compare what it does with the prediction',
  builder: options,
  handler: async (given) => {
    const { runLoads } = await import('./load-run.js');
    await runLoads(given);
  },
};
