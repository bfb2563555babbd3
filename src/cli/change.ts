// `weir node change`, `weir node candidate`, `weir node promote`, `weir node delete`: what is done to contracts that are there.
import { changeContract, promoteCandidate, showCandidate } from '../api/changes.js';
import { deleteContract } from '../api/contracts.js';
import { deleteMachine } from '../api/machines.js';
import type { AnswerOf } from '../client/api-client.js';
import type { NodeClient } from '../client/node-client.js';
import type { ContractDefinition } from '../limiter/definition.js';
import { text, whole } from './command.js';
import { contractIn } from './contracts.js';
import { usageFailure } from './ending.js';
import { limit, limiterGiven } from './limit.js';
import { contractArgument, cycleMsOfNode, cyclesOf, nodeCommand, slug } from './node-command.js';
import { bodyOf, fields } from './options.js';
import { facts, plural, table } from './terminal.js';

/** Of two limiters only one can be meant. */
const windowOptions = {
  threshold: whole(1, Number.MAX_SAFE_INTEGER, 'requests a window may hold', { without: ['limit'] }),
  within: text('length of the window, for example 60 or 47s', { without: ['limit'] }),
};

export const change = nodeCommand({
  options: {
    slug,
    contract: contractArgument,
    limit,
    ...windowOptions,
    name: text('its name from now on'),
    set: fields('shadow=true, near_limit=0.8, near_limit=null'),
  },
  examples: [
    ['node change shop login --threshold 200', 'the counts stay, and so does its id'],
    ["node change shop login --limit 'nginx 10r/s burst=5'", 'another rule'],
  ],
  run: async (node, given) => {
    const { slug, threshold, name } = given;
    const { definition, ...limiter } = given.limit === undefined ? {} : await limiterGiven(given.limit);
    const body = {
      ...bodyOf(given.set),
      ...{ name, threshold, within: await cyclesOf(node, given.within, 'within') },
      limiter: Object.keys(limiter).length === 0 ? undefined : limiter,
      definition: definition as ContractDefinition | undefined,
    };
    if (Object.values(body).every((value) => value === undefined))
      throw usageFailure('Nothing is to be changed.', 'For example --threshold 200, or --name login.');
    const contract_id = await contractIn(node.api, slug, given.contract);
    return changedWords(await node.api.call(changeContract, { params: { slug, contract_id }, body }));
  },
});

export const candidate = nodeCommand({
  options: {
    slug,
    contract: contractArgument,
    limit,
    ...windowOptions,
    top: whole(1, Number.MAX_SAFE_INTEGER, 'how many clients are listed (default: 20)'),
  },
  examples: [
    ['node candidate shop login --threshold 50', 'check a lower limit beside the present one'],
    ['node candidate shop login', 'what the two would do differently, and to whom'],
    ['node change shop login --set candidate=null', 'check it no more'],
  ],
  run: async (node, given) => {
    const { slug, threshold, top = 20 } = given;
    const { api } = node;
    const contract_id = await contractIn(api, slug, given.contract);
    const params = { slug, contract_id };
    const within = await cyclesOf(node, given.within, 'within');
    const rule = given.limit === undefined ? undefined : await limiterGiven(given.limit);
    const isWindow = threshold !== undefined || within !== undefined;
    const candidate = rule ?? (isWindow ? windowOf(threshold, within) : undefined);
    if (candidate !== undefined) return changedWords(await api.call(changeContract, { params, body: { candidate } }));
    return comparedWords(node, await api.call(showCandidate, { params, query: { limit: top } }));
  },
});

function windowOf(threshold: number | undefined, within: number | undefined): object {
  return { ...(threshold === undefined ? {} : { threshold }), ...(within === undefined ? {} : { within }) };
}

export const promote = nodeCommand({
  options: { slug, contract: contractArgument },
  examples: [['node promote shop login', 'the candidate limits from now on, and the limit is checked beside it']],
  run: async ({ api }, { slug, contract }) => {
    const contract_id = await contractIn(api, slug, contract);
    return changedWords(await api.call(promoteCandidate, { params: { slug, contract_id } }));
  },
});

export const remove = nodeCommand({
  options: {
    slug,
    contract: text('id or name of the contract', { place: true, required: true }),
  },
  examples: [['node delete shop login', 'its name and its counts are gone, its rows stay in the record']],
  run: async ({ api }, { slug, contract }) => {
    const answer = await api.call(deleteContract, { params: { slug, contract_id: contract } });
    return { answer, words: `The contract ${contract} of ${slug} is deleted.` };
  },
});

export const removeMachine = nodeCommand({
  options: { slug },
  examples: [['node machine delete shop', 'with its contracts; its record can be read for some time']],
  run: async ({ api }, { slug }) => {
    const answer = await api.call(deleteMachine, { params: { slug } });
    const { freed, readable_until } = answer;
    const words = `The machine ${slug} is deleted with ${plural(freed.contracts, 'contract')}. Its record can be read until ${readable_until}.`;
    return { answer, words };
  },
});

function changedWords(answer: AnswerOf<typeof changeContract>) {
  const { contract, changes, forgotten } = answer;
  if (changes.length === 0) return { answer, words: 'Nothing changed.' };
  const rows = changes.map(({ what, from, to }) => [what.replace('_', ' '), String(from ?? '–'), String(to ?? '–')]);
  const words = [`${contract.id} ${contract.name}`, table(['changed', 'from', 'to'], rows)].join('\n');
  return { answer, words, note: forgotten };
}

async function comparedWords(node: NodeClient, answer: AnswerOf<typeof showCandidate>) {
  const { limiter, since, requests, both, only_limiter, only_candidate, by_key, keys } = answer;
  const seconds = Math.round(((await cycleNow(node)) - since) * (await cycleMsOfNode(node))) / 1000;
  const about = facts([
    ['candidate', JSON.stringify(limiter)],
    ['since', `cycle ${since}, ${seconds.toFixed(0)} s ago`],
    ['requests', requests],
    ['limited by both', both],
    ['newly refused', only_candidate],
    ['newly admitted', only_limiter],
  ]);
  const rows = by_key.map(({ key, both: limited, only_limiter: admitted, only_candidate: refused }) => [
    key,
    refused,
    admitted,
    limited,
  ]);
  const list = table(['key', 'newly refused', 'newly admitted', 'limited by both'], rows);
  const further = keys > by_key.length ? `${keys - by_key.length} more keys; --top lists them` : undefined;
  return { answer, words: rows.length === 0 ? about : `${about}\n\n${list}`, note: further };
}

async function cycleNow({ anyone }: NodeClient): Promise<number> {
  const { readClock } = await import('../api/node.js');
  return (await anyone.call(readClock)).cycle;
}
