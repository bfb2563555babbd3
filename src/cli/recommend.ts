// `weir recommend`: which limit fits the requests of logs. The work is in recommend-limit.ts.
import type { Argv } from 'yargs';
import { families, familyNamed } from '../limiter/products/families.js';
import { MOST_WITHIN } from '../schema/quantity.js';
import type { GivenTo, OptionRules } from './command.js';
import { usageFailure } from './ending.js';
import { limiterGiven, limiterNeeds, limiterOptions } from './limiter-options.js';
import { cycleMsOf, jsonOption, outOption, reportOption, windowsIn } from './options.js';
import { logOptions, readingOptions } from './replay-log.js';

/** Options that are not those of a product with a parameter of the same name. */
export const OWN = ['key'];

export const options = (yargs: Argv) =>
  limiterOptions(readingOptions(yargs), OWN)
    .option('limited-below', {
      type: 'string',
      array: true,
      nargs: 1,
      default: ['0.1%'],
      requiresArg: true,
      describe: 'limit less than this share of requests; repeat for several limits',
    })
    .option('within', {
      type: 'string',
      array: true,
      nargs: 1,
      default: ['60'],
      requiresArg: true,
      describe: 'length of the rolling window in cycles, or as a time; several as a list: 60,47s,5m',
    })
    .option('threshold', {
      type: 'string',
      array: true,
      nargs: 1,
      requiresArg: true,
      describe: 'further thresholds whose share is wanted: 50,100',
    })
    .option('compare', {
      type: 'string',
      array: true,
      nargs: 1,
      requiresArg: true,
      describe: `the limits of other rules in the same windows: ${Object.keys(families).join(',')}`,
    })
    .option('fit', {
      type: 'string',
      requiresArg: true,
      describe:
        'with --like, --primitive or --rule: the parameter that is wanted, with values from strict to loose: rate=1r/s..50r/s:1r/s',
    })
    .option('exclude', {
      type: 'string',
      array: true,
      nargs: 1,
      requiresArg: true,
      describe: 'a key of which no request counts; may be repeated',
    })
    .option('top', { type: 'number', default: 20, requiresArg: true, describe: 'how many clients are listed' })
    .option('out', { ...outOption, describe: 'folder for the report (default: reports/<log>/recommend)' })
    .option('report', reportOption)
    .option('json', jsonOption)
    .example(
      '$0 recommend access.log --key client',
      'the limit per client that refuses less than 0.1 % of the requests',
    )
    .example('$0 recommend access.log --limited-below 1%,0.1% --within 60,5m', 'four limits in one pass')
    .example('$0 recommend access.log --key client --exclude 203.0.113.9', 'without a client')
    .example('$0 recommend access.log --key client --compare nginx,haproxy,gcra', 'the same for other rules')
    .example(
      '$0 recommend access.log --key client --like nginx --burst 20 --fit rate=1r/s..50r/s:1r/s',
      'the rate that nginx needs with that burst',
    );

export const rules: OptionRules = { needs: limiterNeeds(OWN), without: { 'key-column': ['key'], out: ['no-report'] } };

/** With the length of a cycle that the windows want. */
export type GivenToRecommend = GivenTo<typeof options> & { readonly cycleMs: number };

export async function run(asked: GivenTo<typeof options>): Promise<void> {
  const windows = each(asked.within);
  const given = { ...asked, cycleMs: cycleMsOf(asked.cycleMs, windows) };
  const { top, cycleMs, exclude, log: files } = given;
  if (!Number.isSafeInteger(top) || top < 0) throw usageFailure('--top takes a whole number from 0.');
  const { cycles: withins, notes } = windowsIn('within', windows, cycleMs);
  if (withins.some((within) => within > MOST_WITHIN))
    throw usageFailure(`--within takes up to ${MOST_WITHIN} cycles.`, 'For example --within 60, or --within 5m.');
  const shares = each(given.limitedBelow).map(shareIn);
  const thresholds = each(given.threshold ?? []).map((text) => {
    if (!/^[1-9]\d{0,9}$/.test(text)) throw usageFailure(`--threshold takes whole numbers from 1, not "${text}".`);
    return Number(text);
  });
  const log = logOptions(given);
  if (exclude !== undefined && log.keyColumn === undefined)
    throw usageFailure('--exclude needs keys.', 'Say what they are, for example --key client.');
  const limiter = await limiterGiven(given, OWN);
  if ((given.fit === undefined) !== (limiter === undefined))
    throw usageFailure(
      '--fit and a limiter go together.',
      'For example --like nginx --burst 20 --fit rate=1r/s..50r/s:1r/s.',
    );
  const compared = unique(each(given.compare ?? []).map(familyNamed)).filter((name) => name !== 'weir');
  const { familyLadder, fitLadder } = await import('../sizing/rule-ladder.js');
  const rules = [
    ...compared.flatMap((name) => unique(withins).map((within) => familyLadder(name, within, cycleMs))),
    ...(limiter === undefined ? [] : [fitLadder(limiter, given.fit!, cycleMs)]),
  ];
  const question = {
    withins: unique(withins),
    shares: unique(shares),
    thresholds,
    excluded: exclude ?? [],
    top,
    files,
    rules,
    windows,
    notes,
  };
  await (await import('./recommend-limit.js')).recommendLimit(given, question, log);
}

/** Options take several values, and each several with commas between. */
function each(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(',')).map((text) => text.trim());
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

function shareIn(text: string): number {
  const [, number = '', sign = ''] = /^(\d+(?:\.\d+)?|\.\d+)\s*(%?)$/.exec(text) ?? [];
  // The digits decide, not their rounded hundredth: 0.1% is 0.001.
  const share = sign === '' ? Number(number) : Number(`${number}e-2`);
  if (number !== '' && share <= 1) return share;
  throw usageFailure(`--limited-below takes a share, not "${text}".`, 'For example --limited-below 0.1%, or 0.001.');
}
