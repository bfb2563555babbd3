// `weir node contracts`, `transition`, `event` and `gate`: shows contracts, moves them, asks for decisions.
import type { AnswerOf, ApiClient } from '../api/client/api-client.js';
import { driveTransition, getContract, listContracts } from '../api/contracts.js';
import { countOne, gateByPost } from '../api/events.js';
import { getMachine } from '../api/machines.js';
import { LONGEST_PAGE } from '../api/shapes.js';
import { limitText } from '../core/limiter/products/limit-text.js';
import { Failure } from '../core/schema/failure.js';
import { flag, text, whole } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { inputs } from '../report/command/options.js';
import { facts, table } from '../report/command/terminal.js';
import { counted, duration, spanWords } from '../report/words.js';
import { contractArgument, cycleMsOfNode, cyclesOf, nodeCommand, slug } from './node-command.js';

export const contracts = nodeCommand({
  options: { slug, contract: text('id or name of a contract', { place: true }) },
  examples: [
    ['node contracts edge-gateway', 'all of them, those that limit first'],
    ['node contracts edge-gateway 0123456789abcdef', 'its window and its last transitions'],
  ],
  run: async (node, { slug, contract }) => {
    const { api } = node;
    const cycleMs = await cycleMsOfNode(node);
    if (contract !== undefined) {
      const answer = await api.call(getContract, { params: { slug, contract_id: contract } });
      return { answer, words: contractWords(answer.contract, cycleMs) };
    }
    const answer = { ok: true, contracts: await allContracts(api, slug, { sort: 'limiting' }) };
    const rows = answer.contracts.map(({ id, currentState, name, threshold, within }) => {
      const window = within === undefined ? undefined : spanWords(within, cycleMs);
      return [id, currentState, name, threshold, window];
    });
    const words =
      rows.length === 0
        ? `The machine ${slug} has no contracts.`
        : table(['contract', 'state', 'name', 'threshold', 'within'], rows);
    return { answer, words };
  },
});

type Listed = AnswerOf<typeof listContracts>;

async function allContracts(api: ApiClient, slug: string, query: { sort?: 'limiting' } = {}) {
  const ask = { params: { slug }, query: { ...query, limit: LONGEST_PAGE } };
  const contracts: Listed['contracts'] = [];
  for await (const page of api.pages<Listed>(listContracts, ask)) contracts.push(...page.contracts);
  return contracts;
}

function contractWords(contract: AnswerOf<typeof getContract>['contract'], cycleMs: number): string {
  const { id, name, definition_name, within, candidate, last_transitions: last } = contract;
  const about = facts([
    ['name', name === definition_name ? undefined : name],
    ['is', `${definition_name} ${contract.version}, ${contract.currentState}`],
    [
      'window',
      `${contract.count} of ${contract.threshold ?? '-'}${within === undefined ? '' : ` within ${spanWords(within, cycleMs)}`}`,
    ],
    ['admits', waitOf(contract.retry_after_cycles, cycleMs)],
    ['held', contract.held_until_cycle === undefined ? undefined : `until cycle ${contract.held_until_cycle}`],
    [
      'candidate',
      candidate &&
        `${limitText(candidate.limiter)} would limit ${candidate.would_limit} of ${candidate.requests} requests, of which ${candidate.limited} were limited`,
    ],
    ['stopped', contract.failure],
  ]);
  const moves = last.map((row) => [row.seq, row.cycle, row.at, row.from, row.to, row.cause, row.emitted.join(', ')]);
  const heads = ['row', 'cycle', 'at', 'from', 'to', 'cause', 'emitted'];
  return [id, about, moves.length === 0 ? '  no transitions' : `\n${table(heads, moves)}`].join('\n');
}

export const transition = nodeCommand({
  options: {
    slug,
    to: text('the state to enter', { place: true, required: true }),
    contract: contractArgument,
    for: text('how long no evaluation leaves the state, for example 60 or 47s (default: 0 cycles)'),
    set: inputs,
  },
  examples: [
    ['node transition edge-gateway limiting --for 60', 'close the gate for 60 cycles'],
    ['node transition edge-gateway allowing', 'the next evaluation applies the rules again'],
  ],
  run: async (node, { slug, to, contract, for: hold, set: input }) => {
    const { api } = node;
    const answer = await api.call(driveTransition, {
      params: { slug, contract_id: await contractIn(api, slug, contract) },
      body: { to, hold_cycles: await cyclesOf(node, hold, 'for'), input: input && Object.fromEntries(input) },
    });
    const words = facts([
      ['moved', `from ${answer.previous_state} to ${answer.new_state} in cycle ${answer.cycle}`],
      ['emitted', answer.emitted.join(', ') || 'nothing'],
      ['row', `${answer.seq}, ${answer.hash}`],
      ['equation', answer.master_equation_block],
      ['proof', answer.proof_digest ?? 'not required'],
    ]);
    return { answer, words };
  },
});

export async function contractIn(api: ApiClient, slug: string, given: string | undefined): Promise<string> {
  if (given !== undefined) return given;
  const ids = (await allContracts(api, slug)).map(({ id }) => id);
  const [first] = ids;
  if (first === undefined) {
    const { machine } = await api.call(getMachine, { params: { slug } });
    if (machine.deleted_at !== undefined)
      throw usageFailure(`The machine ${slug} was deleted.`, 'Deploy onto another: a slug is used once.');
    throw usageFailure(`The machine ${slug} has no contract: \`weir node deploy ${slug}\` deploys one.`);
  }
  if (ids.length === 1) return first;
  const some = `${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', …' : ''}`;
  throw usageFailure(`The machine ${slug} has ${ids.length} contracts; say which one: ${some}.`);
}

function waitOf(retryAfterCycles: number | undefined, cycleMs: number): string {
  if (retryAfterCycles === undefined) return 'never';
  return retryAfterCycles === 0 ? 'now' : `in ${spanWords(retryAfterCycles, cycleMs)}`;
}

/** The node asks for its field `key`; the option is `--client`. */
async function namingClient<Answer>(asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'key_missing') throw error;
    const { what, why, faults } = error;
    throw new Failure('key_missing', { what, why, fix: 'Say who asks: --client 203.0.113.7.', faults });
  }
}

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
  run: async (node, { slug, type, count, cycle, contract: contract_id, client: key }) => {
    const body = { type, count, cycle, contract_id, key };
    const answer = await namingClient(node.api.call(countOne, { params: { slug }, body }));
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
    const params = { slug, contract_id: await contractIn(api, slug, contract) };
    const answer = await namingClient(api.call(gateByPost, { params, query: { peek: peek || undefined, key } }));
    const { decision, state, count = 0, threshold, retry_after_cycles: cycles, away } = answer;
    if (away) return { answer, words: 'admitted: the store is away, and nothing was counted' };
    const limit = threshold === undefined ? '' : `, limit ${threshold}`;
    const words = `${decision}: ${state}, ${counted(count, 'request')} in the window${limit}`;
    if (decision !== 'limited') return { answer, words };
    const ms = answer.retry_after_ms ?? (cycles === undefined ? undefined : cycles * (await cycleMsOfNode(node)));
    const again = ms === undefined ? 'No wait is long enough' : `Retry in ${duration(ms)}`;
    return { answer, words: `${words}. ${again}`, exit: LIMITED };
  },
});
