// `weir replay`: logs through a limiter: what would have been refused.

import { basename } from 'node:path';
import type { Argv } from 'yargs';
import { rateLimiter } from '../limiter/rate-limiter.js';
import { planContract } from '../limiter/validate.js';
import type { Reported } from '../report/reported.js';
import { nearest } from '../schema/did-you-mean.js';
import { Failure } from '../schema/failure.js';
import { parseTimeMs } from '../schema/quantity.js';
import { type ReplayOptions, replay } from '../simulate/replay.js';
import { CYCLE_MS } from '../time/cycle.js';
import type { LogOptions } from '../traffic/log/options.js';
import type { LogReading } from '../traffic/log/read.js';
import { type TimeUnit, timeUnits } from '../traffic/log/unix.js';
import { type GivenTo, showDashes } from './command.js';
import { folderFor, printFindings } from './findings.js';
import { interruptible } from './interrupt.js';
import { liveOptionsOf } from './live-options.js';
import { checkTop, durationIn, jsonOption, noDefault, outOption, reportOption, topFlag, topOption } from './options.js';
import { CycleLines, Progress } from './progress.js';
import { commandAgain } from './rerun-command.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('log', {
      type: 'string',
      array: true,
      demandOption: true,
      ...noDefault,
      coerce: showDashes,
      describe: 'log files, also .gz; - for standard input',
    })
    .option('threshold', {
      type: 'number',
      default: 100,
      requiresArg: true,
      describe: 'request events a window may hold',
    })
    .option('within', {
      type: 'string',
      default: '60',
      requiresArg: true,
      describe: 'length of the rolling window, in cycles or as 47s',
    })
    .option('cycle-ms', { type: 'number', default: 777, requiresArg: true, describe: 'length of a cycle in ms' })
    .option('format', {
      type: 'string',
      requiresArg: true,
      describe: 'common, combined, csv, tsv, ndjson or har (default: recognised)',
    })
    .option('time-column', { type: 'string', requiresArg: true, describe: 'column or field with the time' })
    .option('time-unit', { type: 'string', requiresArg: true, describe: 'what plain numbers count: s, ms, us or ns' })
    .option('count-column', {
      type: 'string',
      requiresArg: true,
      describe: 'column or field with a number of requests',
    })
    .option('spread', {
      type: 'string',
      requiresArg: true,
      describe: 'spread the requests of a row over so long, for example 60s',
    })
    .option('key', {
      type: 'string',
      requiresArg: true,
      describe: 'client, or a column: one contract for each of its values',
    })
    .option('key-column', { type: 'string', requiresArg: true, describe: 'the same as --key' })
    .option('live', {
      type: 'boolean',
      default: false,
      describe: 'send the log to a live node at its recorded times, and compare',
    })
    .option('url', { type: 'string', requiresArg: true, describe: 'with --live: the node (default: one is started)' })
    .option('speed', { type: 'number', default: 1, requiresArg: true, describe: 'with --live: so many times faster' })
    .option('allow-remote', {
      type: 'boolean',
      default: false,
      describe: 'with --live: the target may be another machine',
    })
    .option('out', outOption)
    .option('report', reportOption)
    .option('top', topOption)
    .option('json', jsonOption)
    .conflicts('key', 'key-column')
    .example('$0 replay access.log', 'an Apache or nginx log through 100 requests in 60 cycles')
    .example('$0 replay access.log.gz --key client --threshold 20', 'one limiter for each client')
    .example('$0 replay access.log --live --speed 60', 'send it to a live node, sixty times as fast, and compare')
    .example('$0 replay counts.csv --time-column minute --count-column n --spread 60s', 'counts per minute');

type Given = GivenTo<typeof options>;

export async function run(given: Given): Promise<void> {
  checkTop(given.top);
  if (!(Number.isInteger(given.cycleMs) && given.cycleMs >= 1 && given.cycleMs <= 86_400_000)) {
    throw new Failure('wrong_usage', {
      what: '--cycle-ms takes whole milliseconds from 1 to 86400000.',
      fix: 'Leave it out for 777.',
    });
  }
  const within = durationIn('within', given.within, given.cycleMs, 1);
  const plan = planContract(rateLimiter({ threshold: given.threshold, within }));
  const log = logOptions(given);
  const name = nameOf(given.log);
  const { signal, release } = interruptible();
  const id = `${given.threshold}-within-${within}`;
  const folder = await folderFor(given, { scenario: given.live ? `${name}-live` : name, id });
  const reading = new Progress(`reading ${name}`);
  const common = {
    name,
    cycleMs: given.cycleMs,
    plan,
    log,
    signal,
    top: given.top,
    onRead: (done: number, total: number | undefined) =>
      reading.show(total === undefined ? undefined : done / total, `${Math.round(done / 1e6)} MB`),
  };
  const { readings, ...run } = given.live
    ? await runLive(given, common, reading)
    : await runVirtual(given, common, reading);
  release();
  const reported = { ...run, command: commandFor(given) };
  const report = await folder?.write(reported);
  if (!given.json) process.stdout.write(`${readings.map(readingText).join('\n')}\n\n`);
  printFindings([reported], [report], given);
}

function commandFor(given: Given): string {
  const { log, threshold, within, cycleMs, format, timeColumn, timeUnit, countColumn, spread, top } = given;
  const { live, url, speed, allowRemote } = given;
  return commandAgain('replay', log, {
    threshold,
    within,
    'cycle-ms': cycleMs === CYCLE_MS ? undefined : cycleMs,
    format,
    'time-column': timeColumn,
    'time-unit': timeUnit,
    'count-column': countColumn,
    spread,
    key: given.key ?? given.keyColumn,
    live,
    ...(live ? { url, speed: speed === 1 ? undefined : speed, 'allow-remote': allowRemote } : {}),
    ...topFlag(top),
  });
}

type Common = Pick<ReplayOptions, 'name' | 'cycleMs' | 'plan' | 'log'> & {
  readonly signal: AbortSignal;
  readonly top: number;
  readonly onRead: (done: number, total: number | undefined) => void;
};

type ReadAndRun = Reported & { readonly readings: readonly LogReading[] };

async function runVirtual({ log }: Given, common: Common, reading: Progress): Promise<ReadAndRun> {
  const running = new Progress('replaying');
  const run = await replay(log, {
    ...common,
    onProgress: (cycle, last) => {
      reading.clear();
      running.show(undefined, `to cycle ${cycle} of ${last}`);
    },
  });
  reading.clear();
  running.clear();
  return run;
}

async function runLive(given: Given, common: Common, reading: Progress): Promise<ReadAndRun> {
  if (!(given.speed > 0 && given.speed <= 1_000_000)) {
    throw new Failure('wrong_usage', {
      what: '--speed takes a number above 0, up to 1000000.',
      fix: 'For example --speed 10.',
    });
  }
  const lines = new CycleLines(common.name);
  // Most replays send nothing, and need nothing of what sends.
  const { liveReplay } = await import('../live/live-replay.js');
  const { observed, predicted, series, readings } = await liveReplay(given.log, {
    ...common,
    ...liveOptionsOf({ ...given, credential: undefined, key: undefined, timeout: undefined, connections: undefined }),
    cycleMs: given.cycleMs,
    speed: given.speed,
    onCycle: (line) => {
      reading.clear();
      lines.show(line);
    },
  });
  lines.clear();
  const { timeline } = predicted;
  return { ...observed, ...(timeline === undefined ? {} : { predicted: timeline }), series, readings };
}

/** What the command line says of a log; `--key` and `--key-column` mean the same. */
export function logOptions(given: Given): LogOptions {
  return {
    format: given.format === undefined ? undefined : given.format,
    timeColumn: given.timeColumn,
    countColumn: given.countColumn,
    keyColumn: given.key ?? given.keyColumn,
    spreadMs: given.spread === undefined ? undefined : parseTimeMs(given.spread, given.cycleMs),
    timeUnit: given.timeUnit === undefined ? undefined : (oneOf('time-unit', given.timeUnit, timeUnits) as TimeUnit),
  };
}

function oneOf(option: string, word: string, allowed: readonly string[]): string {
  if (allowed.includes(word)) return word;
  const guess = nearest(word, allowed);
  throw new Failure('wrong_usage', {
    what: `--${option} does not know "${word}".`,
    why: `It takes ${allowed.join(', ')}.`,
    ...(guess === undefined ? {} : { fix: `Did you mean "${guess}"?` }),
  });
}

function nameOf([first = 'log', ...more]: readonly string[]): string {
  const name = first === '-' ? 'stdin' : basename(first);
  return more.length === 0 ? name : `${name}-and-${more.length}-more`;
}

/** How a file was understood, and the first of its lines that are no requests. */
function readingText({
  path,
  format,
  timeFrom,
  countFrom,
  keyFrom,
  requests,
  skippedLines,
  skipped,
}: LogReading): string {
  const from = [
    `time from ${timeFrom}`,
    ...(countFrom === undefined ? [] : [`count from ${countFrom}`]),
    ...(keyFrom === undefined ? [] : [`client from ${keyFrom}`]),
  ];
  const head = `${path}: ${format}, ${from.join(', ')}; ${requests} requests`;
  if (skippedLines === 0) return head;
  const shown = skipped.map(({ line, reason, text }) => `  line ${line}: ${reason}: ${text}`);
  const more = skippedLines > skipped.length ? [`  and ${skippedLines - skipped.length} more`] : [];
  return [`${head}; ${skippedLines} lines are no requests:`, ...shown, ...more].join('\n');
}
