// Finds the format of a log from its first bytes and creates its reader.
import { nearest } from '../../../core/schema/did-you-mean.js';
import { Failure } from '../../../core/schema/failure.js';
import { addressAndTime, plainClf } from './clf.js';
import { roleNames, usualIn } from './column-names.js';
import { type Columns, chooseColumns, columnWords, timeFieldsIn } from './columns.js';
import { counts } from './counts.js';
import { customLayout, isCustom, NEARLY_ALL, REQUEST } from './custom-layout.js';
import { evenTable, namedTable, namelessTable } from './delimited.js';
import { type DocumentKind, documentKinds, documentReader, refuseUnread } from './documents.js';
import {
  ENVELOPE_TIME,
  envelopeAlone,
  enveloped,
  envelopesOf,
  jsonEnveloped,
  lineFields,
  linesIn,
  without,
} from './envelope.js';
import {
  accessFormats,
  applicationFormats,
  type Format,
  formats,
  headedFormats,
  jsonFormats,
  logFormats,
  serverFormats,
} from './formats.js';
import { type Intake, printable } from './intake.js';
import { isObject, jsonLayout } from './json.js';
import { type Layout, type LogHead, mostly, type Recognise, valuesOf } from './layout.js';
import { LineCutter, type LogReader } from './lines.js';
import { isLogFormat, templateOf } from './log-format.js';
import type { LogOptions, Warning } from './log-options.js';
import { knownBinary, looksBinary } from './magic.js';
import { logfmt, templateLayout, timedLines } from './pattern.js';
import { RequestReader } from './request-reader.js';

export const HEAD_BYTES = 1 << 16;

const allOf = (formats: readonly Format[]): Recognise[] => formats.map(({ open }) => open);

export interface Origin {
  readonly format: string;
  readonly envelope?: string;
  /** As `column t_ms (unix ms)`. */
  readonly timeFrom: string;
  readonly countFrom?: string;
  readonly costFrom?: string;
  readonly keyFrom?: string;
  readonly columns: Readonly<Record<string, string>>;
  /** The fields of `alsoColumns`; undefined where the log lacks one. */
  readonly also?: readonly (string | undefined)[];
  /** `date`, or the unit of the numbers; absent if nothing was read. */
  readonly timeUnit?: string;
  readonly warnings: readonly Warning[];
}

export interface OpenLog {
  readonly reader: LogReader;
  readonly origin: () => Origin;
}

/** @throws Failure `unknown_format`; `invalid_input` for options that do not fit the log */
export function openLog(head: Buffer, path: string, options: LogOptions, intake: Intake): OpenLog {
  const found = formatOf(head, options, path);
  if (found === 'empty') {
    const nothing = { line: () => undefined, end: () => undefined };
    return { reader: new LineCutter(nothing, intake), origin: () => ({ ...noOrigin, format: found }) };
  }
  let origin = (): Origin => ({ ...noOrigin, format: 'name' in found ? found.name : found.format });
  const open = (layout: Layout): RequestReader => {
    const columns = chooseColumns(layout, options, path);
    const requests = new RequestReader(layout, columns, intake);
    origin = () => originOf(layout, columns, requests);
    return requests;
  };
  const reader =
    'name' in found
      ? documentReader(found, path, (records) => open(documentLayout(found, records, options)))
      : new LineCutter(open(found).lineReader(), intake);
  return { reader, origin: () => origin() };
}

const noOrigin = { timeFrom: 'nothing', columns: {}, warnings: [] };

function originOf(layout: Layout, columns: Columns, reader: RequestReader): Origin {
  const { time, count, cost, key, also, where, warnings } = columns;
  const { otherUnits, withoutYear } = reader.time;
  const mixed = `${otherUnits} times are in another unit than ${time.unit}, by their number of digits.`;
  const noYear = 'The dates have no year: the latest that does not lie in the future is taken.';
  return {
    format: layout.format,
    ...(layout.envelope !== undefined && { envelope: layout.envelope }),
    timeFrom: time.from,
    ...(count !== undefined && layout.format !== 'counts' && { countFrom: columnWords(layout, count) }),
    ...(cost.length > 0 && { costFrom: cost.map((name) => columnWords(layout, name)).join(' + ') }),
    ...(key !== undefined && { keyFrom: key.from }),
    columns: {
      time: time.names.join('+'),
      ...(count !== undefined && { count }),
      ...(cost.length > 0 && { cost: cost.join('+') }),
      ...(key !== undefined && { key: key.name }),
      ...(where.length > 0 && { where: where.map(({ name }) => name).join(', ') }),
    },
    ...(also.length > 0 && { also: also.map((one) => one?.name) }),
    timeUnit: time.unit,
    warnings: [
      ...warnings,
      ...(otherUnits > 0 ? [{ code: 'mixed_units', what: mixed }] : []),
      ...(withoutYear > 0 ? [{ code: 'no_year', what: noYear }] : []),
    ],
  };
}

/**
 * The layout of a log, or the kind of the JSON document; `empty` if it is blank. In this order:
 *
 * 1. a format that the user named
 * 2. a JSON document; then objects on each line, possibly with lines of another format in them
 * 3. a header with a known time, directives
 * 4. any of these or of the server formats, within an envelope
 * 5. server formats, and requests among other lines of an application; a layout of their own, named in a warning
 * 6. an envelope alone; words and tables in which a time can be found
 *
 * @param head the first HEAD_BYTES, or the whole log
 * @throws Failure `unknown_format`
 */
export function formatOf(head: Buffer, options: LogOptions, path: string): Layout | DocumentKind | 'empty' {
  const binary = knownBinary(head);
  if (binary !== undefined) throw unknown(path, `It is ${binary.what}.`, binary.fix);
  const lines = linesOf(head);
  if (lines.length === 0 && !looksBinary(head)) return 'empty';
  const start = { bytes: wholeLines(head), lines, options };
  if (options.format !== undefined) return namedFormat(options.format, start, path);
  if (looksBinary(head)) throw unknown(path, 'It is not text.');
  if (!beginsJson(head) && !head.includes(LINE_FEED) && head.subarray(0, -1).includes(CARRIAGE_RETURN))
    throw unknown(path, 'Its lines end with a carriage return alone.', "Make them lines with `tr '\\r' '\\n'`.");
  const found = beginsJson(head) ? jsonFormat(start, head, path) : (textFormat(start) ?? firstOf(last, start));
  if (found !== undefined) return found;
  if (head.length >= HEAD_BYTES && !head.includes(LINE_FEED))
    throw unknown(path, `Its first line is longer than ${HEAD_BYTES >> 10} KiB.`);
  throw refusal(lines, path);
}

/** Tried last: many texts look like these. */
const last: readonly Recognise[] = [logfmt(true), namelessTable, counts, timedLines, evenTable];

function namedFormat(name: string, head: LogHead, path: string): Layout | DocumentKind {
  refuseUnread(path, { name });
  const kind = documentKinds.find((one) => one.name === name);
  if (kind !== undefined) return kind;
  if (isLogFormat(name)) return templateFormat(name, head);
  const format = formats.find((one) => one.name === name);
  if (format === undefined) {
    const guess = nearest(name, logFormats);
    throw new Failure('wrong_usage', {
      what: `There is no format "${name}".`,
      why: `Formats are ${logFormats.join(', ')}, or a line as nginx or Apache describe theirs.`,
      ...(guess === undefined ? {} : { fix: `Did you mean "${guess}"?` }),
    });
  }
  return format.open(head, true) ?? format.open({ ...head, lines: [] }, true) ?? jsonLayout(name, head.lines);
}

function templateFormat(format: string, { lines }: LogHead): Layout {
  const { template, known } = templateOf(format);
  const layoutOf = (inner: readonly Buffer[]) => templateLayout('log-format', template, inner, known);
  const plain = layoutOf(lines);
  const around = envelopesOf(lines).find((envelope) => matches(layoutOf(without(envelope, lines))) > matches(plain));
  return withMissing(around === undefined ? plain : enveloped(around, layoutOf(without(around, lines)), lines));
}

/** A line is of the format up to its time; fields after it that most lines lack are named. */
function withMissing(layout: Layout): Layout {
  const enough = NEARLY_ALL * matches(layout);
  const missing = layout.names.filter((name) => name !== ENVELOPE_TIME && valuesOf(layout, name).length < enough);
  if (missing.length === 0) return layout;
  const what = `Many lines have no ${missing.join(', ')} where the --log-format has them: what looks at them finds nothing there.`;
  return { ...layout, known: { ...layout.known, warning: { code: 'fields_not_found', what } } };
}

function matches(layout: Layout): number {
  const cutter = layout.cutter(new Map());
  return layout.lines.filter((line) => cutter.cut(line, 0, line.length) === undefined).length;
}

function firstOf(all: readonly Recognise[], head: LogHead): Layout | undefined {
  for (const open of all) {
    const layout = open(head, false);
    if (layout !== undefined) return layout;
  }
  return undefined;
}

function jsonFormat(start: LogHead, head: Buffer, path: string): Layout | DocumentKind | undefined {
  const text = head.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  refuseUnread(path, { start: text });
  const kind = documentKinds.find((one) => one.begins(text));
  if (kind?.name === 'har') return kind;
  const found = jsonLines(start);
  // A single line may be one object that contains all requests.
  const isLines = start.lines.length > 1 || kind === undefined;
  return found !== undefined && (isLines || timeFieldsIn(found, start.options.timeColumn) !== undefined) ? found : kind;
}

function jsonLines({ lines, options }: LogHead): Layout | undefined {
  const objects = lines.filter(isObject);
  if (objects.length * 2 <= lines.length) return undefined;
  const found = firstOf(allOf(jsonFormats), headOf(objects, options))!;
  return found.format === 'ndjson' ? withLines(found, options) : found;
}

/** Objects with a method are requests themselves. */
function withLines(objects: Layout, options: LogOptions): Layout {
  if (usualIn(objects.names, roleNames.method) !== undefined) return objects;
  for (const field of lineFields) {
    const lines = linesIn(objects.lines, field);
    const inner = lines.length === 0 ? undefined : wrappedFormat(headOf(lines, options));
    if (inner !== undefined) return jsonEnveloped(objects, field, inner);
  }
  return objects;
}

function documentLayout({ name }: DocumentKind, records: readonly Buffer[], options: LogOptions): Layout {
  const product = name === 'json' ? firstOf(allOf(jsonFormats), headOf(records, options))! : undefined;
  if (product !== undefined && product.format !== 'ndjson') return product;
  return withLines(jsonLayout(name, records, name === 'har' ? { fields: { duration: 'time' } } : {}), options);
}

function textFormat(head: LogHead, depth = 0): Layout | undefined {
  const named = firstOf([plainClf], head) ?? jsonLines(head) ?? firstOf([...allOf(headedFormats), namedTable], head);
  if (named !== undefined) return named;
  const custom: Layout[] = [];
  for (const envelope of depth < MAX_ENVELOPES ? envelopesOf(head.lines) : []) {
    const inner = headOf(without(envelope, head.lines), head.options);
    const within = wrappedFormat(inner, depth + 1);
    if (within !== undefined && !isCustom(within)) return enveloped(envelope, within, head.lines);
    if (within !== undefined) custom.push(enveloped(envelope, within, head.lines));
  }
  const known = firstOf(allOf([...serverFormats, ...accessFormats, ...applicationFormats]), head);
  return (
    known ?? mostNamed(custom, customLayout(head, false)) ?? addressAndTime(head, false) ?? envelopeAlone(head.lines)
  );
}

/** What looks like an envelope may hold a field: `192.0.2.1 | GET /a | 200`. */
function mostNamed(enveloped: readonly Layout[], plain: Layout | undefined): Layout | undefined {
  const [within] = enveloped;
  const count = ({ names }: Layout) =>
    names.filter((name) => name !== ENVELOPE_TIME).length + (names.includes('request') ? 1 : 0);
  return plain !== undefined && (within === undefined || count(plain) > count(within)) ? plain : within;
}

/** What is wrapped may have its time from around it. */
function wrappedFormat(head: LogHead, depth = 0): Layout | undefined {
  return textFormat(head, depth) ?? logfmt(false)(head, false);
}

const MAX_ENVELOPES = 2;

function headOf(lines: readonly Buffer[], options: LogOptions): LogHead {
  return { bytes: Buffer.concat(lines.flatMap((line) => [line, LINE_FEED_BYTES])), lines, options };
}

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

function wholeLines(head: Buffer): Buffer {
  const end = head.lastIndexOf(LINE_FEED);
  return head.length < HEAD_BYTES || end < 0 ? head : head.subarray(0, end + 1);
}

/** `[` only before another bracket or a quote: an access log may begin with an IPv6 address in brackets. */
function beginsJson(head: Buffer): boolean {
  return /^(\xef\xbb\xbf)?\s*(\{|\[\s*(["{[]|$))/.test(head.toString('latin1', 0, 4096));
}

function refusal(lines: readonly Buffer[], path: string): Failure {
  const firstLine = lines[0]!;
  const first = `Its first line is \`${printable(firstLine, 0, firstLine.length)}\`.`;
  if (beginsJson(firstLine) && !/^\s*\{\s*[^"}\s]/.test(firstLine.toString('latin1', 0, 64)))
    return unknown(
      path,
      `It is JSON, but not one object a line, and not an array of objects. ${first}`,
      "Make it so: `jq -c '.[]'` for an array, `jq -c .` else.",
    );
  const has = (pattern: RegExp) => mostly(lines, (line) => pattern.test(line.toString('latin1')));
  if (has(/^\W*\d\d:\d\d:\d\d\b/))
    return unknown(
      path,
      `Its times have no date. ${first}`,
      "Put the day of the log before them, as `sed 's/^/2026-01-31 /'` does.",
    );
  if (has(REQUEST) && !has(/\d\d:\d\d|\d{10}/))
    return unknown(
      path,
      `Its lines have requests, and no time. ${first}`,
      'Have the time written, by the program or by what collects its lines, as `docker logs -t` and `kubectl logs --timestamps` do.',
    );
  return unknown(path, first);
}

function unknown(path: string, why: string, fix?: string): Failure {
  return new Failure('unknown_format', {
    what: `${path} is no log of a known format.`,
    why,
    fix:
      fix ??
      '`weir help logs` lists the formats. Name it with --log-format, or give a line of it as nginx or Apache describe theirs.',
  });
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED_BYTES = Buffer.from('\n');
