// Owns `weir endpoints`: the routes of a node.
import { nodeCommand } from './node-command.js';
import { table } from './table.js';

export const endpointsCommand = nodeCommand({
  options: (yargs) => yargs.example('$0 endpoints', 'with who may ask, and what for'),
  run: async ({ anyone }) => {
    const answer = await anyone.endpoints();
    const rows = answer.endpoints.map(({ method, path, auth, summary }) => [method, path, auth, summary]);
    return { answer, words: table(['method', 'path', 'who', 'what'], rows) };
  },
});
