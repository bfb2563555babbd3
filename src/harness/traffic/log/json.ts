// JSON objects in bytes: members as they are written, without parsing values. Members of nested objects are named by their path.
//
//   {"ts":1446249504.427,"request":{"remote_ip":"192.0.2.1"}}          fields ts, request, request.remote_ip
//
// JSON.parse would round `1446249504427123456`; a time must keep its digits. Structure is checked, the spelling of unused values is not.
import { type Cutter, Field, type KnownFields, type Layout, type Slots } from './layout.js';

export class JsonWalk {
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #to = 0;
  #close = 0;
  #isFirst = true;
  /** Between the quotes, still escaped; empty in an array. */
  nameFrom = 0;
  nameTo = 0;
  /** Including quotes and brackets. */
  valueFrom = 0;
  valueTo = 0;
  /** After the last step: the end of the closing bracket, or -1 if the text is not JSON up to there. */
  end = -1;

  enter(bytes: Buffer, from: number, to: number): boolean {
    this.#bytes = bytes;
    this.#to = to;
    this.#at = skipBlanks(bytes, from, to);
    this.#isFirst = true;
    this.end = -1;
    const open = this.#at < to ? bytes[this.#at++] : 0;
    this.#close = open === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    return open === OPEN_BRACE || open === OPEN_BRACKET;
  }

  /** False after the last member or element, or if the text is broken: `end` distinguishes them. */
  next(): boolean {
    const bytes = this.#bytes;
    const to = this.#to;
    let at = skipBlanks(bytes, this.#at, to);
    if (at < to && bytes[at] === this.#close && (this.#isFirst || bytes[this.#at - 1] !== COMMA)) {
      this.end = at + 1;
      return false;
    }
    this.#isFirst = false;
    if (this.#close === CLOSE_BRACE) {
      const nameEnd = at < to && bytes[at] === QUOTE ? stringEnd(bytes, at, to) : -1;
      if (nameEnd < 0) return false;
      this.nameFrom = at + 1;
      this.nameTo = nameEnd - 1;
      at = skipBlanks(bytes, nameEnd, to);
      if (at >= to || bytes[at] !== COLON) return false;
      at = skipBlanks(bytes, at + 1, to);
    }
    this.valueFrom = at;
    this.valueTo = valueEnd(bytes, at, to);
    if (this.valueTo < 0) return false;
    at = skipBlanks(bytes, this.valueTo, to);
    if (at >= to || (bytes[at] !== COMMA && bytes[at] !== this.#close)) return false;
    this.#at = bytes[at] === COMMA ? at + 1 : at;
    return true;
  }

  get name(): string {
    return plainText(this.#bytes, this.nameFrom - 1, this.nameTo + 1);
  }
}

/** A single key with dots precedes a path through nested objects. Of duplicates the last counts. */
export class WantedField {
  readonly name: Buffer;
  /** Position of the value, quotes included; `from` is -1 if missing. */
  from = -1;
  to = -1;
  depth = Number.POSITIVE_INFINITY;

  constructor(name: string) {
    this.name = Buffer.from(name);
  }

  /** Takes the current member of `walk` if its name is the rest of this one from `at` on; descends if it begins it. */
  offer(bytes: Buffer, walk: JsonWalk, at: number, depth: number): void {
    const end = this.#endOf(bytes, walk, at);
    if (end === this.name.length) {
      if (depth > this.depth) return;
      this.depth = depth;
      this.from = walk.valueFrom;
      this.to = walk.valueTo;
    } else if (end >= 0 && this.name[end] === DOT && bytes[walk.valueFrom] === OPEN_BRACE) {
      const inner = new JsonWalk();
      inner.enter(bytes, walk.valueFrom, walk.valueTo);
      while (inner.next()) this.offer(bytes, inner, end + 1, depth + 1);
    }
  }

  #endOf(bytes: Buffer, walk: JsonWalk, at: number): number {
    const { name } = this;
    const { nameFrom, nameTo } = walk;
    const end = at + nameTo - nameFrom;
    if (end <= name.length) {
      let i = at;
      while (i < end && bytes[nameFrom + i - at] === name[i]) i++;
      if (i === end) return end;
    }
    if (!hasEscape(bytes, nameFrom, nameTo)) return -1;
    const plain = Buffer.from(walk.name);
    return name.subarray(at, at + plain.length).equals(plain) ? at + plain.length : -1;
  }
}

/** False unless the text is exactly one JSON object. */
export function locate(
  walk: JsonWalk,
  bytes: Buffer,
  from: number,
  to: number,
  fields: readonly WantedField[],
): boolean {
  for (const field of fields) {
    field.from = -1;
    field.depth = Number.POSITIVE_INFINITY;
  }
  if (!walk.enter(bytes, from, to) || bytes[skipBlanks(bytes, from, to)] !== OPEN_BRACE) return false;
  while (walk.next()) for (let i = 0; i < fields.length; i++) fields[i]!.offer(bytes, walk, 0, 0);
  return walk.end >= 0 && skipBlanks(bytes, walk.end, to) === to;
}

/** Strings are unescaped; other values stay as written. */
export function plainText(bytes: Buffer, from: number, to: number): string {
  const written = bytes.toString('utf8', from, to);
  if (bytes[from] !== QUOTE) return written;
  if (!written.includes('\\')) return written.slice(1, -1);
  try {
    return JSON.parse(written) as string;
  } catch {
    return written.slice(1, -1);
  }
}

function hasEscape(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] === BACKSLASH) return true;
  return false;
}

function skipBlanks(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at]! <= SPACE) at++;
  return at;
}

function stringEnd(bytes: Buffer, at: number, to: number): number {
  for (let i = at + 1; i < to; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) return i + 1;
    if (byte === BACKSLASH) i++;
  }
  return -1;
}

function valueEnd(bytes: Buffer, at: number, to: number): number {
  if (at >= to) return -1;
  const first = bytes[at];
  if (first === QUOTE) return stringEnd(bytes, at, to);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return nestedEnd(bytes, at, to);
  let end = at;
  while (end < to && ENDS[bytes[end]!] === 0) end++;
  return end > at ? end : -1;
}

function nestedEnd(bytes: Buffer, at: number, to: number): number {
  let depth = 0;
  for (let i = at; i < to; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      i = stringEnd(bytes, i, to) - 1;
      if (i < 0) return -1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return i + 1;
  }
  return -1;
}

export function isObject(line: Buffer): boolean {
  return locate(new JsonWalk(), line, 0, line.length, []);
}

export function textIn(line: Buffer, name: string): string | undefined {
  const field = new Field();
  const reason = jsonCutter(new Map([[name, field]])).cut(line, 0, line.length);
  return reason !== undefined || field.isMissing ? undefined : field.text();
}

export function jsonLayout(format: string, objects: readonly Buffer[], known: KnownFields = {}): Layout {
  return {
    format,
    noun: 'field',
    names: namesIn(objects),
    lines: objects,
    cutter: jsonCutter,
    known,
  };
}

function jsonCutter(named: Slots): Cutter {
  const walk = new JsonWalk();
  const fields = [...named.values()];
  const wanted = [...named.keys()].map((name) => new WantedField(name));
  return {
    cut: (bytes, from, to) => {
      if (!locate(walk, bytes, from, to, wanted)) return 'not one JSON object';
      for (let i = 0; i < wanted.length; i++) setScalar(fields[i]!, bytes, wanted[i]!);
      return undefined;
    },
  };
}

/** Strings without quotes and escapes, numbers as written, the strings of an array (Caddy's headers); empty for null and objects. */
function setScalar(field: Field, bytes: Buffer, { from, to }: WantedField): void {
  if (from < 0) return;
  const first = bytes[from]!;
  if (first === QUOTE && hasEscape(bytes, from, to)) field.setText(plainText(bytes, from, to));
  else if (first === QUOTE) field.set(bytes, from + 1, to - 1);
  else if (first === OPEN_BRACKET) setList(field, bytes, from, to);
  else if (first === OPEN_BRACE || first === LETTER_N) field.set(bytes, from, from);
  else field.set(bytes, from, to);
}

function setList(field: Field, bytes: Buffer, from: number, to: number): void {
  const texts: string[] = [];
  const walk = new JsonWalk();
  walk.enter(bytes, from, to);
  while (walk.next()) if (bytes[walk.valueFrom] === QUOTE) texts.push(plainText(bytes, walk.valueFrom, walk.valueTo));
  if (texts.length === 0) field.set(bytes, from, from);
  else field.setText(texts.join(', '));
}

const MAX_DEPTH = 4;
const MAX_NAMES = 500;
const SAMPLED = 200;

/** Top-level names come first: a nested `time` is the time only if there is no other. */
function namesIn(objects: readonly Buffer[]): string[] {
  const names = new Set<string>();
  const collect = (bytes: Buffer, from: number, to: number, path: string, depth: number): void => {
    const walk = new JsonWalk();
    walk.enter(bytes, from, to);
    while (walk.next() && names.size < MAX_NAMES) {
      const name = `${path}${walk.name}`;
      names.add(name);
      if (bytes[walk.valueFrom] === OPEN_BRACE && depth < MAX_DEPTH) {
        collect(bytes, walk.valueFrom, walk.valueTo, `${name}.`, depth + 1);
      }
    }
  };
  for (const object of objects.slice(0, SAMPLED)) collect(object, 0, object.length, '', 0);
  const all = [...names];
  return [...all.filter((name) => !name.includes('.')), ...all.filter((name) => name.includes('.'))];
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const DOT = 0x2e;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LETTER_N = 0x6e;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const ENDS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= SPACE || '",:]}'.includes(String.fromCharCode(byte)) ? 1 : 0,
);
