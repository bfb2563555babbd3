// `weir recommend`: which limit fits the requests of logs. The work is in recommend-limit.ts.
import type { Argv } from 'yargs';
import type { GivenTo } from './command.js';
import { usageFailure } from './ending.js';
import { durationIn, jsonOption, outOption, reportOption } from './options.js';
import { checkCycleMs, logOptions, readingOptions } from './replay-log.js';

export const options = (yargs: Argv) =>
  readingOptions(yargs)
    .option('limited-below', {
      type: 'string',
      array: true,
      nargs: 1,
      default: ['0.1%'],
      requiresArg: true,
      describe: 'the share of requests that may be limited is less than this; several for several limits',
    })
    .option('within', {
      type: 'string',
      array: true,
      nargs: 1,
      default: ['60'],
      requiresArg: true,
      describe: 'length of the rolling window in cycles, or as a time; several for several: 60,47s,5m',
    })
    .option('threshold', {
      type: 'string',
      array: true,
      nargs: 1,
      requiresArg: true,
      describe: 'further thresholds whose share is wanted: 50,100',
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
    .example('$0 recommend access.log --key client --exclude 203.0.113.9', 'without a client');

export type GivenToRecommend = GivenTo<typeof options>;

const MOST_WITHIN = 100_000;

export async function run(given: GivenToRecommend): Promise<void> {
  checkCycleMs(given.cycleMs);
  const { top, cycleMs, exclude, log: files } = given;
  if (!Number.isSafeInteger(top) || top < 0) throw usageFailure('--top takes a whole number from 0.');
  const withins = each(given.within).map((text) => durationIn('within', text, cycleMs, 1));
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
  const asked = { withins: unique(withins), shares: unique(shares), thresholds, excluded: exclude ?? [], top, files };
  await (await import('./recommend-limit.js')).recommendLimit(given, asked, log);
}

/** Options take several values, and each several with commas between. */
function each(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(',')).map((text) => text.trim());
}

function unique(numbers: readonly number[]): number[] {
  return [...new Set(numbers)];
}

function shareIn(text: string): number {
  const [, number = '', sign = ''] = /^(\d+(?:\.\d+)?|\.\d+)\s*(%?)$/.exec(text) ?? [];
  // The digits decide, not their rounded hundredth: 0.1% is 0.001.
  const share = sign === '' ? Number(number) : Number(`${number}e-2`);
  if (number !== '' && share <= 1) return share;
  throw usageFailure(`--limited-below takes a share, not "${text}".`, 'For example --limited-below 0.1%, or 0.001.');
}
