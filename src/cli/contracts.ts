// `weir contracts` and `weir transition`: lists the contracts of a machine, shows one, or moves one to a state.
import { driveTransition, getContract, listContracts } from '../api/contracts.js';
import type { AnswerOf, ApiClient } from '../client/api-client.js';
import { spanWords } from '../report/words.js';
import { usageFailure } from './ending.js';
import { cycleMsOfNode, cyclesOf, nodeCommand, slugArgument } from './node-command.js';
import { inputOption, inputsFrom } from './options.js';
import { facts, table } from './terminal.js';

export const contractsCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('slug', slugArgument)
      .positional('id', { type: 'string', describe: 'id of a contract' })
      .example('$0 contracts edge-gateway', 'all of them')
      .example('$0 contracts edge-gateway 0123456789abcdef', 'its window and its last transitions'),
  run: async (node, { slug, id }) => {
    const { api } = node;
    if (id !== undefined)
      return oneOf(await api.call(getContract, { params: { slug, contract_id: id } }), await cycleMsOfNode(node));
    const answer = await allContracts(api, slug);
    const cycleMs = await cycleMsOfNode(node);
    const rows = answer.contracts.map(({ id: name, currentState, name: definition, threshold, within }) => {
      const window = within === undefined ? undefined : spanWords(within, cycleMs);
      return [name, currentState, definition, threshold, window];
    });
    const words =
      rows.length === 0
        ? `The machine ${slug} has no contracts.`
        : table(['contract', 'state', 'definition', 'threshold', 'within'], rows);
    return { answer, words };
  },
});

/** All pages as one answer. */
async function allContracts(api: ApiClient, slug: string): Promise<AnswerOf<typeof listContracts>> {
  const contracts: AnswerOf<typeof listContracts>['contracts'] = [];
  const pages = api.pages(listContracts, { params: { slug }, query: { limit: 1_000 } });
  for await (const page of pages) contracts.push(...page.contracts);
  return { ok: true, contracts };
}

function oneOf(answer: AnswerOf<typeof getContract>, cycleMs: number) {
  const { contract } = answer;
  const about = facts([
    ['is', `${contract.name} ${contract.version}, ${contract.currentState}`],
    [
      'window',
      `${contract.count} of ${contract.threshold ?? '-'}${contract.within === undefined ? '' : ` within ${spanWords(contract.within, cycleMs)}`}`,
    ],
    ['admits', waitOf(contract.retry_after_cycles, cycleMs)],
    ['held', contract.held_until_cycle === undefined ? undefined : `until cycle ${contract.held_until_cycle}`],
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

export const transitionCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('slug', slugArgument)
      .positional('to', { type: 'string', demandOption: true, describe: 'the state to enter' })
      .option('contract', contractOption)
      .option('hold', {
        type: 'string',
        requiresArg: true,
        describe: 'how long no evaluation leaves the state, for example 60 or 47s (default: 0 cycles)',
      })
      .option('input', inputOption)
      .example('$0 transition edge-gateway limiting --hold 60', 'close the gate for 60 cycles')
      .example('$0 transition edge-gateway allowing', 'the next evaluation applies the rules again'),
  run: async (node, { slug, to, contract, hold, input }) => {
    const { api } = node;
    const answer = await api.call(driveTransition, {
      params: { slug, contract_id: await contractOf(api, slug, contract) },
      body: { to, hold_cycles: await cyclesOf(node, hold, 'hold'), input: input && inputsFrom(input) },
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

export const contractOption = {
  type: 'string',
  requiresArg: true,
  describe: 'id of the contract; needed where the machine has several',
} as const;

/** @throws Failure `wrong_usage` if the machine has no contract or several, or the refusal of the node */
export async function contractOf(api: ApiClient, slug: string, given: string | undefined): Promise<string> {
  if (given !== undefined) return given;
  const { contracts } = await allContracts(api, slug);
  const [first] = contracts;
  if (first === undefined)
    throw usageFailure(`The machine ${slug} has no contract: \`weir deploy ${slug}\` deploys one.`);
  if (contracts.length === 1) return first.id;
  const ids = contracts.map(({ id }) => id);
  const some = ids.slice(0, 5).join(', ');
  throw usageFailure(
    `The machine ${slug} has ${ids.length} contracts; say which one with --contract: ${some}${ids.length > 5 ? ', …' : ''}.`,
  );
}

/** The time until a request is admitted if nothing else arrives. */
export function waitOf(retryAfterCycles: number | undefined, cycleMs: number): string {
  if (retryAfterCycles === undefined) return 'never';
  return retryAfterCycles === 0 ? 'now' : `in ${spanWords(retryAfterCycles, cycleMs)}`;
}
