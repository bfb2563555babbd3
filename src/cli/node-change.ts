// `weir node deploy`, `change`, `candidate`, `promote`, `delete`: creates and changes rate limiters and custom definitions on a machine.
import { changeContract, promoteCandidate, showCandidate } from '../api/changes.js';
import type { AnswerOf, ApiClient } from '../api/client/api-client.js';
import { createContract, deleteContract, deployRateLimiter } from '../api/contracts.js';
import { createMachine } from '../api/machines.js';
import { readClock } from '../api/node.js';
import type { ContractDefinition } from '../core/limiter/definition.js';
import { limitText } from '../core/limiter/products/limit-text.js';
import { nearestWindow } from '../core/schema/quantity.js';
import { text, whole } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { limit, limiterGiven } from '../report/command/limit.js';
import { bodyOf, fields } from '../report/command/options.js';
import { warn } from '../report/command/say.js';
import { facts, table } from '../report/command/terminal.js';
import { spanWords } from '../report/words.js';
import { contractArgument, cycleMsOfNode, cyclesOf, most, nodeCommand, slug } from './node-command.js';
import { contractIn } from './node-contracts.js';

const windowOptions = {
  threshold: whole(1, Number.MAX_SAFE_INTEGER, 'requests a window may hold', { without: ['limit'] }),
  within: text('length of the window, for example 60 or 47s', { without: ['limit'] }),
};

export const deploy = nodeCommand({
  options: {
    slug,
    limit: {
      ...limit,
      description:
        "the limiter: '100 in 60s', 'nginx 10r/s burst=5', or a file, also of a definition or an XState machine; default: 100 requests in 60 cycles",
    },
    ...windowOptions,
    keyed: whole(1, Number.MAX_SAFE_INTEGER, 'count each key separately, for up to this number of keys'),
    name: text('its name, to be given wherever its id can'),
    set: fields('shadow=true, near_limit=0.8, when_away=open, keyed.overflow=share, gate.key.header=X-Api-Key'),
  },
  examples: [
    ['node deploy shop', '100 requests in 60 cycles; makes the machine where there is none'],
    ['node deploy shop --name login --threshold 5', 'one that is called login'],
    ['node deploy edge-gateway --keyed 10000', 'the same for each client: weir node gate edge-gateway --client ann'],
    ['node deploy edge-gateway --threshold 5 --within 10', 'a smaller one'],
    ["node deploy edge-gateway --limit 'nginx 10r/s burst=5'", 'as nginx does'],
    ['node deploy edge-gateway --limit contract.json', 'any other contract'],
  ],
  run: async (node, given) => {
    const { slug, threshold, name, keyed: max_keys } = given;
    const { api } = node;
    const rule = given.limit === undefined ? undefined : await limiterGiven(given.limit);
    const definition = rule?.['definition'] as ContractDefinition | undefined;
    const { limiterNotes, windowsOf } = await import('../core/limiter/products/limiter-spec.js');
    for (const note of limiterNotes(rule)) warn(`${note}\n`);
    const { keyed, ...further } = bodyOf([
      ...(max_keys === undefined ? [] : [['keyed.max_keys', String(max_keys)] as const]),
      ...(given.set ?? []),
    ]);
    const [field] = Object.keys(further);
    if (definition !== undefined && field !== undefined)
      throw usageFailure(`--set ${field} has no effect with a definition.`, 'Write it into the definition.');
    const within = await cyclesOf(node, given.within, 'within');
    const [answer, isNew] = await onMachine(api, slug, () => {
      if (definition !== undefined) {
        const body = { ...definition, keyed, contract_name: name };
        return api.call(createContract, { params: { slug }, body });
      }
      const limiter = rule === undefined ? { threshold, within } : { rule };
      return api.call(deployRateLimiter, { body: { ...further, slug, name, ...limiter, keyed } });
    });
    const { id, name: called, definition_name, version, currentState, first_fire_cycle, ...limits } = answer.contract;
    const cycleMs = await cycleMsOfNode(node);
    const written = given.within ?? (rule && windowsOf(rule)[0]);
    const note = limits.within === undefined ? undefined : nearestWindow(written, limits.within, cycleMs);
    const words = facts([
      ['machine', isNew ? `${slug}, which is new and private` : undefined],
      ['contract', name === undefined ? id : `${id}, called ${called}`],
      ['is', `${definition_name} ${version}, ${currentState}`],
      ['rule', limits.rule],
      ['threshold', limits.threshold],
      ['within', limits.within === undefined ? undefined : spanWords(limits.within, cycleMs)],
      ['keys', limits.keyed && `up to ${limits.keyed.max_keys}, each with a count of its own`],
      ['first fire', `cycle ${first_fire_cycle}`],
    ]);
    return { answer, words, note };
  },
});

/** Creates a missing machine. @returns the result of `work`, and whether the machine is new */
async function onMachine<T>(api: ApiClient, slug: string, work: () => Promise<T>): Promise<readonly [T, boolean]> {
  try {
    return [await work(), false];
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'machine_not_found') throw error;
    await api.call(createMachine, { body: { slug } });
    return [await work(), true];
  }
}

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
    top: { ...most, description: 'how many clients are listed (default: 20)' },
  },
  examples: [
    ['node candidate shop login --threshold 50', 'check a lower limit beside the present one'],
    ['node candidate shop login', 'what the two would do differently, and to which clients'],
    ['node change shop login --set candidate=null', 'check it no more'],
  ],
  run: async (node, given) => {
    const { slug, threshold, top = 20 } = given;
    const { api } = node;
    const params = { slug, contract_id: await contractIn(api, slug, given.contract) };
    const within = await cyclesOf(node, given.within, 'within');
    const rule = given.limit === undefined ? undefined : await limiterGiven(given.limit);
    const candidate = rule ?? (threshold === undefined && within === undefined ? undefined : { threshold, within });
    if (candidate !== undefined) return changedWords(await api.call(changeContract, { params, body: { candidate } }));
    const answer = await api.call(showCandidate, { params, query: { limit: top } });
    const { limiter, since, requests, both, only_limiter, only_candidate, by_key, keys } = answer;
    const { cycle, cycle_ms } = await node.anyone.call(readClock);
    const about = facts([
      ['candidate', limitText(limiter)],
      ['since', `cycle ${since}, ${(((cycle - since) * cycle_ms) / 1000).toFixed(0)} s ago`],
      ['requests', requests],
      ['limited by both', both],
      ['newly refused', only_candidate],
      ['newly admitted', only_limiter],
    ]);
    const rows = by_key.map((one) => [one.key, one.only_candidate, one.only_limiter, one.both]);
    const list = table(['key', 'newly refused', 'newly admitted', 'limited by both'], rows);
    const note = keys > by_key.length ? `${keys - by_key.length} more keys; --top lists them` : undefined;
    return { answer, words: rows.length === 0 ? about : `${about}\n\n${list}`, note };
  },
});

export const promote = nodeCommand({
  options: { slug, contract: contractArgument },
  examples: [['node promote shop login', 'the candidate limits from now on, and the limit is checked beside it']],
  run: async ({ api }, { slug, contract }) => {
    const contract_id = await contractIn(api, slug, contract);
    return changedWords(await api.call(promoteCandidate, { params: { slug, contract_id } }));
  },
});

export const remove = nodeCommand({
  options: { slug, contract: text('id or name of the contract', { place: true, required: true }) },
  examples: [['node delete shop login', 'its name and its counts are gone, its rows stay in the record']],
  run: async ({ api }, { slug, contract }) => {
    const answer = await api.call(deleteContract, { params: { slug, contract_id: contract } });
    return { answer, words: `The contract ${contract} of ${slug} is deleted.` };
  },
});

function changedWords(answer: AnswerOf<typeof changeContract>) {
  const { contract, changes, forgotten } = answer;
  if (changes.length === 0) return { answer, words: 'Nothing changed.' };
  const shown = (what: string, value: unknown) => {
    if (value === undefined || value === null) return '–';
    return what === 'rule' || what === 'candidate' ? limitText(JSON.parse(String(value))) : String(value);
  };
  const rows = changes.map(({ what, from, to }) => [what.replace('_', ' '), shown(what, from), shown(what, to)]);
  const words = [`${contract.id} ${contract.name}`, table(['changed', 'from', 'to'], rows)].join('\n');
  return { answer, words, note: forgotten };
}
