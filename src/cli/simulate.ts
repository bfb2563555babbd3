// Owns `weir simulate`: scenarios in virtual time, one after the other, each with its report.
import type { ArgumentsCamelCase, Argv, CommandModule } from 'yargs';
import { jsonOption, noDefault, outOption, reportOption, topOption } from './options.js';

const options = (yargs: Argv) =>
  yargs
    .positional('scenario', {
      type: 'string',
      array: true,
      demandOption: true,
      ...noDefault,
      describe: 'scenario files (YAML or JSON)',
    })
    .option('seed', { type: 'number', requiresArg: true, describe: 'instead of the seed of the scenario' })
    .option('replications', {
      type: 'number',
      requiresArg: true,
      describe: 'run so many times under seeds that follow, on all cores',
    })
    .option('threads', {
      type: 'number',
      requiresArg: true,
      describe: 'threads for replications (default: one for each core)',
    })
    .option('trace', {
      type: 'string',
      requiresArg: true,
      describe: 'write every message between actors to this file (NDJSON), and a diagram of a short run beside it',
    })
    .option('until', {
      type: 'number',
      requiresArg: true,
      describe: 'stop at the end of this cycle, and show what every actor is doing',
    })
    .option('out', outOption)
    .option('report', reportOption)
    .option('top', topOption)
    .option('json', jsonOption)
    .example('$0 simulate scenarios/burst.yaml', 'one scenario, with its report')
    .example('$0 simulate scenarios/*.yaml', 'all of them, in one table')
    .example('$0 simulate scenarios/day.yaml --replications 20', 'with 95 % intervals')
    .example('$0 simulate scenarios/herd.yaml --until 160 --trace messages.ndjson', 'what the actors say to each other')
    .strict();

type Options = ReturnType<typeof options> extends Argv<infer Given> ? Given : never;
export type SimulateArguments = ArgumentsCamelCase<Options>;

export const simulateCommand: CommandModule<object, Options> = {
  command: 'simulate <scenario..>',
  describe: 'run scenarios in virtual time: what the limiter does, and whether the clients behind it drain',
  builder: options,
  handler: async (given) => {
    const { runSimulations } = await import('./simulate-run.js');
    await runSimulations(given);
  },
};
