// Owns telling the format of a log from its first bytes. Leaves reading it to the formats, files that are no text to magic.ts.
import { Failure } from '../../schema/failure.js';
import { isClfLine } from './clf.js';
import { findTimeColumn } from './columns.js';
import { evenness, tableIn, tableSample } from './delimited.js';
import { LineCutter, startsWithMark } from './lines.js';
import { knownBinary, looksBinary } from './magic.js';
import { isJsonObject } from './ndjson.js';
import { type LogFormat, type LogOptions, logFormats } from './options.js';
import { printable } from './printable.js';

/** How much of a log is looked at. */
export const HEAD_BYTES = 1 << 16;

/** A combined line has three quoted parts after its time, a common one has one. The last quote may be missing. */
const COMBINED_QUOTES = 5;

/**
 * The format of a log that begins with `head`; `empty` when it has nothing but blanks. In this order:
 *
 * 1. told: taken as it is
 * 2. the start of a JSON object whose first member is a `log` as HAR has it: HAR
 * 3. lines most of which are JSON objects: NDJSON
 * 4. a first line that names a column which is known to be a time, or told to be: CSV or TSV
 * 5. a line with an address and a time in brackets: common or combined
 * 6. rows which mostly have as many fields as the first line: CSV or TSV, whose time has still to be named
 *
 * @param head the first HEAD_BYTES, or all there is
 * @throws Failure `unknown_format`
 */
export function recognise(head: Buffer, options: LogOptions, path: string): LogFormat | 'empty' {
  const binary = knownBinary(head);
  if (binary !== undefined) throw unknown(path, `It is ${binary.what}.`, binary.fix);
  const lines = linesOf(head);
  if (lines.length === 0 && !looksBinary(head)) return 'empty';
  if (options.format !== undefined) return options.format;
  if (looksBinary(head)) throw unknown(path, 'It is not text.');
  return formatOf(head, lines, options) ?? refuse(lines[0]!, path);
}

function formatOf(head: Buffer, lines: readonly Buffer[], options: LogOptions): LogFormat | undefined {
  if (looksLikeHar(head)) return 'har';
  const objects = lines.filter((line) => isJsonObject(line, 0, line.length));
  if (objects.length * 2 > lines.length) return 'ndjson';
  const table = tableIn(wholeLines(head));
  const tableFormat = table.delimiter === '\t' ? 'tsv' : 'csv';
  const isJson = beginsJson(head);
  if (!isJson && findTimeColumn(tableSample(table), options.timeColumn) !== undefined) return tableFormat;
  const clf = isJson ? undefined : lines.find((line) => isClfLine(line, 0, line.length));
  if (clf !== undefined) return clf.filter((byte) => byte === QUOTE).length >= COMBINED_QUOTES ? 'combined' : 'common';
  const isTable = !isJson && table.names.length > 1 && evenness(table) >= 0.5;
  return isTable ? tableFormat : undefined;
}

/** The lines at the start of a log, as they would be read; the last is left out when it may go on. */
export function linesOf(head: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  const cutter = new LineCutter(
    { line: (bytes, from, to) => lines.push(Buffer.from(bytes.subarray(from, to))), end: () => undefined },
    { skip: () => undefined },
  );
  cutter.push(wholeLines(head));
  cutter.end();
  return lines;
}

/** The head without a line that the end of the head cuts. */
export function wholeLines(head: Buffer): Buffer {
  const end = head.lastIndexOf(LINE_FEED);
  return head.length < HEAD_BYTES || end < 0 ? head : head.subarray(0, end + 1);
}

/** `{"log": {` at the start, and soon one of the names that HAR gives the parts of a log. */
function looksLikeHar(head: Buffer): boolean {
  const start = startsWithMark(head, 0, head.length) ? 3 : 0;
  return /^\s*\{\s*"log"\s*:\s*\{\s*"(version|creator|browser|pages|entries|comment|_\w*)"/.test(
    head.toString('latin1', start, start + 4096),
  );
}

/** `{`, or `[` before another bracket or a quote; an access log may begin with an IPv6 address in brackets. */
function beginsJson(head: Buffer): boolean {
  return /^(\xef\xbb\xbf)?\s*(\{|\[\s*(["{[]|$))/.test(head.toString('latin1', 0, 4096));
}

function refuse(firstLine: Buffer, path: string): never {
  const first = `Its first line is \`${printable(firstLine, 0, firstLine.length)}\`.`;
  throw beginsJson(firstLine)
    ? unknown(
        path,
        `It is JSON, but not one object a line. ${first}`,
        "Make it so: `jq -c '.[]'` for an array, `jq -c .` else.",
      )
    : unknown(path, first);
}

function unknown(path: string, why: string, fix?: string): Failure {
  return new Failure('unknown_format', {
    what: `${path} is no log of a known format.`,
    why,
    fix: fix ?? `Formats are ${logFormats.join(', ')}; tell which with --format, if it is one of them all the same.`,
  });
}

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
