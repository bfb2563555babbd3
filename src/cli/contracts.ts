// Owns `weir contracts`: the contracts of a machine, or how one of them stands.

import { waitOf } from './event.js';
import { nodeCommand } from './node-command.js';
import { facts, table } from './table.js';

export const contractsCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('slug', { type: 'string', demandOption: true, describe: 'slug of the machine' })
      .positional('id', { type: 'string', describe: 'id of a contract' })
      .example('$0 contracts edge-gateway', 'all of them')
      .example('$0 contracts edge-gateway 0123456789abcdef', 'its window and its last transitions'),
  run: async ({ api }, { slug, id }) => {
    if (id !== undefined) return oneOf(await api.contract(slug, id));
    const answer = await api.contracts(slug);
    const rows = answer.contracts.map((one) => [one.id, one.currentState, one.name, one.threshold, one.within]);
    const words =
      rows.length === 0
        ? `The machine ${slug} has no contracts.`
        : table(['contract', 'state', 'definition', 'threshold', 'within'], rows);
    return { answer, words };
  },
});

type OneContract = Awaited<ReturnType<import('../client/api.js').Api['contract']>>;

function oneOf(answer: OneContract) {
  const { contract } = answer;
  const about = facts([
    ['is', `${contract.name} ${contract.version}, ${contract.currentState}`],
    ['window', `${contract.count} of ${contract.threshold ?? '-'} within ${contract.within ?? '-'} cycles`],
    ['admits', waitOf(contract.retry_after_cycles)],
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
