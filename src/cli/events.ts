// `weir node event` and `weir node gate`: events counted in the contracts of a machine, and one request decided.
import { countOne, gateByPost } from '../api/events.js';
import { counted, duration } from '../report/words.js';
import { flag, text, whole } from './command.js';
import { contractIn, waitOf } from './contracts.js';
import { contractArgument, cycleMsOfNode, nodeCommand, slug } from './node-command.js';
import { table } from './terminal.js';

const forClient = text('the client it counts for, by a contract with a count for each client');

export const event = nodeCommand({
  options: {
    slug,
    type: text('kind of event', { default: 'request' }),
    count: whole(1, Number.MAX_SAFE_INTEGER, 'how many (default: 1)'),
    cycle: whole(0, Number.MAX_SAFE_INTEGER, 'the cycle in which they happened (default: the running one)'),
    contract: text('only this contract (default: all that listen)', { place: true }),
    client: forClient,
  },
  examples: [
    ['node event edge-gateway', 'one request'],
    ['node event edge-gateway --count 101', 'a burst'],
  ],
  run: async (node, { slug, type, count, cycle, contract, client: key }) => {
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

export const gate = nodeCommand({
  options: {
    slug,
    contract: contractArgument,
    peek: flag('show how it would be decided, and count nothing'),
    client: forClient,
  },
  examples: [
    ['node gate edge-gateway && ./send-it', 'in a script'],
    ['node gate edge-gateway --peek', 'is there room?'],
  ],
  run: async (node, { slug, contract, peek, client: key }) => {
    const { api } = node;
    const answer = await api.call(gateByPost, {
      params: { slug, contract_id: await contractIn(api, slug, contract) },
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
