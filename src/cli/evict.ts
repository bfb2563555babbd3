// `weir evict`: the operator ends an owner on a running node.
import { resolve } from 'node:path';
import type { Argv } from 'yargs';
import type { GivenTo } from './command.js';
import { print } from './node-command.js';
import { jsonOption } from './options.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('owner', {
      type: 'string',
      demandOption: true,
      describe: 'the owner, the id of one of their keys, or the slug of one of their machines',
    })
    .option('data', {
      type: 'string',
      default: './weir-data',
      requiresArg: true,
      describe: 'data folder of the running node',
    })
    .option('json', jsonOption)
    .example('$0 evict owner_q-Mlr-949UqR0FI9', 'as the log of the node names owners')
    .example('$0 evict spam-gateway --data /var/lib/weir', 'who has this machine')
    .epilogue(
      'Their keys are revoked, with sessions and streams, and their machines are deleted: room is free at once, and records are readable for 30 days.',
    );

type Given = GivenTo<typeof options>;

/** @throws Failure `node_unreachable`, `owner_not_found` */
export async function run({ owner: named, data, json }: Given): Promise<void> {
  const { askToEvict } = await import('../node/operator-door.js');
  const evicted = await askToEvict(resolve(data), named);
  const { owner, keys, machines, contracts } = evicted;
  const words = `Evicted ${owner}: ${keys} keys revoked, ${machines} machines deleted with ${contracts} contracts.`;
  print({ answer: { ok: true, ...evicted }, words }, json);
}
