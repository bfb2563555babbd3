// Owns `weir follow`: what happens on a machine, line by line as it happens. Leaves the stream and its resumption to follow-run.ts.
import { nodeCommand } from './node-command.js';

export const followCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('slug', { type: 'string', demandOption: true, describe: 'slug of the machine' })
      .option('after', {
        type: 'number',
        requiresArg: true,
        describe: 'begin behind this row of the record; 0 for all (default: now)',
      })
      .option('events', { type: 'number', requiresArg: true, describe: 'end after so many' })
      .option('only', {
        type: 'string',
        requiresArg: true,
        describe: 'only events of this name, for example rate_limited',
      })
      .option('cycles', { type: 'boolean', default: false, describe: 'also when cycles begin' })
      .example('$0 follow edge-gateway', 'until Ctrl-C')
      .example('$0 follow edge-gateway --after 0 --json', 'from the first row on, a CloudEvent a line')
      .example('$0 follow edge-gateway --only rate_limited --events 1', 'wait for the gate to close'),
  run: async (node, given) => {
    const { runFollow } = await import('../client/follow.js');
    await runFollow(node, given);
    return undefined;
  },
});
