// Cuts a JSON array into the texts of its elements, so that it can be read in pieces: JSON.parse reads a megabyte in one go, and takes 10
// ms for it. Leaves it to the reader of an element whether that is JSON.
//
//   [ {"type":"request"} , {"a":[1,"],"]} ]          an element ends at a comma, or at the last bracket, that no string and no other
//     └────────┬───────┘   └──────┬──────┘           bracket holds
//              0                  1
import type { Steps } from '../limiter/plan.js';

interface ElementReader {
  /** Takes the bytes `from .. to - 1`, without blanks around them. @returns what that cost, in units */
  element(bytes: Buffer, from: number, to: number): number;
}

/** Bytes that cost as much to look at as a decision that moves nothing. */
const BYTES_A_UNIT = 256;

/** Whether a text is an array at all, by its first byte. */
export function opensArray(bytes: Buffer): boolean {
  return bytes[skipBlanks(bytes, 0)] === OPEN_BRACKET;
}

/**
 * Hands over every element.
 * @returns why it is not JSON; undefined if that depends on the elements alone
 */
export function* cutArray(bytes: Buffer, reader: ElementReader): Steps<string | undefined> {
  let at = skipBlanks(bytes, 0) + 1;
  let paid = at;
  let cost = 0;
  let from = skipBlanks(bytes, at);
  if (bytes[from] === CLOSE_BRACKET) return behind(bytes, from + 1);
  for (let depth = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = stringEnd(bytes, at);
      if (at < 0) return 'a string does not end';
    } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) depth += 1;
    else if (depth > 0 && (byte === CLOSE_BRACKET || byte === CLOSE_BRACE)) depth -= 1;
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_BRACKET)) {
      const to = skipBlanksBack(bytes, at);
      if (to <= from) return `there is no value before byte ${at}`;
      cost += reader.element(bytes, from, to);
      if (byte === CLOSE_BRACKET) return behind(bytes, at + 1);
      from = skipBlanks(bytes, at + 1);
    }
    if (at - paid >= BYTES_A_UNIT || cost >= 1) {
      yield cost + (at - paid) / BYTES_A_UNIT;
      paid = at;
      cost = 0;
    }
  }
  return 'the array does not end';
}

function behind(bytes: Buffer, at: number): string | undefined {
  return skipBlanks(bytes, at) < bytes.length ? `something stands behind the array at byte ${at}` : undefined;
}

/** Where the string that opens at `at` closes; -1 if it does not. */
function stringEnd(bytes: Buffer, at: number): number {
  for (let end = at + 1; end < bytes.length; end += 1) {
    if (bytes[end] === BACKSLASH) end += 1;
    else if (bytes[end] === QUOTE) return end;
  }
  return -1;
}

function skipBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isBlank(bytes[at]!)) at += 1;
  return at;
}

function skipBlanksBack(bytes: Buffer, to: number): number {
  let at = to;
  while (at > 0 && isBlank(bytes[at - 1]!)) at -= 1;
  return at;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
