// Owns `weir gate`: one request, and whether it is let through; the exit code says it, too.

import { contractOf, contractOption } from './contract-of.js';
import { waitOf } from './event.js';
import { nodeCommand } from './node-command.js';

const LIMITED = 1;

export const gateCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('slug', { type: 'string', demandOption: true, describe: 'slug of the machine' })
      .option('contract', contractOption)
      .option('peek', { type: 'boolean', default: false, describe: 'tell how it would be decided, and count nothing' })
      .example('$0 gate edge-gateway && ./send-it', 'in a script')
      .example('$0 gate edge-gateway --peek', 'is there room?'),
  run: async ({ api }, { slug, contract, peek }) => {
    const answer = await api.gate(slug, await contractOf(api, slug, contract), peek);
    const { decision, state, count, threshold, retry_after_cycles } = answer;
    const limit = threshold === undefined ? '' : ` of ${threshold}`;
    const again = decision === 'limited' ? `; try again: ${waitOf(retry_after_cycles)}` : '';
    const words = `${decision}: ${state}, ${count}${limit} in the window${again}`;
    return { answer, words, exit: decision === 'limited' ? LIMITED : 0 };
  },
});
