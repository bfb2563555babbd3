// `weir event` and `weir gate`: events counted in the contracts of a machine, and one request decided.
import { countOne, gateByPost } from '../api/events.js';
import { counted, duration } from '../report/words.js';
import { contractOf, contractOption, waitOf } from './contracts.js';
import { cycleMsOfNode, nodeCommand, slugArgument } from './node-command.js';
import { table } from './terminal.js';

const forOption = {
  type: 'string',
  requiresArg: true,
  describe: 'the key it counts for, by a contract with keys',
} as const;

export const eventCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('slug', slugArgument)
      .option('type', { type: 'string', default: 'request', requiresArg: true, describe: 'kind of event' })
      .option('count', { type: 'number', requiresArg: true, describe: 'how many (default: 1)' })
      .option('cycle', {
        type: 'number',
        requiresArg: true,
        describe: 'the cycle in which they happened (default: the running one)',
      })
      .option('contract', {
        type: 'string',
        requiresArg: true,
        describe: 'only this contract (default: all that listen)',
      })
      .option('for', forOption)
      .example('$0 event edge-gateway', 'one request')
      .example('$0 event edge-gateway --count 101', 'a burst'),
  run: async (node, { slug, type, count, cycle, contract, for: key }) => {
    const answer = await node.api.call(countOne, {
      params: { slug },
      body: {
        type,
        count,
        cycle,
        contract_id: contract,
        key,
      },
    });
    const heads = ['contract', 'state', 'admitted', 'limited', 'count', 'threshold', 'remaining', 'room again'];
    const cycleMs = await cycleMsOfNode(node);
    const rows = answer.contracts.map((one) => [
      one.id,
      one.away ? 'not counted: the store is away' : one.state,
      one.admitted,
      one.limited,
      one.count,
      one.threshold,
      one.remaining,
      waitOf(one.retry_after_cycles, cycleMs),
    ]);
    return { answer, words: `cycle ${answer.cycle}\n${table(heads, rows)}` };
  },
});

const LIMITED = 1;

function againWords(retryAfterCycles: number | undefined, cycleMs: number): string {
  return retryAfterCycles === undefined
    ? '. No wait is long enough'
    : `. Retry in ${duration(retryAfterCycles * cycleMs)}`;
}

export const gateCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('slug', slugArgument)
      .option('contract', contractOption)
      .option('peek', { type: 'boolean', default: false, describe: 'show how it would be decided, and count nothing' })
      .option('for', forOption)
      .example('$0 gate edge-gateway && ./send-it', 'in a script')
      .example('$0 gate edge-gateway --peek', 'is there room?'),
  run: async (node, { slug, contract, peek, for: key }) => {
    const { api } = node;
    const answer = await api.call(gateByPost, {
      params: { slug, contract_id: await contractOf(api, slug, contract) },
      query: { peek: peek || undefined, key },
    });
    const { decision, state, count, threshold, retry_after_cycles, retry_after_ms, away } = answer;
    const limit = threshold === undefined ? '' : `, limit ${threshold}`;
    const again =
      retry_after_ms === undefined
        ? againWords(retry_after_cycles, await cycleMsOfNode(node))
        : `. Retry in ${duration(retry_after_ms)}`;
    const words = away
      ? 'admitted: the store is away, and nothing was counted'
      : `${decision}: ${state}, ${counted(count ?? 0, 'request')} in the window${limit}${decision === 'limited' ? again : ''}`;
    return { answer, words, exit: decision === 'limited' ? LIMITED : 0 };
  },
});
