// Lines of words, some quoted or bracketed, cut by regular expressions over their bytes.
//
//   $client - $user [$time] "$request" $status          a template names the variable parts
//
// A value ends where the text after it begins. A blank matches one or more. A quoted value may hold \" and blanks; one followed by a
// blank and a sign, as ` [`, may hold blanks; any other none. `$_` matches anything. Text after the end is ignored.
import { isIP } from 'node:net';
import { firstAddressIn } from './address.js';
import { EVERY_LINE, isFullDate, timeFieldsIn } from './columns.js';
import { ZONE_TEXT } from './instant.js';
import {
  type Cutter,
  type Field,
  type KnownFields,
  type Layout,
  mostly,
  type Recognise,
  type Slots,
  slotsOf,
  valuesOf,
} from './layout.js';
import type { Warning } from './log-options.js';

/** Recognition requires the whole template; reading requires it only up to the time. */
export function template(format: string, text: string, known: KnownFields = {}): Recognise {
  return ({ lines }, isNamed) => {
    const layout = templateLayout(format, text, lines, known);
    return isNamed || mostly(lines, isWhole(layout)) ? layout : undefined;
  };
}

/** One line of the whole template suffices; lines of another form are comments. */
export function amongOthers(format: string, text: string, known?: KnownFields): Recognise {
  return ({ lines }, isNamed) => {
    const layout = templateLayout(format, text, lines, known);
    if (!isNamed && !lines.some(isWhole(layout))) return undefined;
    const parts = partsOf(text);
    return {
      ...layout,
      cutter: (fields) => {
        const { cut } = templateCutter(format, parts, parts.length, fields);
        return { cut: (bytes, from, to) => (cut(bytes, from, to) === undefined ? undefined : '') };
      },
    };
  };
}

export function templateLayout(
  format: string,
  text: string,
  lines: readonly Buffer[],
  known: KnownFields = {},
): Layout {
  const parts = partsOf(text);
  const names = parts.map(({ name }) => name).filter((name) => name !== '_');
  const upToTime = parts.findIndex(({ name }) => name === 'time') + 1;
  return {
    format,
    noun: 'field',
    names,
    lines,
    cutter: (fields) => templateCutter(format, parts, upToTime, fields),
    known: {
      time: 'time',
      ...known,
      fields: { ...(names.includes('client') && { client: 'client' }), ...known.fields },
    },
  };
}

function isWhole(layout: Layout): (line: Buffer) => boolean {
  const wanted = ['time', layout.names.at(-1)!, 'status'];
  const fields = slotsOf(wanted);
  const [time, last, status] = wanted.map((name) => fields.get(name)!) as [Field, Field, Field];
  const cutter = layout.cutter(fields);
  return (line) => {
    for (const field of fields.values()) field.clear();
    const reason = cutter.cut(line, 0, line.length);
    const hasStatus = status.isMissing || STATUS.test(status.text());
    return reason === undefined && !last.isMissing && !time.isMissing && hasStatus && isFullDate(time.text(), true);
  };
}

/** HAProxy writes -1 and Envoy 0 if there was none. */
const STATUS = /^(?:-|-1|0|\d{3})$/;

interface Part {
  readonly name: string;
  /** The text before the value, then the value as a group; matched where the previous part ended. */
  readonly source: string;
}

const NAME = /\$(?:\{(\w+)\}|(\w+))/g;

const single = new Set(['client', 'host', 'status', 'bytes', 'method', 'path']);

function partsOf(text: string): Part[] {
  const found = [...text.matchAll(NAME)];
  return found.map((match, i) => {
    const before = text.slice(i === 0 ? 0 : found[i - 1]!.index + found[i - 1]![0].length, match.index);
    const after = text.slice(match.index + match[0].length, found[i + 1]?.index);
    const name = match[1] ?? match[2]!;
    const isBeside = (after === '' && i + 1 < found.length) || (before === '' && i > 0);
    const value = (isBeside ? besideAnother(name, before, after) : undefined) ?? valuePattern(name, before, after);
    return { name, source: `${i === 0 ? '[\\0-\\x20]*' : ''}${literal(before)}(${value})` };
  });
}

/** Variables without text between them: `$host$request_uri`, `$uri$is_args$args`, `%U%q`. */
function besideAnother(name: string, before: string, after: string): string | undefined {
  if (name === 'is_args') return '\\??';
  if (after === '' && name.endsWith('host')) return '[^ \\t/"]*';
  const blank = before.endsWith('"') ? '' : ' \\t';
  if (after === '' && name === 'path') return `(?:[^?${blank}"\\\\]|\\\\.)*`;
  return /^(?:query|args|query_string)$/.test(name) ? `(?:[^${blank}"\\\\]|\\\\.)*` : undefined;
}

function valuePattern(name: string, before: string, after: string): string {
  // Syslog truncates a long request: its last quote is missing.
  // A quote that is not followed by the text after the value belongs to it: nginx's escape=none, and morgan, do not escape it.
  if (before.endsWith('"') && after.startsWith('"'))
    return `(?:[^"\\\\]|\\\\.|"(?!${after === '"' ? '$' : literal(after.slice(1))}))*(?="${after === '"' ? '|\\\\?$' : ''})`;
  if ((name === 'forwarded' || name.startsWith('upstream_')) && /^(?:[ \t]|$)/.test(after))
    return `(?!")(?:[^ \\t]+(?:,| :)[ \\t]+)*[^ \\t]*(?=${literal(after)})`;
  if (after === '') return lastPattern(name, before);
  if (name === 'time' && /^[ \t]/.test(after) && !/^ +[^\w\s$]/.test(after)) return `${LAST_TIME}(?=${literal(after)})`;
  if (after.startsWith('\t') && (name === 'path' || !single.has(name))) return '[^\\t]*(?=\\t)';
  const mayHoldBlanks = name === '_' || (/^ +\S|^[\]}|]/.test(after) && !single.has(name));
  const one = mayHoldBlanks ? '.' : '[^ \\t]';
  const orAll = after.trim() === '' ? `|${one}+$` : '';
  return `${name === '_' ? '' : '(?!")'}(?:${one}*?(?=${literal(after)})${orAll})`;
}

/** Agents, and what is between bars or tabs, may hold blanks. */
function lastPattern(name: string, before: string): string {
  if (name === '_' || (name === 'user_agent' && before !== '')) return '.*';
  if (name === 'time') return LAST_TIME;
  return /\| *$/.test(before) ? '[^|]*' : before.endsWith('\t') ? '[^\\t]*' : '(?!")[^ \\t]*';
}

/** A word, and perhaps a clock time and a zone: `2015-05-17 10:05:03 +0000`. */
const LAST_TIME = `(?!")[^ \\t]*(?:[ \\t]+\\d\\d?:\\d\\d[^ \\t]*)?(?:[ \\t]+${ZONE_TEXT}(?![^ \\t]))?`;

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&').replace(/ /g, '[ \\t]+');
}

/** Each part matches where the previous one ended, up to the last one wanted: linear time. @param needed parts that a line must have */
function templateCutter(format: string, parts: readonly Part[], needed: number, fields: Slots): Cutter {
  const last = Math.max(needed, parts.findLastIndex(({ name }) => fields.has(name)) + 1);
  const matched = parts.slice(0, last).map(({ name, source }) => ({
    pattern: new RegExp(source, 'sy'),
    own: fields.get(name),
  }));
  return {
    cut: (bytes, from, to) => {
      const text = bytes.toString('latin1', from, to);
      let at = 0;
      for (const [i, { pattern, own }] of matched.entries()) {
        pattern.lastIndex = at;
        const value = pattern.exec(text)?.[1];
        if (value === undefined) return i < needed ? `not a line of the format ${format}` : undefined;
        at = pattern.lastIndex;
        own?.set(bytes, from + at - value.length, from + at);
      }
      return undefined;
    },
  };
}

const pairs = {
  // A name begins with the first letter of its word: trying every letter makes a long word without `=` quadratic.
  logfmt: /(?<![A-Za-z_][\d.@-]*)([A-Za-z_][\w.@-]*)=("(?:[^"\\]|\\.)*"|[^\s"]*)(?=\s|$)/g,
  ltsv: /(?<=^|\t)([A-Za-z_][\w.-]*):([^\t]*)/g,
};
const FEWEST_PAIRS = 3;

/** logfmt: `time=2015-05-17T10:05:03Z method=GET path="/a b"`. Unless `isTimed`, the time may be in an envelope. */
export function logfmt(isTimed: boolean): Recognise {
  return pairsOf('logfmt', isTimed);
}

/** http://ltsv.org: `host` is the client where it holds addresses. */
export const ltsv: Recognise = (head, isNamed) => {
  const layout = pairsOf('ltsv', true)(head, isNamed);
  const isClient = layout !== undefined && mostly(valuesOf(layout, 'host'), (text) => isIP(text) > 0);
  return isClient ? { ...layout, known: { fields: { client: 'host' } } } : layout;
};

function pairsOf(format: keyof typeof pairs, isTimed: boolean): Recognise {
  return ({ lines, options }, isNamed) => {
    const pairsIn = lines.map((line) => [...line.toString('utf8').matchAll(pairs[format])]);
    if (!isNamed && !mostly(pairsIn, (found) => found.length >= FEWEST_PAIRS)) return undefined;
    const layout: Layout = {
      format,
      noun: 'field',
      names: [...new Set(pairsIn.flat().map(([, name]) => name!))],
      lines,
      cutter: (fields) => pairsCutter(pairs[format], fields),
    };
    return isNamed || !isTimed || timeFieldsIn(layout, options.timeColumn) !== undefined ? layout : undefined;
  };
}

function pairsCutter(pattern: RegExp, fields: Slots): Cutter {
  return {
    cut: (bytes, from, to) => {
      let pairs = 0;
      for (const [, name = '', written = ''] of bytes.toString('utf8', from, to).matchAll(pattern)) {
        pairs++;
        fields
          .get(name)
          ?.setText(written.startsWith('"') ? written.slice(1, -1).replace(/\\(?!x[\dA-F]{2})(.)/g, '$1') : written);
      }
      return pairs === 0 ? 'no name=value in it' : undefined;
    },
  };
}

const SHAPES: readonly RegExp[] = [
  new RegExp(
    `^\\s*(?:\\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\\]?[\\s:]+)?(?<time>\\d{4}[-/]\\d\\d[-/]\\d\\d[ T]\\d\\d?:\\d\\d(?::\\d\\d(?:[.,]\\d+)?)?(?:\\s?${ZONE_TEXT})?)(?<text>(?!\\S).*|,.*|\\s*)$`,
    's',
  ),
  /^\s*\[(?<time>[^\]]{8,40})\](?<text>.*)$/s,
  /^\s*(?<time>(?:[A-Z][a-z]{2},? )?[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?(?: \d{4})?)(?<text>(?!\S).*)$/s,
  /^\s*(?<time>\d{1,2}[/-]\w{2,3}[/-]\d{4}[ :T]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: [+-]\d{4})?)(?<text>(?!\S).*)$/s,
  /^\s*(?<time>\d{10,19}(?:\.\d+)?)(?:[\s,;|]+(?<count>\d{1,9}))?(?<text>(?!\S).*)$/s,
  /^\s*(?<count>\d{1,9})[\s,;|]+(?<time>\d\S*(?: [\d:.]+)?(?: [+-]\d{4})?)(?<text>)\s*$/s,
  /^\s*(?<count>\d{1,9})[\s,;|]+\[?(?<time>[^\]]{8,40}?)\]?(?<text>)\s*$/s,
];

/** The time is first or in brackets; each line is a request of the first address in it. */
export const timedLines: Recognise = ({ lines }, isNamed) => {
  const timeIn = (line: Buffer, shape: RegExp) => shape.exec(line.toString('latin1'))?.groups?.['time'];
  const found = SHAPES.find((one) => mostly(lines, (line) => isFullDate(timeIn(line, one) ?? '', true)));
  if (found === undefined && !isNamed) return undefined;
  const shape = found ?? SHAPES[0]!;
  const heads = lines.map((line) => shape.exec(line.toString('latin1'))?.groups ?? {});
  const hasCount = mostly(heads, ({ count }) => count !== undefined);
  const saysMore = heads.some(({ text = '' }) => text.trim() !== '' && !METHOD.test(text));
  const hasRequests = heads.length > 0 && heads.every(({ text = '' }) => METHOD.test(text));
  return {
    format: 'lines',
    noun: 'field',
    names: ['time', 'client', 'text'],
    lines,
    cutter: (fields) => messageCutter(shape, 'no time where the other lines have it', fields),
    known: {
      time: 'time',
      timeFrom: 'the time in each line',
      ...(hasCount && { count: 'count' }),
      fields: { client: 'client' },
      clientFrom: 'the first address in each line',
      ...(saysMore && !hasCount && { warning: everyLine("--where 'text=*GET*'") }),
      ...(hasRequests && { warning: REQUESTS_NOT_READ }),
    },
  };
};

const REQUESTS_NOT_READ: Warning = {
  code: 'fields_not_found',
  what: 'Found: time, client. Not found: method, path, status, though the lines have requests in them. Give the line of the configuration that writes this log with --log-format.',
};

const METHOD = /\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\b/;

/** @param choice an option that chooses lines */
export function everyLine(choice: string): Warning {
  return { code: EVERY_LINE, what: `Every line counts as a request, whatever it says. Choose with ${choice}.` };
}

const USER = /(?:\b(?:for (?:invalid user |user )?|user |user=)(\S+?))(?=[\s,;:)]|$)/;

/** The groups of a pattern as fields; `client` is the first address, `user` the user in the group `text` or `message`. */
export function messageCutter(pattern: RegExp, reason: string, fields: Slots): Cutter {
  return {
    cut: (bytes, from, to) => {
      const groups = pattern.exec(bytes.toString('latin1', from, to))?.groups;
      if (groups === undefined) return reason;
      const text = groups['text'] ?? groups['message'] ?? '';
      for (const [name, field] of fields) {
        const value = name === 'client' ? firstAddressIn(text) : name === 'user' ? USER.exec(text)?.[1] : groups[name];
        if (value !== undefined) field.setText(value, 'latin1');
      }
      return undefined;
    },
  };
}
