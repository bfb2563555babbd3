// Formats that are given by one line of theirs, with names for what changes:
//
//   $client - $user [$time] "$request" $status
//
//   A value ends where the text after it begins. Blanks stand for one blank or more. A value in quotes may hold \" and
//   blanks. One followed by a blank and a sign as ` [` may hold blanks, any other none. `$_` is anything. Text after the end is ignored.
import { type Cutter, Field, type Known, type Layout, mostly } from '../layout.js';
import { isFullDate } from '../time-column.js';
import type { Format } from './format.js';

interface Part {
  /** The text before the value. */
  readonly before: Buffer;
  readonly name: string;
  /** The text after it; undefined for the last, which goes up to a blank or the end of the line. */
  readonly after: Buffer | undefined;
  readonly mayHoldBlanks: boolean;
  readonly isQuoted: boolean;
}

/** A built-in format. All of the template must be there for a line to be recognised, up to the time for it to be read. */
export function templateFormat(name: string, template: string, known: Known = {}): Format {
  return {
    name,
    open: ({ lines }, told) => {
      const layout = templateLayout(name, template, lines, known);
      return told || mostly(lines, isWhole(layout)) ? layout : undefined;
    },
  };
}

/** A layout by a template; the time is the field called so, unless it is known. */
export function templateLayout(format: string, template: string, lines: readonly Buffer[], known: Known): Layout {
  const parts = partsOf(template);
  const time = known.time ?? (parts.some(({ name }) => name === 'time') ? 'time' : undefined);
  const names = parts.map(({ name }) => name).filter((name) => name !== '_');
  return {
    format,
    noun: 'field',
    names,
    lines,
    cutter: (wanted, fields) => new TemplateCutter(format, parts, time, wanted, fields),
    known: { ...known, ...(time !== undefined && { time }), ...(names.includes('client') && { client: 'client' }) },
  };
}

/** Whether a line has everything up to the last name, and a time that can be read. */
function isWhole(layout: Layout): (line: Buffer) => boolean {
  const [time, last] = [new Field(), new Field()];
  const cutter = layout.cutter([layout.known?.time ?? 'time', layout.names.at(-1)!], [time, last]);
  return (line) => {
    time.clear();
    last.clear();
    if (cutter.cut(line, 0, line.length) !== undefined || last.isMissing || time.isMissing) return false;
    return isFullDate(time.bytes.subarray(time.from, time.to), true);
  };
}

/** Names of values: `$name` or `${name}`. */
const NAME = /\$(?:\{(\w+)\}|(\w+))/g;

function partsOf(template: string): Part[] {
  const found = [...template.matchAll(NAME)];
  return found.map((match, i) => {
    const start = i === 0 ? 0 : found[i - 1]!.index + found[i - 1]![0].length;
    const before = template.slice(start, match.index);
    const end = match.index + match[0].length;
    const after = i === found.length - 1 ? template.slice(end) : template.slice(end, found[i + 1]!.index);
    const name = match[1] ?? match[2]!;
    return {
      before: Buffer.from(before),
      name,
      after: after === '' ? undefined : Buffer.from(after),
      mayHoldBlanks:
        name === '_' ||
        (!single.has(name) && after.startsWith(' ') && after.trim() !== '') ||
        (!single.has(name) && /^[\]}|]/.test(after)),
      isQuoted: before.endsWith('"') && after.startsWith('"'),
    };
  });
}

/** Values that are one word, whatever comes after them. */
const single = new Set(['client', 'host', 'status', 'bytes', 'method', 'path']);

class TemplateCutter implements Cutter {
  readonly #reason: string;
  readonly #parts: readonly (Part & { readonly fields: readonly Field[] })[];
  /** How many parts there are up to the time: fewer are no line of the format. */
  readonly #needed: number;

  constructor(
    format: string,
    parts: readonly Part[],
    time: string | undefined,
    wanted: readonly string[],
    fields: readonly Field[],
  ) {
    this.#reason = `not a line of the format ${format}`;
    this.#parts = parts.map((part) => ({ ...part, fields: fields.filter((_, i) => wanted[i] === part.name) }));
    this.#needed = parts.findIndex(({ name }) => name === time) + 1;
  }

  cut(bytes: Buffer, from: number, to: number): string | undefined {
    let at = from;
    while (at < to && bytes[at]! <= SPACE) at++;
    for (const [i, part] of this.#parts.entries()) {
      const start = literalEnd(bytes, at, to, part.before);
      const end = start < 0 ? -1 : valueEnd(bytes, start, to, part);
      if (end < 0) return i < this.#needed ? this.#reason : undefined;
      for (const field of part.fields) field.set(bytes, start, end);
      at = end;
    }
    return undefined;
  }
}

/** Where the text ends that begins at `at`; -1 when it is another. */
function literalEnd(bytes: Buffer, at: number, to: number, literal: Buffer): number {
  let end = at;
  for (let i = 0; i < literal.length; i++) {
    if (literal[i] === SPACE) {
      if (end >= to || !isBlank(bytes[end]!)) return -1;
      while (end < to && isBlank(bytes[end]!)) end++;
    } else if (end < to && bytes[end] === literal[i]) end++;
    else return -1;
  }
  return end;
}

function valueEnd(bytes: Buffer, from: number, to: number, part: Part): number {
  if (part.isQuoted) {
    for (let at = from; at < to; at++) {
      if (bytes[at] === BACKSLASH) at++;
      else if (bytes[at] === QUOTE) return at;
    }
    return -1;
  }
  if (part.name !== '_' && bytes[from] === QUOTE) return -1;
  if (part.after === undefined) {
    let at = from;
    while (at < to && (part.name === '_' || !isBlank(bytes[at]!))) at++;
    return at;
  }
  for (let at = from; at < to; at++) {
    if (literalEnd(bytes, at, to, part.after) >= 0) return at;
    if (isBlank(bytes[at]!) && !part.mayHoldBlanks) return -1;
  }
  return /^\s*$/.test(part.after.toString('latin1')) && from < to ? to : -1;
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

const TAB = 0x09;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
