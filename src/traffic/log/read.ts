// Reads logs into a sink, one after another, and says how each was read.
import { Failure } from '../../schema/failure.js';
import { MAX_SPREAD_MS } from '../spread.js';
import { Intake, type RequestSink, type SkippedLine } from './intake.js';
import { bytesOf, type SourceHooks } from './log-bytes.js';
import type { LogOptions } from './log-options.js';
import { HEAD_BYTES, type OpenLog, type Origin, openLog } from './open.js';

/** What was read from one log, and how it was understood. */
export interface LogReading extends Origin {
  readonly path: string;
  readonly requests: number;
  /** All lines, also blank ones and the header; of a HAR file, entries. */
  readonly lines: number;
  /** Lines that are no request; blank lines, the header and rows with the count 0 are not among them. */
  readonly skippedLines: number;
  /** The first of them. */
  readonly skipped: readonly SkippedLine[];
  /** Requests that a filter left out. */
  readonly filtered: number;
  /** On how many days (UTC) requests came. */
  readonly days: number;
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
  const intake = new Intake(sink, options.spreadMs ?? 0, options.fromMs, options.toMs);
  const start: Buffer[] = [];
  let startBytes = 0;
  let log: OpenLog | undefined;
  let decode = (bytes: Buffer): Buffer => bytes;
  const open = (): OpenLog => {
    const raw = Buffer.concat(start);
    decode = decoderOf(raw);
    const bytes = decode(raw);
    const opened = openLog(bytes.subarray(0, HEAD_BYTES), path, options, intake);
    sink.opened?.(opened.origin().timeUnit);
    opened.reader.push(bytes);
    return opened;
  };
  for await (const chunk of chunks) {
    if (log !== undefined) {
      log.reader.push(decode(chunk));
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
  const { requests, firstMs, lastMs, skippedLines, skipped, filtered, days } = intake;
  return {
    path,
    ...log.origin(),
    requests,
    lines: log.reader.lines,
    skippedLines,
    skipped,
    filtered,
    days: days.size,
    ...(requests > 0 && { firstMs, lastMs }),
    interrupted,
  };
}

/** UTF-16 is made UTF-8: with a byte order mark, or with a NUL in every second byte at the start. */
function decoderOf(head: Buffer): (bytes: Buffer) => Buffer {
  const isNul = (offset: number) =>
    head.length >= 16 && Array.from({ length: 8 }, (_, i) => head[2 * i + offset]!).every((byte) => byte === 0);
  const isText = (offset: number) =>
    Array.from({ length: 8 }, (_, i) => head[2 * i + offset]!).every((byte) => byte >= 9);
  const isLittle = (head[0] === 0xff && head[1] === 0xfe) || (isNul(1) && isText(0));
  const isBig = (head[0] === 0xfe && head[1] === 0xff) || (isNul(0) && isText(1));
  if (!isLittle && !isBig) return (bytes) => bytes;
  const decoder = new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be');
  return (bytes) => Buffer.from(decoder.decode(bytes, { stream: true }));
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
    fix: 'Check that it is the right file, or name its --log-format and --time-column.',
    faults: skipped.map(({ line, reason, text }) => ({ path: `line ${line}`, message: `${reason}: ${text}` })),
  });
}
