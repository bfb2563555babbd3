// What a field says about who sent a request, or what was asked: the address without its port, one hop of a list of forwarded
// addresses, the method and the path of a request line.
//
//   10.0.0.1:4711   [2001:db8::1]:4711   "10.0.0.1"         10.0.0.1, 2001:db8::1
//   10.0.0.1, 10.0.0.2, 10.0.0.3                            hop 1 is 10.0.0.1, hop -1 is 10.0.0.3
//   GET http://example.org/a/b?c=d HTTP/1.1                 method GET, path /a/b
import type { Field } from './layout.js';

/** How a field is read. A hop counts from 1, from the end where negative. */
export type Part = 'whole' | 'method' | 'path' | { readonly hop: number; readonly hasPort: boolean };

/** Narrows the field to the part of it. */
export function narrow(field: Field, part: Part): void {
  if (part === 'whole') return;
  if (part === 'method') narrowToMethod(field);
  else if (part === 'path') narrowToPath(field);
  else {
    narrowToHop(field, part.hop);
    narrowToAddress(field, part.hasPort);
  }
}

function narrowToMethod(field: Field): void {
  const { bytes, from, to } = field;
  let at = from;
  while (at < to && bytes[at]! > SPACE) at++;
  field.to = at;
}

/** The path of a URL or of a request line, without the query. */
function narrowToPath(field: Field): void {
  const { bytes, to } = field;
  let from = field.from;
  const blank = bytes.indexOf(SPACE, from);
  if (blank >= 0 && blank < to && bytes[from] !== SLASH) from = blank + 1;
  let end = from;
  while (end < to && bytes[end]! > SPACE && bytes[end] !== QUESTION && bytes[end] !== HASH) end++;
  const scheme = bytes.indexOf('://', from);
  if (scheme >= from && scheme < end && scheme - from < 8) {
    const path = bytes.indexOf(SLASH, scheme + 3);
    from = path < 0 || path >= end ? end : path;
  }
  field.from = from;
  field.to = end;
}

function narrowToHop(field: Field, hop: number): void {
  const { bytes, from, to } = field;
  let hops = 1;
  for (let at = from; at < to; at++) if (bytes[at] === COMMA) hops++;
  const wanted = hop > 0 ? hop : hops + 1 + hop;
  if (hops === 1 && wanted === 1) return;
  let start = from;
  for (let n = 1; n < wanted && start <= to; n++) {
    const comma = bytes.indexOf(COMMA, start);
    start = comma < 0 || comma >= to ? to + 1 : comma + 1;
  }
  if (wanted < 1 || start > to) {
    field.to = field.from;
    return;
  }
  const comma = bytes.indexOf(COMMA, start);
  field.from = start;
  field.to = comma < 0 || comma > to ? to : comma;
}

function narrowToAddress(field: Field, hasPort: boolean): void {
  const { bytes } = field;
  let { from, to } = field;
  while (from < to && isPadding(bytes[from]!)) from++;
  while (from < to && isPadding(bytes[to - 1]!)) to--;
  to = portStart(bytes, from, to, hasPort);
  if (to - from > 2 && bytes[from] === OPEN_BRACKET && bytes[to - 1] === CLOSE_BRACKET) {
    from++;
    to--;
  }
  field.from = from;
  field.to = to;
}

/**
 * Where `:port` begins at the end of an address, or `to` without one. A bare IPv6 address has more colons, and no port unless
 * `always`.
 */
export function portStart(bytes: Buffer, from: number, to: number, always = false): number {
  let at = to;
  while (at > from && isDigit(bytes[at - 1]!)) at--;
  if (at === to || at - 2 < from || bytes[at - 1] !== COLON) return to;
  const isBracketed = bytes[from] === OPEN_BRACKET && bytes[at - 2] === CLOSE_BRACKET;
  return always || isBracketed || bytes.indexOf(COLON, from) === at - 1 ? at - 1 : to;
}

/** An IPv4 or IPv6 address by its outline: digits and three dots, or hexadecimal digits and seven colons or `::`. */
export function isIpLiteral(bytes: Buffer, from: number, to: number): boolean {
  let dots = 0;
  let colons = 0;
  let letters = 0;
  let isShortened = false;
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte === DOT) dots++;
    else if (byte === COLON) {
      colons++;
      if (at > from && bytes[at - 1] === COLON) isShortened = true;
    } else if (!isDigit(byte)) {
      const lower = byte | 0x20;
      if (lower < 0x61 || lower > 0x66) return false;
      letters++;
    }
  }
  return (
    isShortened ||
    colons === 7 ||
    (colons === 6 && dots === 3) ||
    (to > from && dots === 3 && letters === 0 && colons === 0)
  );
}

/** Whether the text is an address with a port. */
export function hasPort(bytes: Buffer): boolean {
  const to = portStart(bytes, 0, bytes.length);
  if (to === bytes.length) return false;
  return bytes[0] === OPEN_BRACKET ? isIpLiteral(bytes, 1, to - 1) : isIpLiteral(bytes, 0, to);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Blanks, quotes and commas around an address. */
function isPadding(byte: number): boolean {
  return byte <= SPACE || byte === 0x22 || byte === 0x27 || byte === COMMA;
}

const SPACE = 0x20;
const HASH = 0x23;
const COMMA = 0x2c;
const DOT = 0x2e;
const SLASH = 0x2f;
const COLON = 0x3a;
const QUESTION = 0x3f;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
