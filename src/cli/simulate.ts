// Owns `weir simulate`: scenarios in virtual time, one after the other, each with its report.
import type { CommandModule } from 'yargs';
import { jsonOption, outOption, reportOption, topOption } from './options.js';

interface Arguments {
  scenario: string[];
  seed?: number;
  replications?: number;
  threads?: number;
  json: boolean;
  out?: string;
  report: boolean;
  top: number;
  trace?: string;
  until?: number;
}

export const simulateCommand: CommandModule<object, Arguments> = {
  command: 'simulate <scenario..>',
  describe: 'run scenarios in virtual time: what the limiter does, and whether the clients behind it drain',
  builder: (yargs) =>
    yargs
      .positional('scenario', { type: 'string', array: true, demandOption: true, describe: 'scenario files (YAML or JSON)' })
      .option('seed', { type: 'number', requiresArg: true, describe: 'instead of the seed of the scenario' })
      .option('replications', { type: 'number', requiresArg: true, describe: 'run so many times under seeds that follow, on all cores' })
      .option('threads', { type: 'number', requiresArg: true, describe: 'threads for replications (default: one for each core)' })
      .option('trace', { type: 'string', requiresArg: true, describe: 'write every message between actors to this file (NDJSON), and a diagram of a short run beside it' })
      .option('until', { type: 'number', requiresArg: true, describe: 'stop at the end of this cycle, and show what every actor is doing' })
      .option('out', outOption)
      .option('report', reportOption)
      .option('top', topOption)
      .option('json', jsonOption)
      .example('$0 simulate scenarios/burst.yaml', 'one scenario, with its report')
      .example('$0 simulate scenarios/*.yaml', 'all of them, in one table')
      .example('$0 simulate scenarios/day.yaml --replications 20', 'with 95 % intervals')
      .example('$0 simulate scenarios/herd.yaml --until 160 --trace messages.ndjson', 'what the actors say to each other')
      .strict(),
  handler: async (given) => {
    const { runSimulations } = await import('./simulate-run.js');
    await runSimulations(given);
  },
};
