// `weir node evict`: the operator ends an owner on a running node.
import { resolve } from 'node:path';
import { command, text } from './command.js';
import { print } from './node-command.js';
import { json } from './options.js';

const options = {
  owner: text('the owner, the id of one of their keys, or the slug of one of their machines', {
    place: true,
    required: true,
  }),
  data: text('data folder of the running node', { default: './weir-data' }),
  json,
};

export const evict = command({
  options,
  examples: [
    ['node evict owner_q-Mlr-949UqR0FI9', 'as the log of the node names owners'],
    ['node evict spam-gateway --data /var/lib/weir', 'who has this machine'],
  ],
  more: 'Their keys are revoked, with sessions and streams, and their machines are deleted: room is free at once, and records are readable for 30 days.',
  run: async ({ owner: named, data, json }) => {
    const { askToEvict } = await import('../node/operator-door.js');
    const evicted = await askToEvict(resolve(data), named);
    const { owner, keys, machines, contracts } = evicted;
    const words = `Evicted ${owner}: ${keys} keys revoked, ${machines} machines deleted with ${contracts} contracts.`;
    print({ answer: { ok: true, ...evicted }, words }, json);
  },
});
