// `weir node deploy`: puts the rate limiter, or a definition of one's own, onto a machine. The node checks definitions.
import { createContract, deployRateLimiter } from '../api/contracts.js';
import { createMachine } from '../api/machines.js';
import type { ApiClient } from '../client/api-client.js';
import type { ContractDefinition } from '../limiter/definition.js';
import { spanWords } from '../report/words.js';
import { nearestWindow } from '../schema/quantity.js';
import { text, whole } from './command.js';
import { usageFailure } from './ending.js';
import { limit, limiterGiven } from './limit.js';
import { cycleMsOfNode, cyclesOf, nodeCommand, slug } from './node-command.js';
import { bodyOf, fields } from './options.js';
import { warn } from './say.js';
import { facts } from './terminal.js';

export const deploy = nodeCommand({
  options: {
    slug,
    limit: {
      ...limit,
      description:
        "the limiter: '100 in 60s', 'nginx 10r/s burst=5', or a file, also of a definition or an XState machine",
    },
    threshold: whole(1, Number.MAX_SAFE_INTEGER, 'requests a window may hold (default: 100)', {
      without: ['limit'],
    }),
    within: text('length of the window, for example 60 or 47s (default: 60 cycles)', {
      without: ['limit'],
    }),
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
    const { slug, threshold } = given;
    const { api } = node;
    const rule = given.limit === undefined ? undefined : await limiterGiven(given.limit);
    const definition = rule?.['definition'] as ContractDefinition | undefined;
    const { limiterNotes, windowsOf } = await import('../limiter/products/limiter-spec.js');
    for (const note of limiterNotes(rule)) warn(`${note}\n`);
    const { name, keyed: max_keys } = given;
    const { keyed, ...further } = bodyOf([
      ...(max_keys === undefined ? [] : [['keyed.max_keys', String(max_keys)] as const]),
      ...(given.set ?? []),
    ]);
    if (definition !== undefined && Object.keys(further).length > 0)
      throw usageFailure(
        `--set ${Object.keys(further)[0]} has no effect with a definition.`,
        'Write it into the definition.',
      );
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
      ['keys', limits.keyed === undefined ? undefined : `up to ${limits.keyed.max_keys}, each with a count of its own`],
      ['first fire', `cycle ${first_fire_cycle}`],
    ]);
    return { answer, words, note };
  },
});

/** Does something on a machine, which is made where there is none. @returns what it gives, and whether the machine is new */
async function onMachine<T>(api: ApiClient, slug: string, work: () => Promise<T>): Promise<readonly [T, boolean]> {
  try {
    return [await work(), false];
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'machine_not_found') throw error;
    await api.call(createMachine, { body: { slug } });
    return [await work(), true];
  }
}
