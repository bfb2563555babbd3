// Owns `weir self-test`: the published results that this build must reproduce.
import type { ArgumentsCamelCase, Argv, CommandModule } from 'yargs';
import { jsonOption } from './options.js';

const options = (yargs: Argv) =>
  yargs
    .option('replications', {
      type: 'number',
      requiresArg: true,
      describe: 'runs of each check (default: 100 or more)',
    })
    .option('only', { type: 'string', requiresArg: true, describe: 'one check, by its id' })
    .option('json', jsonOption)
    .example('$0 self-test', 'all checks, each within 3.3 standard errors')
    .strict();

type Options = ReturnType<typeof options> extends Argv<infer Given> ? Given : never;
export type SelfTestArguments = ArgumentsCamelCase<Options>;

export const selfTestCommand: CommandModule<object, Options> = {
  command: 'self-test',
  describe: 'hold this build against published results: queues, back-off policies, retry storms, windows',
  builder: options,
  handler: async (given) => {
    const { runSelfTest } = await import('./self-test-run.js');
    await runSelfTest(given);
  },
};
