// Owns `weir record`: the record of a machine, exported. Leaves fetching and checking it to record-run.ts.
import { nodeCommand } from './node-command.js';

export const recordCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('slug', { type: 'string', demandOption: true, describe: 'slug of the machine' })
      .option('out', { type: 'string', requiresArg: true, describe: 'file for it (default: standard output)' })
      .option('verify', { type: 'boolean', default: false, describe: 'verify it against the pinned key on the way' })
      .example('$0 record edge-gateway --out edge.ndjson --verify', 'keep it, and know that it holds')
      .example('$0 record edge-gateway | jq .kind', 'its rows, for other programs'),
  run: async (node, given) => {
    const { exportRecord } = await import('./record-run.js');
    return exportRecord(node, given);
  },
});
