// The access log of Apache and nginx, common and combined.
//
//   83.149.9.216 - frank [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 2326 "-" "Mozilla/5.0"
//   |client|       |user| |--------- time ---------|  read only on request: it may be truncated, unquoted or garbage
//
// Also read: a virtual host before the address (`example.org:443 83.149.9.216 - - [...`), quotes around the line or the
// address, another time format in the brackets, a list of forwarded addresses (the first is the client), a port after the address.
// Nearly every line is plain and is parsed from its bytes; the others by regular expressions.
import { isIP } from 'node:net';
import { addressOf } from './address.js';
import { isGarbage, isRequestLine, isStatus, nearlyAll } from './custom-layout.js';
import { readClf, readDate } from './instant.js';
import { type Cutter, type Field, fieldsWhere, type Layout, type Recognise, type Slots, slotsOf } from './layout.js';
import type { Warning } from './log-options.js';

const FORWARDED = 'forwarded';
const TAIL = ['request', 'status', 'bytes', 'referer', 'user_agent', FORWARDED];
const FIELDS = { common: TAIL.slice(0, 3), combined: TAIL } as const;

/** One line with an address and a time suffices, since programs log other lines too; nearly all such lines have every field. */
export function clf(format: 'common' | 'combined'): Recognise {
  return ({ lines }, isNamed) => {
    const { found, missing: all } = fieldsIn(lines, format);
    // Addresses may follow the agent; a duration or a length in their place is no field of the format.
    const missing = all.filter((name) => name !== FORWARDED);
    const names = FIELDS[format].filter((name) => name !== FORWARDED || !all.includes(name));
    const layout = clfLayout(format, names, lines);
    if (isNamed) {
      const warning = found.length === 0 || missing.length === 0 ? undefined : missingFields(format, missing);
      return warning === undefined ? layout : { ...layout, known: { ...layout.known, warning } };
    }
    return found.length > 0 && missing.length === 0 ? layout : undefined;
  };
}

/** Lines of which only the address and the time are where an access log has them. */
export const addressAndTime: Recognise = ({ lines }) => {
  if (fieldsIn(lines, 'common').found.length === 0) return undefined;
  const layout = clfLayout('lines', [], lines);
  return { ...layout, known: { ...layout.known, warning: missingFields('common', ['request', 'status']) } };
};

function missingFields(format: string, missing: readonly string[]): Warning {
  return {
    code: 'fields_not_found',
    what: `These lines have no ${missing.join(', ')} where the format ${format} has them: what looks at them finds nothing. Give the line of the configuration that writes this log with --log-format.`,
  };
}

function fieldsIn(lines: readonly Buffer[], format: 'common' | 'combined') {
  const names = FIELDS[format];
  const wanted = slotsOf(names);
  const fields = [...wanted.values()];
  const cutter = new ClfCutter(wanted);
  const found: boolean[][] = [];
  const sizes: string[] = [];
  let requests = 0;
  let others = 0;
  for (const line of lines) {
    for (const field of fields) field.clear();
    if (cutter.cut(line, 0, line.length) !== undefined) continue;
    found.push(fields.map((field, i) => isFound(names[i]!, field)));
    sizes.push(fields[2]!.text());
    if (isRequestLine(fields[0]!.text())) requests++;
    else if (!isGarbage(fields[0]!.text())) others++;
  }
  const isMissing = (name: string, i: number) =>
    !nearlyAll(found, (row) => row[i]!) ||
    (name === 'request' && requests <= others && others > 0) ||
    (name === 'bytes' && isSecondStatus(sizes));
  return { found, missing: names.filter(isMissing) };
}

/** Whether a second number is the status of the upstream, before or after the server's own: sizes differ more. */
function isSecondStatus(sizes: readonly string[]): boolean {
  return new Set(sizes).size > 1 && nearlyAll(sizes, isStatus);
}

/** A quoted field may hold anything: servers log what a stranger sent. */
function isFound(name: string, field: Field): boolean {
  if (field.isMissing) return false;
  if (name === 'status') return isStatus(field.text());
  if (name === 'bytes') return /^(?:\d+|-)(?![\w.])/.test(field.text());
  if (name === FORWARDED && !/^-?$/.test(field.text()) && isIP(addressOf(field.text(), 1, false)) === 0) return false;
  return field.from > 0 && field.from < field.bytes.length && field.bytes[field.from - 1] === QUOTE;
}

const PLAIN = /^\d{1,3}(?:\.\d{1,3}){3} - \S+ \[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "/;

/** If every line is plain, no other format is tried: trying them all takes as long as reading 100,000 lines. */
export const plainClf: Recognise = (head) => {
  const isPlain = (line: Buffer) => PLAIN.test(line.toString('latin1', 0, 128));
  if (head.options.timeColumn !== undefined || !head.lines.every(isPlain)) return undefined;
  return clf('combined')(head, false) ?? clf('common')(head, false);
};

function clfLayout(format: string, tail: readonly string[], lines: readonly Buffer[]): Layout {
  const names = ['client', 'user', 'time', ...tail];
  return {
    format,
    noun: 'field',
    names,
    lines,
    readsTime: true,
    cutter: (fields) => new ClfCutter(fieldsWhere(fields, (name) => names.includes(name))),
    known: {
      time: 'time',
      timeFrom: 'the bracketed timestamp',
      fields: { client: 'client' },
      clientFrom: 'the client address',
    },
  };
}

const SENDER = /^[\0-\x20"']*([^\0-\x20\x7f]+)([\0-\x20\x7f].*)$/s;
const USER = /^\s+-\S*\s+(.*\S)\s*$/s;

class ClfCutter implements Cutter {
  unixMs = Number.NaN;
  readonly #time = new BracketedTime();
  readonly #client: Field | undefined;
  readonly #user: Field | undefined;
  readonly #when: Field | undefined;
  readonly #tail: readonly (Field | undefined)[];

  constructor(fields: Slots) {
    this.#client = fields.get('client');
    this.#user = fields.get('user');
    this.#when = fields.get('time');
    const tail = TAIL.map((name) => fields.get(name));
    this.#tail = tail.slice(0, tail.findLastIndex((field) => field !== undefined) + 1);
  }

  cut(bytes: Buffer, from: number, to: number): string | undefined {
    const time = this.#time;
    if (!time.find(bytes, from, to)) {
      return time.open < 0 ? 'no time in brackets' : 'the text in brackets is not a timestamp';
    }
    if (!this.#hasPlainSender(bytes, from, time.open) && !this.#readSender(bytes.toString('latin1', from, time.open))) {
      return 'no address before the time';
    }
    this.unixMs = time.unixMs;
    this.#when?.set(bytes, time.open + 1, time.close);
    if (this.#tail.length > 0) this.#readTail(bytes, time.close + 1, to, bytes[from] === QUOTE);
    return undefined;
  }

  #hasPlainSender(bytes: Buffer, from: number, open: number): boolean {
    const first = bytes[from]!;
    if (this.#user !== undefined || first <= MINUS || first === OPEN_BRACKET || first === DELETE) return false;
    if (open === from || bytes[open - 1] !== SPACE) return false;
    if (this.#client === undefined) return true;
    let colons = 0;
    let end = from;
    for (let byte = first; byte > SPACE; byte = bytes[++end]!) {
      if (byte === COLON) colons++;
      else if (byte === QUOTE || byte === COMMA || byte === DELETE || byte === APOSTROPHE) return false;
    }
    if (colons === 1 || bytes[end + 1] !== MINUS || bytes[end + 2] !== SPACE) return false;
    // `INFO:werkzeug:192.0.2.1` is no address.
    if (colons > 1 && bytes.subarray(from, end).includes(DOT)) return false;
    this.#client.set(bytes, from, end);
    return true;
  }

  #readSender(text: string): boolean {
    const [, word = '', rest = ''] = SENDER.exec(text) ?? [];
    const client = clientOf(word, rest);
    if (client === undefined) return false;
    this.#client?.setText(client, 'latin1');
    const user = USER.exec(rest)?.[1] ?? rest.trimEnd().split(/\s+/).at(-1)!;
    this.#user?.setText(user === '' ? word : user, 'latin1');
    return true;
  }

  #readTail(bytes: Buffer, from: number, to: number, mayDouble: boolean): void {
    let at = from;
    while (at < to && bytes[at]! <= SPACE) at++;
    if (mayDouble && bytes[at] === QUOTE && bytes[at + 1] === QUOTE) {
      const single = Buffer.from(bytes.toString('latin1', at, to).replaceAll('""', '"'), 'latin1');
      this.#readTail(single, 0, single.length, false);
      return;
    }
    for (const field of this.#tail) {
      while (at < to && bytes[at]! <= SPACE) at++;
      const isQuoted = at < to && bytes[at] === QUOTE;
      const start = isQuoted ? at + 1 : at;
      const end = isQuoted ? quoteEnd(bytes, start, to) : wordEnd(bytes, start, to);
      field?.set(bytes, start, end);
      at = isQuoted ? end + 1 : end;
    }
  }
}

function quoteEnd(bytes: Buffer, from: number, to: number): number {
  let at = from;
  // Some servers do not escape a quote: one within a field is followed by more of it.
  while (at < to && (bytes[at] !== QUOTE || (at + 1 < to && bytes[at + 1]! > SPACE)))
    at += bytes[at] === BACKSLASH ? 2 : 1;
  return Math.min(at, to);
}

function wordEnd(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at]! > SPACE && bytes[at] !== DELETE) at++;
  return at;
}

const isAddress = (word: string) => !/^-?[,"']*$/.test(word);

/** What precedes the address may be a host, a forwarded address that is missing, or the level and name of a logger. */
function clientOf(word: string, rest: string): string | undefined {
  const words = rest.trim().split(/[\0-\x20\x7f]+/);
  const [second = ''] = words;
  const client = addressOf(word.split(',', 1)[0]!, 1, false);
  if (!word.endsWith(',')) {
    // Two words follow an address: `INFO werkzeug 192.0.2.1 - - [`.
    const later = isIP(client) > 0 ? -1 : words.findIndex((one, i) => isIP(one) > 0 && words.length - i > 2);
    const isHost = isIP(second) > 0 || (/[^:\]]:\d+$|\]:\d+$/.test(word) && words.length > 2 && isAddress(second));
    if (isHost || later > 0) return addressOf(words[isHost ? 0 : later]!, 1, false);
  }
  if (!isAddress(word)) return undefined;
  // `access.log:7:192.0.2.1`, as grep prints it; `INFO:werkzeug:192.0.2.1`.
  const afterColon = (text: string) => text.slice(text.indexOf(':') + 1);
  const shorter = afterColon(client);
  return [client, shorter, afterColon(shorter)].find((one) => isIP(one) > 0) ?? client;
}

/** The first brackets of a line that hold a readable time; a user name may contain brackets too. */
class BracketedTime {
  unixMs = Number.NaN;
  close = -1;
  open = -1;

  find(bytes: Buffer, from: number, to: number): boolean {
    this.open = -1;
    for (let at = from; at < to; at++) {
      if (bytes[at] !== OPEN_BRACKET) continue;
      this.open = at;
      this.close = at + 1 + CLF_BYTES + (bytes[at + CLF_BYTES - 5] === DOT ? FRACTION_BYTES : 0);
      if (this.close < to && bytes[this.close] === CLOSE_BRACKET) {
        this.unixMs = readClf(bytes, at + 1, this.close);
        if (!Number.isNaN(this.unixMs)) return true;
      }
      this.close = closing(bytes, at + 1, to);
      if (this.close < 0) continue;
      const text = bytes.toString('latin1', at + 1, this.close).trim();
      this.unixMs = MSEC.test(text) ? Math.round(1000 * Number(text)) : readDate(text);
      if (!Number.isNaN(this.unixMs)) return true;
    }
    return false;
  }
}

/** Lengths of `17/May/2015:10:05:03 +0000`, and of `.123` after its seconds. */
const CLF_BYTES = 26;
const FRACTION_BYTES = 4;

/** nginx's $msec. */
const MSEC = /^\d{10}\.\d{3}$/;

/** The longest time between brackets: ISO with nanoseconds and zone takes 35. */
const MAX_TIME_BYTES = 48;

function closing(bytes: Buffer, from: number, to: number): number {
  const last = Math.min(to, from + MAX_TIME_BYTES);
  for (let at = from; at < last; at++) if (bytes[at] === CLOSE_BRACKET) return at;
  return -1;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const DELETE = 0x7f;
