// Owns `weir rotate-key`: a new key for a node that does not run. Leaves how a key names the next one to identity.ts.
import type { CommandModule } from 'yargs';
import { jsonOption } from './options.js';

export interface RotateKeyArguments {
  data: string;
  json: boolean;
}

export const rotateKeyCommand: CommandModule<object, RotateKeyArguments> = {
  command: 'rotate-key',
  describe: 'give a stopped node a new key, named by the present one: who has pinned that one follows',
  builder: (yargs) =>
    yargs
      .option('data', { type: 'string', default: './weir-data', requiresArg: true, describe: 'folder of the store' })
      .option('json', jsonOption)
      .example('$0 rotate-key --data ./weir-data', 'then start the node again')
      .strict(),
  handler: async (given) => {
    const { runRotateKey } = await import('./rotate-key-run.js');
    runRotateKey(given);
  },
};
