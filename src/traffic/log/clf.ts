// Owns a line of an Apache or nginx access log: its time and its address. Leaves everything after the time unread.
//
//   83.149.9.216 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 2326 "-" "Mozilla/5.0"
//   |address|         |-------- time --------|     never looked at: it may be cut, unquoted or garbage
//
// Also read: a virtual host before the address (`example.org:443 83.149.9.216 - - [...`), quotes around the line or the
// address, an ISO time in the brackets, a list of forwarded addresses (the first is the client), a port after the address.
import { hasDate, readDateTime } from './instant.js';
import type { Intake } from './intake.js';
import type { LineReader } from './lines.js';
import { TextPool } from './text-pool.js';

const NO_BRACKETS = 'no time in brackets';
const NO_TIME = 'the time in brackets is none';
const NO_ADDRESS = 'no address before the time';

export class ClfReader implements LineReader {
  readonly #intake: Intake;
  readonly #byClient: boolean;
  readonly #time = new BracketedTime();
  readonly #clients = new TextPool();

  /** @param byClient whether the address of each request is wanted as its key */
  constructor(intake: Intake, byClient: boolean) {
    this.#intake = intake;
    this.#byClient = byClient;
  }

  line(bytes: Buffer, from: number, to: number, number: number): void {
    const time = this.#time;
    if (!time.find(bytes, from, to)) {
      this.#intake.skip(number, time.open < 0 ? NO_BRACKETS : NO_TIME, bytes, from, to);
      return;
    }
    const start = addressStart(bytes, from, time.open);
    const end = wordEnd(bytes, start, time.open);
    if (!isAddress(bytes, start, end, time.open)) {
      this.#intake.skip(number, NO_ADDRESS, bytes, from, to);
      return;
    }
    this.#intake.request(time.unixMs, 1, this.#byClient ? this.#client(bytes, start, end, time.open) : '');
  }

  end(): void {}

  /** The address of who asked: the first word, or the second when the first names the virtual host. */
  #client(bytes: Buffer, start: number, end: number, open: number): string {
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
    if (bytes[from] === OPEN_BRACKET && bytes[to - 1] === CLOSE_BRACKET)
      return this.#clients.text(bytes, from + 1, to - 1);
    return this.#clients.text(bytes, from, to);
  }
}

/** Whether a line is one of these, for recognising the format. */
export function isClfLine(bytes: Buffer, from: number, to: number): boolean {
  const time = new BracketedTime();
  if (!time.find(bytes, from, to)) return false;
  const start = addressStart(bytes, from, time.open);
  return isAddress(bytes, start, wordEnd(bytes, start, time.open), time.open);
}

/** The first brackets of a line that hold a readable time: a user's name may have brackets too. */
class BracketedTime {
  unixMs = Number.NaN;
  /** Where the brackets of the time open, or the last that do when none holds a time, or -1. */
  open = -1;

  find(bytes: Buffer, from: number, to: number): boolean {
    this.open = -1;
    for (let at = from; at < to; at++) {
      if (bytes[at] !== OPEN_BRACKET) continue;
      this.open = at;
      const close = closing(bytes, at + 1, to);
      if (close < 0 || !hasDate(bytes, at + 1, close)) continue;
      this.unixMs = readDateTime(bytes, at + 1, close);
      if (!Number.isNaN(this.unixMs)) return true;
    }
    return false;
  }
}

/** The longest time that is looked for between brackets, in bytes: ISO with nanoseconds and zone takes 35. */
const MAX_TIME_BYTES = 48;

function closing(bytes: Buffer, from: number, to: number): number {
  const last = Math.min(to, from + MAX_TIME_BYTES);
  for (let at = from; at < last; at++) if (bytes[at] === CLOSE_BRACKET) return at;
  return -1;
}

/** Past blanks, NULs and quotes around the whole line. */
function addressStart(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && (bytes[at]! <= SPACE || isQuote(bytes[at]!))) at++;
  return at;
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

/** Where `:port` begins at the end of a word, or `to` without one. A bare IPv6 address has more colons, and no port. */
function portStart(bytes: Buffer, from: number, to: number): number {
  let at = to;
  while (at > from && isDigit(bytes[at - 1]!)) at--;
  if (at === to || at - 2 < from || bytes[at - 1] !== COLON) return to;
  const isBracketed = bytes[from] === OPEN_BRACKET && bytes[at - 2] === CLOSE_BRACKET;
  return isBracketed || bytes.indexOf(COLON, from) === at - 1 ? at - 1 : to;
}

/** An IPv4 or IPv6 address by its outline: digits and three dots, or hexadecimal digits and two colons or more. */
function isIpLiteral(bytes: Buffer, from: number, to: number): boolean {
  let dots = 0;
  let colons = 0;
  let letters = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte === DOT) dots++;
    else if (byte === COLON) colons++;
    else if (!isDigit(byte)) {
      const lower = byte | 0x20;
      if (lower < 0x61 || lower > 0x66) return false;
      letters++;
    }
  }
  return colons >= 2 || (dots === 3 && letters === 0 && colons === 0);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isQuote(byte: number): boolean {
  return byte === 0x22 || byte === 0x27;
}

const SPACE = 0x20;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const DELETE = 0x7f;
