// Finds the format of a log from its first bytes, and makes the reader for it.
import { nearest } from '../../schema/did-you-mean.js';
import { Failure } from '../../schema/failure.js';
import { type Columns, chooseColumns } from './columns.js';
import { envelopeAlone, enveloped, envelopesOf, jsonEnveloped, linesInJson, without } from './envelope.js';
import { alb } from './format/alb.js';
import { combined, common, plainClf } from './format/clf.js';
import { counts } from './format/counts.js';
import { csv, evenTable, namedTable, namelessTable, tsv } from './format/delimited.js';
import { w3c, zeek } from './format/directives.js';
import { elb } from './format/elb.js';
import { envoy, istio } from './format/envoy.js';
import type { Format, Head } from './format/format.js';
import { gatling } from './format/gatling.js';
import { haproxyHttp, haproxyTcp } from './format/haproxy.js';
import { ArrayReader } from './format/har.js';
import { jsonLayout, ndjson } from './format/json.js';
import { k6Csv, k6Json } from './format/k6.js';
import { locust } from './format/locust.js';
import { logfmt, timelessLogfmt } from './format/logfmt.js';
import { nlb } from './format/nlb.js';
import { s3 } from './format/s3.js';
import { squid } from './format/squid.js';
import { templateLayout } from './format/template.js';
import { timedLines } from './format/timed-lines.js';
import { vegeta } from './format/vegeta.js';
import { type Intake, printable } from './intake.js';
import type { Layout } from './layout.js';
import { LineCutter, type LogReader, startsWithMark } from './lines.js';
import { isLogFormat, templateOf } from './log-format.js';
import { type LogOptions, logFormats, type Warning } from './log-options.js';
import { knownBinary, looksBinary } from './magic.js';
import { RequestReader } from './request-reader.js';
import { findTime } from './time-column.js';

/** How much of a log is looked at. */
export const HEAD_BYTES = 1 << 16;

/** Texts of servers and proxies, each with a shape of its own: the longer before those they begin like. */
const texts: readonly Format[] = [vegeta, gatling, alb, nlb, elb, s3, istio, envoy, haproxyHttp, haproxyTcp, squid];

/** What is tried last, since many a text looks like it. */
const last: readonly Format[] = [logfmt, namelessTable, counts, timedLines, evenTable];

/** What a person may name. Apache's and nginx's own are alike. */
const byName: ReadonlyMap<string, Format> = new Map(
  [common, combined, csv, tsv, ndjson, w3c, zeek, k6Json, k6Csv, locust, ...texts, logfmt, counts, timedLines].map(
    (format) => [format.name, format] as const,
  ),
);

/** How a log is read, in words and names. */
export interface Origin {
  readonly format: string;
  /** As `docker compose`: what stands around each line. */
  readonly envelope?: string;
  /** As `column t_ms (unix ms)`. */
  readonly timeFrom: string;
  /** Absent when each line is one request. */
  readonly countFrom?: string;
  /** Absent when no key was asked for. */
  readonly keyFrom?: string;
  /** The names of the fields read: time, count, key and those of filters. */
  readonly columns: Readonly<Record<string, string>>;
  /** `date`, or what the numbers count; absent where nothing was read. */
  readonly timeUnit?: string;
  readonly warnings: readonly Warning[];
}

export interface OpenLog {
  readonly reader: LogReader;
  /** Known when all is read. */
  readonly origin: () => Origin;
}

/**
 * The reader for a log that begins with `head`.
 * @throws Failure `unknown_format`; `invalid_input` for options that do not fit the log
 */
export function openLog(head: Buffer, path: string, options: LogOptions, intake: Intake): OpenLog {
  const format = formatOf(head, options, path);
  if (format === 'empty') {
    const nothing = { line: () => undefined, end: () => undefined };
    return { reader: new LineCutter(nothing, intake), origin: () => ({ ...noOrigin, format }) };
  }
  if (typeof format !== 'string') {
    const columns = chooseColumns(format, options, path);
    const reader = new RequestReader(format, columns, intake);
    return {
      reader: new LineCutter(reader.lineReader(format), intake),
      origin: () => originOf(format, columns, reader),
    };
  }
  let origin: (() => Origin) | undefined;
  const reader = new ArrayReader(path, (objects) => {
    const layout = jsonLayout(format, objects);
    const columns = chooseColumns(layout, options, path);
    const requests = new RequestReader(layout, columns, intake);
    origin = () => originOf(layout, columns, requests);
    return requests;
  });
  return { reader, origin: () => origin?.() ?? { ...noOrigin, format } };
}

const noOrigin = { timeFrom: 'nothing', columns: {}, warnings: [] };

function originOf(layout: Layout, columns: Columns, { time }: RequestReader): Origin {
  const { count, countFrom, key, where } = columns;
  const warnings = [...columns.warnings];
  if (time.otherUnits > 0) {
    warnings.push({
      code: 'mixed_units',
      what: `${time.otherUnits} times are in another unit than ${columns.time.unit}, by their number of digits.`,
    });
  }
  if (time.withoutYear > 0) {
    warnings.push({
      code: 'no_year',
      what: 'The dates have no year: the latest that does not lie in the future is taken.',
    });
  }
  return {
    format: layout.format,
    ...(layout.envelope !== undefined && { envelope: layout.envelope }),
    timeFrom: columns.time.from,
    ...(countFrom !== undefined && layout.format !== 'counts' && { countFrom }),
    ...(key !== undefined && { keyFrom: key.from }),
    columns: {
      time: columns.time.names.join('+'),
      ...(count !== undefined && { count }),
      ...(key !== undefined && { key: key.name }),
      ...(where.length > 0 && { where: where.map(({ name }) => name).join(', ') }),
    },
    timeUnit: columns.time.unit,
    warnings,
  };
}

/**
 * The layout of a log that begins with `head`; `har` or `json` for one JSON text, `empty` when it has nothing but blanks. In this order:
 *
 * 1. a format that a person named: taken as it is
 * 2. one JSON text with an array
 * 3. a first line of names with a known time, directives, JSON lines
 * 4. within an envelope, any of these and the texts of servers
 * 5. the texts of servers
 * 6. an envelope alone; words and tables in which a time can be found
 *
 * @param head the first HEAD_BYTES, or all there is
 * @throws Failure `unknown_format`
 */
export function formatOf(head: Buffer, options: LogOptions, path: string): Layout | 'har' | 'json' | 'empty' {
  const binary = knownBinary(head);
  if (binary !== undefined) throw unknown(path, `It is ${binary.what}.`, binary.fix);
  const lines = linesOf(head);
  if (lines.length === 0 && !looksBinary(head)) return 'empty';
  const start = { bytes: wholeLines(head), lines, options };
  if (options.format !== undefined) return toldFormat(options.format, start);
  if (looksBinary(head)) throw unknown(path, 'It is not text.');
  if (looksLikeHar(head)) return 'har';
  const isJson = beginsJson(head);
  const found = isJson ? jsonFormat(start) : (textFormat(start) ?? firstOf(last, start));
  const isArray = isJson && isArrayOfObjects(head);
  // One line may be one object with all requests in it.
  if (found !== undefined && !(isArray && findTime(found, options.timeColumn) === undefined)) return found;
  if (isArray) return 'json';
  throw refusal(lines[0]!, path);
}

/** @throws Failure `wrong_usage` for a name that is none */
function toldFormat(told: string, head: Head): Layout | 'har' | 'json' {
  if (told === 'har' || told === 'json') return told;
  if (isLogFormat(told)) {
    const { template, known } = templateOf(told);
    const plain = templateLayout('log-format', template, head.lines, known);
    const around = envelopesOf(head.lines).find((envelope) => {
      const inner = templateLayout('log-format', template, without(envelope, head.lines), known);
      return matches(inner) > matches(plain);
    });
    if (around === undefined) return plain;
    return enveloped(around, templateLayout('log-format', template, without(around, head.lines), known), head.lines);
  }
  if (told === 'syslog') return envelopeAlone(head.lines) ?? timedLines.open(head, true)!;
  const format = byName.get(told);
  if (format === undefined) {
    const guess = nearest(told, logFormats);
    throw new Failure('wrong_usage', {
      what: `There is no format "${told}".`,
      why: `Formats are ${logFormats.join(', ')}, or a line as nginx or Apache describe theirs.`,
      ...(guess === undefined ? {} : { fix: `Did you mean "${guess}"?` }),
    });
  }
  return format.open(head, true) ?? format.open({ ...head, lines: [] }, true) ?? jsonLayout(told, head.lines);
}

/** How many of the lines a layout can cut. */
function matches(layout: Layout): number {
  const cutter = layout.cutter([], []);
  return layout.lines.filter((line) => cutter.cut(line, 0, line.length) === undefined).length;
}

function firstOf(formats: readonly Format[], head: Head): Layout | undefined {
  for (const format of formats) {
    const layout = format.open(head, false);
    if (layout !== undefined) return layout;
  }
  return undefined;
}

function jsonFormat(head: Head): Layout | undefined {
  const objects = firstOf([k6Json, ndjson], head);
  if (objects === undefined || objects.format !== 'ndjson') return objects;
  const within = linesInJson(head.lines);
  if (within === undefined) return objects;
  const inner = textFormat(headOf(within.inner, head.options));
  return inner === undefined ? objects : jsonEnveloped(objects, within.field, inner);
}

/** A format that a line has for sure, perhaps in envelopes. */
function textFormat(head: Head, depth = 0): Layout | undefined {
  const named = firstOf([plainClf, k6Json, ndjson, w3c, zeek, k6Csv, locust, namedTable], head);
  if (named !== undefined) return named;
  if (depth < MAX_ENVELOPES) {
    for (const envelope of envelopesOf(head.lines)) {
      const inner = headOf(without(envelope, head.lines), head.options);
      const within = textFormat(inner, depth + 1) ?? firstOf([logfmt, timelessLogfmt], inner);
      if (within !== undefined) return enveloped(envelope, within, head.lines);
    }
  }
  return firstOf([...texts, combined, common], head) ?? envelopeAlone(head.lines);
}

/** An envelope may stand in another: syslog in docker compose. */
const MAX_ENVELOPES = 2;

function headOf(lines: readonly Buffer[], options: LogOptions): Head {
  return { bytes: Buffer.concat(lines.flatMap((line) => [line, LINE_FEED_BYTES])), lines, options };
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
function wholeLines(head: Buffer): Buffer {
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

/** An array of objects, or an object that holds one; the first object may be cut by the end of the head. */
function isArrayOfObjects(head: Buffer): boolean {
  return (
    /^(\xef\xbb\xbf)?\s*(\[\s*\{|\{\s*"[^"]*"\s*:|\{\s*$)/.test(head.toString('latin1', 0, 4096)) && head.includes('[')
  );
}

function refusal(firstLine: Buffer, path: string): Failure {
  const first = `Its first line is \`${printable(firstLine, 0, firstLine.length)}\`.`;
  return beginsJson(firstLine)
    ? unknown(
        path,
        `It is JSON, but not one object a line, and not an array of objects. ${first}`,
        "Make it so: `jq -c '.[]'` for an array, `jq -c .` else.",
      )
    : unknown(path, first);
}

function unknown(path: string, why: string, fix?: string): Failure {
  return new Failure('unknown_format', {
    what: `${path} is no log of a known format.`,
    why,
    fix:
      fix ??
      `Formats are ${logFormats.join(', ')}; name it with --log-format, or give a line of it as nginx or Apache describe theirs.`,
  });
}

const LINE_FEED = 0x0a;
const LINE_FEED_BYTES = Buffer.from('\n');
