// The access log of Apache and nginx, common and combined.
//
//   83.149.9.216 - frank [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 2326 "-" "Mozilla/5.0"
//   |client|       |user| |--------- time ---------|  only read where asked for: it may be cut, unquoted or garbage
//
// Also read: a virtual host before the address (`example.org:443 83.149.9.216 - - [...`), quotes around the line or the
// address, an ISO time in the brackets, a list of forwarded addresses (the first is the client), a port after the address.
import { isIpLiteral, portStart } from '../address.js';
import type { Cutter, Field, Layout } from '../layout.js';
import { BracketedTime } from './bracketed-time.js';
import type { Format, Head } from './format.js';

const NO_BRACKETS = 'no time in brackets';
const NO_TIME = 'the text in brackets is not a timestamp';
const NO_ADDRESS = 'no address before the time';

/** A combined line has three quoted parts after its time, a common one has one. The last quote may be missing. */
const COMBINED_QUOTES = 5;

export const combined: Format = { name: 'combined', open: (head, told) => open('combined', head, told) };
export const common: Format = { name: 'common', open: (head, told) => open('common', head, told) };

/** As nearly all of these logs are: an IPv4 address, no identity, a user without blanks, the usual time. */
const PLAIN = /^\d{1,3}(?:\.\d{1,3}){3} - \S+ \[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "/;
const PLAIN_BYTES = 128;

/** Where every line is plainly one of these, no other format has to be tried: that takes as long as reading 100,000 lines. */
export const plainClf: Format = {
  name: 'combined',
  open: (head) => {
    const isPlain = (line: Buffer) => PLAIN.test(line.toString('latin1', 0, PLAIN_BYTES));
    if (head.options.timeColumn !== undefined || !head.lines.every(isPlain)) return undefined;
    return combined.open(head, false) ?? common.open(head, false);
  },
};

/** One line of the format is enough: logs of programs have others among them. */
function open(name: 'common' | 'combined', { lines }: Head, told: boolean): Layout | undefined {
  const first = lines.find((line) => isClfLine(line));
  if (told) return clfLayout(name, lines);
  if (first === undefined) return undefined;
  const isCombined = first.filter((byte) => byte === QUOTE).length >= COMBINED_QUOTES;
  return isCombined === (name === 'combined') ? clfLayout(name, lines) : undefined;
}

/** After the time: in quotes, or a word. */
const TAIL = ['request', 'status', 'bytes', 'referer', 'user_agent', 'forwarded'];

function clfLayout(format: string, lines: readonly Buffer[]): Layout {
  const tail = format === 'common' ? TAIL.slice(0, 3) : TAIL;
  return {
    format,
    noun: 'field',
    names: ['client', 'user', 'time', ...tail],
    lines,
    readsTime: true,
    cutter: (names, fields) => new ClfCutter(names, fields),
    known: {
      time: 'time',
      timeFrom: 'the bracketed timestamp',
      client: 'client',
      clientFrom: 'the client address',
    },
  };
}

class ClfCutter implements Cutter {
  unixMs = Number.NaN;
  readonly #time = new BracketedTime();
  readonly #client: Field | undefined;
  readonly #user: Field | undefined;
  readonly #wantsSender: boolean;
  readonly #when: Field | undefined;
  readonly #tail: readonly (Field | undefined)[];
  readonly #wantsTail: boolean;

  constructor(names: readonly string[], fields: readonly Field[]) {
    const fieldOf = (name: string) => fields[names.indexOf(name)];
    this.#client = fieldOf('client');
    this.#user = fieldOf('user');
    this.#wantsSender = this.#client !== undefined || this.#user !== undefined;
    this.#when = fieldOf('time');
    this.#tail = TAIL.map(fieldOf);
    this.#wantsTail = this.#tail.some((field) => field !== undefined);
  }

  cut(bytes: Buffer, from: number, to: number): string | undefined {
    const time = this.#time;
    if (!time.find(bytes, from, to)) return time.open < 0 ? NO_BRACKETS : NO_TIME;
    const { open } = time;
    if (this.#wantsSender || !hasPlainAddress(bytes, from, open)) {
      const start = addressStart(bytes, from, open);
      const end = wordEnd(bytes, start, open);
      if (!isAddress(bytes, start, end, open)) return NO_ADDRESS;
      if (this.#client !== undefined) setClient(this.#client, bytes, start, end, open);
      if (this.#user !== undefined) setUser(this.#user, bytes, start, open);
    }
    this.unixMs = time.unixMs;
    if (this.#when !== undefined) this.#when.set(bytes, time.open + 1, time.close);
    if (this.#wantsTail) this.#setTail(bytes, time.close + 1, to);
    return undefined;
  }

  #setTail(bytes: Buffer, from: number, to: number): void {
    let at = from;
    for (const field of this.#tail) {
      at = skipBlanks(bytes, at, to);
      let end = at;
      if (bytes[at] === QUOTE && at < to) {
        at++;
        end = closingQuote(bytes, at, to);
      } else end = wordEnd(bytes, at, to);
      field?.set(bytes, at, end);
      at = bytes[end] === QUOTE ? end + 1 : end;
    }
  }
}

/** Where the quote at the end of a value stands; `\"` is none. */
function closingQuote(bytes: Buffer, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at;
  }
  return to;
}

/** The address of who asked: the first word, or the second when the first names the virtual host. */
function setClient(field: Field, bytes: Buffer, start: number, end: number, open: number): void {
  let from = start;
  let to = end;
  if (bytes[end - 1] !== COMMA) {
    const second = skipBlanks(bytes, end, open);
    const secondEnd = wordEnd(bytes, second, open);
    const isHost = portStart(bytes, start, end) < end && wordsUpTo(bytes, second, open) >= 3;
    const named = isHost && isAddress(bytes, second, secondEnd, open);
    if (named || isIpLiteral(bytes, second, secondEnd)) [from, to] = [second, secondEnd];
  }
  to = portStart(bytes, from, trimmedEnd(bytes, from, to));
  if (bytes[from] === OPEN_BRACKET && bytes[to - 1] === CLOSE_BRACKET) field.set(bytes, from + 1, to - 1);
  else field.set(bytes, from, to);
}

/** What stands between the second word after the address and the brackets. */
function setUser(field: Field, bytes: Buffer, start: number, open: number): void {
  let end = open;
  while (end > start && bytes[end - 1]! <= SPACE) end--;
  let from = skipBlanks(bytes, wordEnd(bytes, start, end), end);
  if (bytes[from] !== MINUS || from + 1 >= end) {
    field.set(bytes, Math.max(start, lastWord(bytes, start, end)), end);
    return;
  }
  from = skipBlanks(bytes, wordEnd(bytes, from, end), end);
  field.set(bytes, from, end);
}

function lastWord(bytes: Buffer, from: number, to: number): number {
  let at = to;
  while (at > from && bytes[at - 1]! > SPACE) at--;
  return at;
}

/** Whether a line is one of these, for recognising the format. */
function isClfLine(bytes: Buffer): boolean {
  const time = new BracketedTime();
  if (!time.find(bytes, 0, bytes.length)) return false;
  const start = addressStart(bytes, 0, time.open);
  return isAddress(bytes, start, wordEnd(bytes, start, time.open), time.open);
}

/** Past blanks, NULs and quotes around the whole line. */
function addressStart(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && (bytes[at]! <= SPACE || isQuote(bytes[at]!))) at++;
  return at;
}

/**
 * Whether the line plainly begins with an address, as nearly every one does: a word without quotes before it, and a blank before the
 * brackets. Where it is false, `isAddress` says it.
 */
function hasPlainAddress(bytes: Buffer, from: number, open: number): boolean {
  const first = bytes[from]!;
  return first > MINUS && first !== DELETE && open > from && bytes[open - 1] === SPACE;
}

/** A word that ends before the brackets of the time, and is more than the `-` that stands for nothing. */
function isAddress(bytes: Buffer, from: number, to: number, open: number): boolean {
  if (to >= open) return false;
  const end = trimmedEnd(bytes, from, to);
  return end > from && !(end === from + 1 && bytes[from] === MINUS);
}

/** A word's end without a comma or quotes there. */
function trimmedEnd(bytes: Buffer, from: number, to: number): number {
  let end = to;
  while (end > from && (bytes[end - 1] === COMMA || isQuote(bytes[end - 1]!))) end--;
  return end;
}

function wordEnd(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at]! > SPACE && bytes[at] !== DELETE) at++;
  return at;
}

function skipBlanks(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at]! <= SPACE) at++;
  return at;
}

/** How many words there are from `from`. */
function wordsUpTo(bytes: Buffer, from: number, to: number): number {
  let words = 0;
  for (let at = from; at < to; words++) at = skipBlanks(bytes, wordEnd(bytes, at, to), to);
  return words;
}

function isQuote(byte: number): boolean {
  return byte === 0x22 || byte === 0x27;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const DELETE = 0x7f;
