// Owns `weir event`: events counted, and what was decided.
import { nodeCommand } from './node-command.js';
import { table } from './table.js';

export const eventCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('slug', { type: 'string', demandOption: true, describe: 'slug of the machine' })
      .option('type', { type: 'string', default: 'request', requiresArg: true, describe: 'kind of event' })
      .option('count', { type: 'number', requiresArg: true, describe: 'how many (default: 1)' })
      .option('cycle', { type: 'number', requiresArg: true, describe: 'when they happened (default: now)' })
      .option('contract', {
        type: 'string',
        requiresArg: true,
        describe: 'only this contract (default: all that listen)',
      })
      .example('$0 event edge-gateway', 'one request')
      .example('$0 event edge-gateway --count 101', 'a burst'),
  run: async ({ api }, { slug, type, count, cycle, contract }) => {
    const answer = await api.event(slug, {
      type,
      ...(count === undefined ? {} : { count }),
      ...(cycle === undefined ? {} : { cycle }),
      ...(contract === undefined ? {} : { contract_id: contract }),
    });
    const heads = ['contract', 'state', 'admitted', 'limited', 'count', 'threshold', 'remaining', 'again in'];
    const rows = answer.contracts.map((one) => [
      one.id,
      one.state,
      one.admitted,
      one.limited,
      one.count,
      one.threshold,
      one.remaining,
      waitOf(one.retry_after_cycles),
    ]);
    return { answer, words: `cycle ${answer.cycle}\n${table(heads, rows)}` };
  },
});

/** When a request is admitted if nothing else arrives. */
export function waitOf(retryAfterCycles: number | undefined): string {
  if (retryAfterCycles === undefined) return 'never';
  return retryAfterCycles === 0 ? 'now' : `${retryAfterCycles} cycle${retryAfterCycles === 1 ? '' : 's'}`;
}
