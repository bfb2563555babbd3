// Reads the bytes of one log into a sink and reports how it was read.
import { Intake, type RequestSink, type SkippedLine } from './intake.js';
import { MAX_LINE_BYTES } from './lines.js';
import type { LogOptions } from './log-options.js';
import { HEAD_BYTES, type OpenLog, type Origin, openLog } from './open.js';

export interface LogReading extends Origin {
  readonly path: string;
  readonly requests: number;
  /** Requests whose key is missing, or `-`. */
  readonly withoutKey: number;
  /** Includes blank lines and the header; for a HAR file, entries. */
  readonly lines: number;
  /** Excludes blank lines, the header and rows with the count 0. */
  readonly skippedLines: number;
  readonly skipped: readonly SkippedLine[];
  readonly filtered: number;
  readonly days: number;
  /** Of the earliest and the latest request, in unix ms; absent without requests. */
  readonly firstMs?: number;
  readonly lastMs?: number;
  readonly interrupted: boolean;
}

/** Chunks may be cut anywhere; no request is no error. @throws Failure `unknown_format`, `invalid_input` */
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
    const opened = openLog(headIn(bytes), path, options, intake);
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
    const hasLine = startBytes > MAX_LINE_BYTES || start.some((piece) => piece.includes(LINE_FEED));
    if (startBytes >= HEAD_BYTES && hasLine) log = open();
  }
  log ??= open();
  const interrupted = signal?.aborted === true;
  // Text after the last line feed is a line only if the log ends there.
  if (!interrupted) log.reader.end();
  const { requests, withoutKey, firstMs, lastMs, skippedLines, skipped, filtered, days, warnings } = intake;
  const origin = log.origin();
  return {
    path,
    ...origin,
    warnings: [...origin.warnings, ...warnings],
    requests,
    withoutKey,
    lines: log.reader.lines,
    skippedLines,
    skipped,
    filtered,
    days: days.size,
    ...(requests > 0 && { firstMs, lastMs }),
    interrupted,
  };
}

/** At least the first line, however long. */
function headIn(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.max(HEAD_BYTES, bytes.subarray(0, MAX_LINE_BYTES).indexOf(LINE_FEED) + 1));
}

const LINE_FEED = 0x0a;

/** Converts UTF-16, recognised by a byte order mark or a NUL in every second byte at the start, to UTF-8. */
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
