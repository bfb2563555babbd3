// `weir deploy`: puts the rate limiter, or a definition of one's own, onto a machine. The node checks definitions.
import { createContract, deployRateLimiter } from '../api/contracts.js';
import type { ContractDefinition } from '../limiter/definition.js';
import { definitionOf, isDrawn } from '../limiter/drawn-definition.js';
import { spanWords } from '../report/words.js';
import { Failure } from '../schema/failure.js';
import { nearestWindow } from '../schema/quantity.js';
import { readText } from '../schema/text-file.js';
import { usageFailure } from './ending.js';
import { LIMITERS, limiterGiven, limiterNeeds, limiterOptions, windowOf } from './limiter-options.js';
import { cycleMsOfNode, cyclesOf, nodeCommand, slugArgument } from './node-command.js';
import { facts } from './terminal.js';

const HASHED = { store_keys: 'hashed' } as const;

/** A key of the node. */
const OWN = ['key'];

export const deployCommand = nodeCommand({
  rules: {
    needs: { overflow: ['keyed'], 'hash-keys': ['keyed'], ...limiterNeeds(OWN) },
    // A definition brings its own.
    without: {
      definition: LIMITERS,
      threshold: ['definition', ...LIMITERS],
      within: ['definition', ...LIMITERS],
      'near-limit': ['definition', ...LIMITERS],
      shadow: ['definition'],
      gate: ['definition'],
      'when-away': ['definition'],
    },
  },
  options: (yargs) =>
    limiterOptions(yargs, OWN)
      .positional('slug', slugArgument)
      .option('threshold', { type: 'number', requiresArg: true, describe: 'requests a window may hold (default: 100)' })
      .option('within', {
        type: 'string',
        requiresArg: true,
        describe: 'length of the window, for example 60 or 47s (default: 60 cycles)',
      })
      .option('definition', {
        type: 'string',
        requiresArg: true,
        describe: 'JSON file of a definition, instead of the template',
      })
      .option('keyed', {
        type: 'number',
        requiresArg: true,
        describe: 'count each key separately, for up to this number of keys',
      })
      .option('overflow', {
        choices: ['refuse', 'share'] as const,
        requiresArg: true,
        describe: 'what becomes of further keys: refused, or counted together (default: refuse)',
      })
      .option('hash-keys', { type: 'boolean', default: false, describe: 'store and record keys as hashes' })
      .option('shadow', { type: 'boolean', default: false, describe: 'count and record, and admit everything' })
      .option('when-away', {
        choices: ['closed', 'open'] as const,
        requiresArg: true,
        describe: 'on a network of nodes, while Redis is away: refuse, or admit uncounted (default: closed)',
      })
      .option('near-limit', {
        type: 'number',
        requiresArg: true,
        describe: 'share of the threshold from which near_limit is emitted, for example 0.8',
      })
      .option('gate', {
        type: 'string',
        requiresArg: true,
        describe: 'which headers the gate reads, as JSON: see scenarios/recipes',
      })
      .example('$0 deploy edge-gateway', '100 requests in 60 cycles')
      .example('$0 deploy edge-gateway --keyed 10000', 'the same for each client: weir gate edge-gateway --for ann')
      .example('$0 deploy edge-gateway --threshold 5 --within 10', 'a smaller one')
      .example('$0 deploy edge-gateway --like nginx --rate 10r/s --burst 5', 'as nginx does')
      .example('$0 deploy edge-gateway --definition contract.json', 'any other contract'),
  run: async (node, given) => {
    const { slug, threshold, within, definition: file } = given;
    const { api } = node;
    const rule = (await limiterGiven(given, OWN)) as object | undefined;
    const { nearLimit: near_limit, whenAway: when_away } = given;
    const keyed = keyedFrom(given);
    const further = { ...(given.shadow ? { shadow: true } : {}), when_away, ...gateFrom(given.gate), keyed };
    const answer =
      rule !== undefined
        ? await api.call(deployRateLimiter, { body: { slug, rule, ...further } })
        : file === undefined
          ? await api.call(deployRateLimiter, {
              body: { slug, threshold, within: await cyclesOf(node, within, 'within'), near_limit, ...further },
            })
          : await api.call(createContract, { params: { slug }, body: { ...definitionFrom(file), keyed } });
    const { id, name, version, currentState, first_fire_cycle, ...limits } = answer.contract;
    const cycleMs = await cycleMsOfNode(node);
    const written = within ?? windowOf(rule);
    const note = limits.within === undefined ? undefined : nearestWindow(written, limits.within, cycleMs);
    const words = facts([
      ['contract', id],
      ['is', `${name} ${version}, ${currentState}`],
      ['rule', limits.rule],
      ['threshold', limits.threshold],
      ['within', limits.within === undefined ? undefined : spanWords(limits.within, cycleMs)],
      ['keys', limits.keyed === undefined ? undefined : `up to ${limits.keyed.max_keys}, each with a count of its own`],
      ['first fire', `cycle ${first_fire_cycle}`],
    ]);
    return { answer, words, note };
  },
});

/** @throws Failure `wrong_usage` */
function keyedFrom(given: {
  readonly keyed: number | undefined;
  readonly overflow: 'refuse' | 'share' | undefined;
  readonly hashKeys: boolean;
}) {
  const { keyed: max_keys, overflow, hashKeys } = given;
  if (max_keys !== undefined)
    return { max_keys, ...(overflow === undefined ? {} : { overflow }), ...(hashKeys ? HASHED : {}) };
  return undefined;
}

/** @throws Failure `wrong_usage` */
function gateFrom(json: string | undefined): { gate?: NonNullable<ContractDefinition['gate']> } {
  if (json === undefined) return {};
  try {
    return { gate: JSON.parse(json) };
  } catch (error) {
    throw usageFailure(
      `--gate is not JSON: ${(error as Error).message}.`,
      'For example \'{"key":{"header":"X-Api-Key"}}\'.',
    );
  }
}

/** A definition, or the machine of one that was drawn for XState. */
export function definitionFrom(file: string): ContractDefinition {
  const text = readText(file, { what: `The definition ${file}`, fix: 'Check the path.', isGiven: true });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Failure('invalid_json', {
      what: `The definition ${file} is not JSON.`,
      why: `${(error as Error).message}.`,
      fix: '`weir inspect --json` shows one to begin with, as its template.',
      cause: error,
    });
  }
  if (isDrawn(value)) return definitionOf(value) as ContractDefinition;
  // Whether it is one is for the node to say.
  if (typeof value === 'object' && value !== null) return value as ContractDefinition;
  throw new Failure('invalid_definition', { what: `The definition ${file} is JSON but not an object.` });
}
