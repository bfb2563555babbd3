// Owns the options of `weir generate`. Leaves making the log to generate-run.ts.
import type { ArgumentsCamelCase, Argv, CommandModule } from 'yargs';

const options = (yargs: Argv) =>
  yargs
    .positional('scenario', { type: 'string', demandOption: true, describe: 'scenario file (YAML or JSON)' })
    .option('seed', { type: 'number', requiresArg: true, describe: 'instead of the seed of the scenario' })
    .option('start', {
      type: 'string',
      default: '2026-01-01T00:00:00Z',
      requiresArg: true,
      describe: 'time of the first cycle, ISO 8601',
    })
    .example('$0 generate scenarios/burst.yaml > burst.log', 'a log to try other tools with, or to replay')
    .example('$0 generate scenarios/many-tenants.yaml | $0 replay - --key client', 'one limiter for each client')
    .strict();

type Options = ReturnType<typeof options> extends Argv<infer Given> ? Given : never;
export type GenerateArguments = ArgumentsCamelCase<Options>;

export const generateCommand: CommandModule<object, Options> = {
  command: 'generate <scenario>',
  describe: 'print a combined log of the requests that a scenario would send',
  builder: options,
  handler: async (given) => {
    const { runGenerate } = await import('./generate-run.js');
    await runGenerate(given);
  },
};
