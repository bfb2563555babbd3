// Reads logs into a sink, one after another, and reports how each was read.
import { stat } from 'node:fs/promises';
import { Failure } from '../../../core/schema/failure.js';
import { LATE } from '../log-order.js';
import { MAX_SPREAD_MS } from '../spread.js';
import type { RequestSink } from './intake.js';
import { bytesOf, type SourceHooks } from './log-bytes.js';
import type { LogOptions } from './log-options.js';
import { type LogReading, readBytes } from './read-bytes.js';

/** `-` is standard input. @throws Failure `unreadable_file`, `unknown_format`, `no_requests`, `invalid_input` */
export async function readLog(
  path: string,
  options: LogOptions,
  sink: RequestSink,
  hooks: SourceHooks = {},
): Promise<LogReading> {
  const [reading] = await readLogs([path], options, sink, hooks);
  return reading!;
}

/** In the order given; some may be empty if another has a request. */
export async function readLogs(
  paths: readonly string[],
  options: LogOptions,
  sink: RequestSink,
  hooks: SourceHooks = {},
): Promise<LogReading[]> {
  checkSpread(options.spreadMs);
  const readings: LogReading[] = [];
  for (const path of paths) {
    if (hooks.signal?.aborted === true && readings.length > 0) break;
    readings.push(await readBytes(bytesOf(path, hooks), path, options, sink, hooks.signal));
  }
  if (readings.every(({ requests, interrupted }) => requests === 0 && !interrupted)) throw noRequests(readings);
  return readings;
}

const BUFFER_ROWS = 1 << 18;

/** @param read reads all logs from the start through a new `LogOrder` of `mostRows` */
export async function readInOrder<T>(paths: readonly string[], read: (mostRows: number) => Promise<T>): Promise<T> {
  try {
    return await read((await canReadAgain(paths)) ? BUFFER_ROWS : Number.POSITIVE_INFINITY);
  } catch (error) {
    if (error !== LATE) throw error;
    return await read(Number.POSITIVE_INFINITY);
  }
}

async function canReadAgain(paths: readonly string[]): Promise<boolean> {
  const files = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  return files.every((file) => file?.isFile() === true);
}

function checkSpread(spreadMs: number | undefined): void {
  if (spreadMs === undefined) return;
  if (Number.isInteger(spreadMs) && spreadMs >= 0 && spreadMs <= MAX_SPREAD_MS) return;
  throw new Failure('invalid_input', {
    what: `Counts cannot be spread over ${spreadMs} ms.`,
    why: 'The interval is a whole number of milliseconds, at most a day.',
    fix: 'Give the length of the interval that one row stands for, as in --count /60s.',
  });
}

function noRequests(readings: readonly LogReading[]): Failure {
  const names = readings.map(({ path }) => path).join(', ');
  const lines = readings.reduce((sum, reading) => sum + reading.lines, 0);
  const skipped = readings.flatMap((reading) => reading.skipped);
  const read = readings.find(({ format }) => format !== 'empty');
  const filtered = readings.reduce((sum, reading) => sum + reading.filtered, 0);
  if (filtered > 0)
    return new Failure('no_requests', {
      what: `No request of ${names} is left.`,
      why: `${filtered === 1 ? 'The one request was' : `All ${filtered} requests were`} left out by --where, --from or --to.`,
      fix: 'Widen the filters, or check the names and values in them.',
    });
  return new Failure('no_requests', {
    what: `There is no request in ${names}.`,
    why:
      read === undefined
        ? `${readings.length === 1 ? 'It is' : 'They are'} empty.`
        : `None of ${lines} lines is one, read as ${read.format} with ${read.timeFrom} for the time.`,
    fix: 'Check that it is the right file, or name its --log-format and --time.',
    faults: skipped.map(({ line, reason, text }) => ({ path: `line ${line}`, message: `${reason}: ${text}` })),
  });
}
