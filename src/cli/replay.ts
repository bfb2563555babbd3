// `weir replay`: logs through a limiter: what would have been refused.

import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { Observable } from 'rxjs';
import type { Argv } from 'yargs';
import { rateLimiter } from '../limiter/rate-limiter.js';
import { planContract } from '../limiter/validate.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import type { Reported } from '../report/reported.js';
import { Failure } from '../schema/failure.js';
import { Refusals } from '../simulate/refusals.js';
import { type ReplayOptions, replay } from '../simulate/replay.js';
import { CYCLE_MS } from '../time/cycle.js';
import { wallNowMs } from '../time/wall.js';
import { type LogOptions, logFormats } from '../traffic/log/options.js';
import { type LogReading, readLogs } from '../traffic/log/read.js';
import { summaryOf } from '../traffic/log/read-summary.js';
import { timeUnits } from '../traffic/log/unix.js';
import { type GivenTo, showDashes } from './command.js';
import { folderFor, printFindings } from './findings.js';
import { interruptible } from './interrupt.js';
import { liveOptionsOf } from './live-options.js';
import { checkTop, durationIn, jsonOption, noDefault, outOption, reportOption, topFlag, topOption } from './options.js';
import { CycleLines, Progress } from './progress.js';
import { checkWarnings, logOptions, nameOf, readingText, readText, runName } from './replay-log.js';
import { rerunCommand } from './rerun-command.js';

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
      describe: 'length of the rolling window in cycles, or as a time: 47s, 5m',
    })
    .option('cycle-ms', { type: 'number', default: 777, requiresArg: true, describe: 'length of a cycle in ms' })
    .option('log-format', {
      alias: 'format',
      type: 'string',
      requiresArg: true,
      describe: `format (default: recognised): ${logFormats.join(', ')}; or a line as nginx or Apache describe theirs`,
    })
    .option('time-column', { type: 'string', requiresArg: true, describe: 'column or field with the time' })
    .option('time-unit', {
      type: 'string',
      requiresArg: true,
      describe: `what plain numbers count: ${timeUnits.join(', ')}`,
    })
    .option('count-column', {
      type: 'string',
      requiresArg: true,
      describe: 'column or field with a number of requests; none: each row is one',
    })
    .option('spread', {
      type: 'string',
      requiresArg: true,
      describe: 'spread the requests of a row over so long, for example 60s',
    })
    .option('key', {
      type: 'string',
      requiresArg: true,
      describe:
        'one contract for each client, forwarded address (forwarded:2, forwarded:-1), path, method, user, or value of a column',
    })
    .option('key-column', { type: 'string', requiresArg: true, describe: 'the same as --key' })
    .option('where', {
      type: 'string',
      array: true,
      requiresArg: true,
      describe:
        "only requests for which it holds: method=POST, 'status>=500', 'path=/api/*'; several times for several",
    })
    .option('from', { type: 'string', requiresArg: true, describe: 'only requests from this time on, ISO 8601' })
    .option('to', { type: 'string', requiresArg: true, describe: 'only requests before this time' })
    .option('strict', {
      type: 'boolean',
      default: false,
      describe: 'refuse a log whose reading gives reason for a warning',
    })
    .option('refused', {
      type: 'string',
      requiresArg: true,
      describe: 'file for the lines that would have been refused, NDJSON',
    })
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
    .example('$0 replay access.log --where method=POST --key path --refused refused.ndjson', 'which requests it hits')
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
  const nowMs = wallNowMs();
  const log = { ...logOptions(given), nowMs };
  checkRefused(given);
  const name = nameOf(given.log);
  const { signal, release } = interruptible();
  const id = runName(given, within);
  const folder = await folderFor(given, { scenario: given.live ? `${name}-live` : name, id });
  const reading = new Progress(`reading ${name}`);
  const refusals = new Refusals();
  const common = {
    name,
    cycleMs: given.cycleMs,
    plan,
    log,
    signal,
    top: given.top,
    onRead: (done: number, total: number | undefined) =>
      reading.show(total === undefined ? undefined : done / total, `${Math.round(done / 1e6)} MB`),
    ...(given.refused !== undefined && {
      onRows: (rows: Observable<CycleRow>) => {
        refusals.restart();
        rows.subscribe((row) => refusals.see(row));
      },
    }),
  };
  try {
    const { readings, ...found } = given.live
      ? await runLive(given, common, reading)
      : await runVirtual(given, common, reading);
    release();
    const read = summaryOf(readings, log.keyColumn === undefined ? undefined : found.outcome.contracts, nowMs);
    if (given.strict) checkWarnings(read.warnings);
    const told = { ...found, outcome: { ...found.outcome, read }, command: commandFor(given) };
    const report = await folder?.write(told);
    if (given.refused !== undefined) await writeRefused(given.refused, refusals, given, log);
    if (!given.json) process.stdout.write(`${[...readings.map(readingText), ...readText(read)].join('\n')}\n\n`);
    printFindings([told], [report], given);
  } catch (error) {
    reading.clear();
    await folder?.discard();
    throw error;
  }
}

function checkRefused({ refused, log, live }: Given): void {
  if (refused === undefined) return;
  const why = live
    ? 'A live node refuses by itself.'
    : 'The log is read twice for it, and standard input can be read once.';
  if (!live && !log.includes('-')) return;
  throw new Failure('wrong_usage', {
    what: `--refused does not go with ${live ? '--live' : 'standard input'}.`,
    why,
    fix: live ? 'Leave out --live.' : 'Save the log in a file first.',
  });
}

/** Reads the log again and writes the lines that would have been refused. */
async function writeRefused(
  path: string,
  refusals: Refusals,
  { log: paths, cycleMs }: Given,
  log: LogOptions,
): Promise<void> {
  const file = createWriteStream(path);
  const closed = finished(file);
  const sink = refusals.sink(cycleMs, log.keyColumn !== undefined, (line) => file.write(`${JSON.stringify(line)}\n`));
  try {
    await Promise.race([readLogs(paths, log, sink), closed]);
    file.end();
    await closed;
  } catch (error) {
    file.destroy();
    closed.catch(() => undefined);
    if (error instanceof Failure) throw error;
    throw new Failure('unwritable_folder', {
      what: `${path} cannot be written.`,
      why: (error as Error).message,
      fix: 'Name another file with --refused.',
      cause: error,
    });
  }
}

function commandFor(given: Given): string {
  const { log, threshold, within, cycleMs, logFormat, timeColumn, timeUnit, countColumn, spread, top } = given;
  const { live, url, speed, allowRemote } = given;
  return rerunCommand('replay', log, {
    threshold,
    within,
    'cycle-ms': cycleMs === CYCLE_MS ? undefined : cycleMs,
    'log-format': logFormat,
    'time-column': timeColumn,
    'time-unit': timeUnit,
    'count-column': countColumn,
    spread,
    key: given.key ?? given.keyColumn,
    where: given.where,
    from: given.from,
    to: given.to,
    strict: given.strict,
    live,
    ...(live ? { url, speed: speed === 1 ? undefined : speed, 'allow-remote': allowRemote } : {}),
    ...topFlag(top),
  });
}

type Common = Pick<ReplayOptions, 'name' | 'cycleMs' | 'plan' | 'log' | 'onRows'> & {
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
