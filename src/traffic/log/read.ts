// Owns reading logs into a sink, one after another, and what is said of each. Leaves bytes to source.ts, formats to open.ts.
import { Failure } from '../../schema/failure.js';
import { MAX_SPREAD_MS } from '../spread.js';
import { Intake, type RequestSink, type SkippedLine } from './intake.js';
import { type OpenLog, type Origin, openLog } from './open.js';
import type { LogFormat, LogOptions } from './options.js';
import { HEAD_BYTES } from './recognise.js';
import { bytesOf, type SourceHooks } from './source.js';

/** What was read from one log, and how it was understood. */
export interface LogReading extends Origin {
  readonly path: string;
  readonly format: LogFormat | 'empty';
  readonly requests: number;
  /** All lines, also blank ones and the header; of a HAR file, entries. */
  readonly lines: number;
  /** Lines that are no request; blank lines, the header and rows with the count 0 are not among them. */
  readonly skippedLines: number;
  /** The first of them. */
  readonly skipped: readonly SkippedLine[];
  /** When the earliest and the latest request arrived, in unix ms; absent without requests. */
  readonly firstMs?: number;
  readonly lastMs?: number;
  /** Whether the reading was ended by its signal: then this is what was read up to there. */
  readonly interrupted: boolean;
}

/**
 * Reads the log at `path` into `sink`; `-` is standard input, gzip is unpacked.
 * @throws Failure `unreadable_file`, `unknown_format`, `no_requests`, `invalid_input`
 */
export async function readLog(
  path: string,
  options: LogOptions,
  sink: RequestSink,
  hooks: SourceHooks = {},
): Promise<LogReading> {
  const [reading] = await readLogs([path], options, sink, hooks);
  return reading!;
}

/** Reads several logs into one sink, in the order given; some may be empty, as long as one has a request. */
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

/**
 * Reads a log from its bytes, cut into chunks anywhere. Without any request it is read all the same.
 * @throws Failure `unknown_format`, `invalid_input`
 */
export async function readBytes(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  path: string,
  options: LogOptions,
  sink: RequestSink,
  signal?: AbortSignal,
): Promise<LogReading> {
  const intake = new Intake(sink, options.spreadMs ?? 0);
  const start: Buffer[] = [];
  let startBytes = 0;
  let log: OpenLog | undefined;
  const open = (): OpenLog => {
    const bytes = Buffer.concat(start);
    const opened = openLog(bytes.subarray(0, HEAD_BYTES), path, options, intake);
    opened.reader.push(bytes);
    return opened;
  };
  for await (const chunk of chunks) {
    if (log !== undefined) {
      log.reader.push(chunk);
      continue;
    }
    start.push(Buffer.from(chunk));
    startBytes += chunk.length;
    if (startBytes >= HEAD_BYTES) log = open();
  }
  log ??= open();
  const interrupted = signal?.aborted === true;
  // What follows the last whole line is only a line if the log ends there.
  if (!interrupted) log.reader.end();
  const { requests, firstMs, lastMs, skippedLines, skipped } = intake;
  return {
    path,
    format: log.format,
    ...log.origin(),
    requests,
    lines: log.reader.lines,
    skippedLines,
    skipped,
    ...(requests > 0 && { firstMs, lastMs }),
    interrupted,
  };
}

function checkSpread(spreadMs: number | undefined): void {
  if (spreadMs === undefined) return;
  if (Number.isInteger(spreadMs) && spreadMs >= 0 && spreadMs <= MAX_SPREAD_MS) return;
  throw new Failure('invalid_input', {
    what: `Counts cannot be spread over ${spreadMs} ms.`,
    why: 'The interval is a whole number of milliseconds, at most a day.',
    fix: 'Give the length of the interval that one row stands for, as in --spread 60s.',
  });
}

function noRequests(readings: readonly LogReading[]): Failure {
  const names = readings.map(({ path }) => path).join(', ');
  const lines = readings.reduce((sum, reading) => sum + reading.lines, 0);
  const skipped = readings.flatMap((reading) => reading.skipped);
  const read = readings.find(({ format }) => format !== 'empty');
  return new Failure('no_requests', {
    what: `There is no request in ${names}.`,
    why:
      read === undefined
        ? `${readings.length === 1 ? 'It is' : 'They are'} empty.`
        : `None of ${lines} lines is one, read as ${read.format} with ${read.timeFrom} for the time.`,
    fix: 'Check that it is the right file, or tell its --format and --time-column.',
    faults: skipped.map(({ line, reason, text }) => ({ path: `line ${line}`, message: `${reason}: ${text}` })),
  });
}
