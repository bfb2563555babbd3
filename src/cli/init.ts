// Owns `weir init`: a first scenario in the folder one works in.
import type { ArgumentsCamelCase, Argv, CommandModule } from 'yargs';

const options = (yargs: Argv) =>
  yargs
    .positional('file', { type: 'string', default: 'burst.yaml', describe: 'where to write it' })
    .option('from', {
      type: 'string',
      default: 'burst',
      requiresArg: true,
      describe: 'which shipped scenario to begin with',
    })
    .option('list', { type: 'boolean', default: false, describe: 'list the shipped scenarios, each with its question' })
    .option('schema', { type: 'boolean', default: false, describe: 'print the JSON Schema of scenarios, for editors' })
    .example('$0 init', 'writes burst.yaml')
    .example('$0 init --list', 'what there is to begin with')
    .example('$0 init storm.yaml --from retry-storm', 'another beginning')
    .strict();

type Options = ReturnType<typeof options> extends Argv<infer Given> ? Given : never;
export type InitArguments = ArgumentsCamelCase<Options>;

export const initCommand: CommandModule<object, Options> = {
  command: 'init [file]',
  describe: 'write a first scenario',
  builder: options,
  handler: async (given) => {
    const { runInit } = await import('./init-run.js');
    await runInit(given);
  },
};
