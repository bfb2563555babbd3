// `weir node contracts` and `weir node transition`: lists the contracts of a machine, shows one, or moves one to a state.
import { driveTransition, getContract, listContracts } from '../api/contracts.js';
import { LONGEST_PAGE } from '../api/shapes.js';
import type { AnswerOf, ApiClient } from '../client/api-client.js';
import { spanWords } from '../report/words.js';
import { text } from './command.js';
import { usageFailure } from './ending.js';
import { contractArgument, cycleMsOfNode, cyclesOf, nodeCommand, slug } from './node-command.js';
import { inputs } from './options.js';
import { facts, table } from './terminal.js';

export const contracts = nodeCommand({
  options: {
    slug,
    id: text('id or name of a contract', { place: true }),
  },
  examples: [
    ['node contracts edge-gateway', 'all of them, those that limit first'],
    ['node contracts edge-gateway 0123456789abcdef', 'its window and its last transitions'],
  ],
  run: async (node, { slug, id }) => {
    const { api } = node;
    if (id !== undefined)
      return oneOf(await api.call(getContract, { params: { slug, contract_id: id } }), await cycleMsOfNode(node));
    const answer = await allContracts(api, slug, { sort: 'limiting' });
    const cycleMs = await cycleMsOfNode(node);
    const rows = answer.contracts.map(({ id: own, currentState, name, threshold, within }) => {
      const window = within === undefined ? undefined : spanWords(within, cycleMs);
      return [own, currentState, name, threshold, window];
    });
    const words =
      rows.length === 0
        ? `The machine ${slug} has no contracts.`
        : table(['contract', 'state', 'name', 'threshold', 'within'], rows);
    return { answer, words };
  },
});

async function allContracts(
  api: ApiClient,
  slug: string,
  query: { sort?: 'limiting' } = {},
): Promise<AnswerOf<typeof listContracts>> {
  const contracts: AnswerOf<typeof listContracts>['contracts'] = [];
  const ask = { params: { slug }, query: { ...query, limit: LONGEST_PAGE } };
  const pages = api.pages<AnswerOf<typeof listContracts>>(listContracts, ask);
  for await (const page of pages) contracts.push(...page.contracts);
  return { ok: true, contracts };
}

function oneOf(answer: AnswerOf<typeof getContract>, cycleMs: number) {
  const { contract } = answer;
  const about = facts([
    ['name', contract.name === contract.definition_name ? undefined : contract.name],
    ['is', `${contract.definition_name} ${contract.version}, ${contract.currentState}`],
    [
      'window',
      `${contract.count} of ${contract.threshold ?? '-'}${contract.within === undefined ? '' : ` within ${spanWords(contract.within, cycleMs)}`}`,
    ],
    ['admits', waitOf(contract.retry_after_cycles, cycleMs)],
    ['held', contract.held_until_cycle === undefined ? undefined : `until cycle ${contract.held_until_cycle}`],
    ['candidate', candidateWords(contract.candidate)],
    ['stopped', contract.failure],
  ]);
  const moves = table(
    ['row', 'cycle', 'at', 'from', 'to', 'cause', 'emitted'],
    contract.last_transitions.map((row) => [
      row.seq,
      row.cycle,
      row.at,
      row.from,
      row.to,
      row.cause,
      row.emitted.join(', '),
    ]),
  );
  const words = [contract.id, about, contract.last_transitions.length === 0 ? '  no transitions' : `\n${moves}`].join(
    '\n',
  );
  return { answer, words };
}

function candidateWords(candidate: AnswerOf<typeof getContract>['contract']['candidate']): string | undefined {
  if (candidate === undefined) return undefined;
  const { limiter, requests, limited, would_limit } = candidate;
  return `${JSON.stringify(limiter)} would limit ${would_limit} of ${requests} requests, of which ${limited} were limited`;
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
  const { contracts } = await allContracts(api, slug);
  const [first] = contracts;
  if (first === undefined)
    throw usageFailure(`The machine ${slug} has no contract: \`weir node deploy ${slug}\` deploys one.`);
  if (contracts.length === 1) return first.id;
  const ids = contracts.map(({ id }) => id);
  const some = ids.slice(0, 5).join(', ');
  throw usageFailure(
    `The machine ${slug} has ${ids.length} contracts; say which one: ${some}${ids.length > 5 ? ', …' : ''}.`,
  );
}

/** The time until a request is admitted if nothing else arrives. */
export function waitOf(retryAfterCycles: number | undefined, cycleMs: number): string {
  if (retryAfterCycles === undefined) return 'never';
  return retryAfterCycles === 0 ? 'now' : `in ${spanWords(retryAfterCycles, cycleMs)}`;
}
