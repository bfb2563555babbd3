// The time in the brackets of a line of Apache or nginx.
import { hasDate, readDateTime } from '../instant.js';

/** The first brackets of a line that hold a readable time: a user's name may have brackets too. */
export class BracketedTime {
  unixMs = Number.NaN;
  /** Where they close. */
  close = -1;
  /** Where the brackets of the time open, or the last that do when none holds a time, or -1. */
  open = -1;
  readonly #sameDay = new SameDay();

  find(bytes: Buffer, from: number, to: number): boolean {
    this.open = -1;
    for (let at = from; at < to; at++) {
      if (bytes[at] !== OPEN_BRACKET) continue;
      this.open = at;
      this.unixMs = this.#sameDay.read(bytes, at, to);
      if (!Number.isNaN(this.unixMs)) {
        this.close = at + USUAL_CLOSE;
        return true;
      }
      const close = closing(bytes, at + 1, to);
      if (close < 0 || !hasDate(bytes, at + 1, close)) continue;
      this.unixMs = readDateTime(bytes, at + 1, close);
      this.close = close;
      if (Number.isNaN(this.unixMs)) continue;
      this.#sameDay.learn(bytes, at, close, this.unixMs);
      return true;
    }
    return false;
  }
}

/**
 * Reads a usual time of the date and zone of one before by its clock alone, and one of the same second by comparing it. Any other is for
 * `readDateTime`, which gives the same.
 *
 *   [17/May/2015:10:05:03 +0000]
 *   0           12       21    27
 */
class SameDay {
  /** The brackets that were read last. */
  readonly #text = new Uint8Array(USUAL_CLOSE + 1);
  /** When the date begins. */
  #startMs = Number.NaN;
  /** What the brackets say. */
  #unixMs = Number.NaN;

  /** NaN for a time of another date or zone, or one that is written in another way. */
  read(bytes: Buffer, open: number, to: number): number {
    if (to - open <= USUAL_CLOSE) return Number.NaN;
    const text = this.#text;
    for (let i = USUAL_CLOSE; i > 20; i--) if (bytes[open + i] !== text[i]) return Number.NaN;
    for (let i = 12; i > 0; i--) if (bytes[open + i] !== text[i]) return Number.NaN;
    for (let i = 20; i > 12; i--) if (bytes[open + i] !== text[i]) return this.#readClock(bytes, open);
    return this.#unixMs;
  }

  learn(bytes: Buffer, open: number, close: number, unixMs: number): void {
    if (close - open !== USUAL_CLOSE || bytes[open + 3] !== SLASH) return;
    const ms = clockMs(bytes, open + 13);
    if (Number.isNaN(ms)) return;
    this.#text.set(bytes.subarray(open, close + 1));
    this.#startMs = unixMs - ms;
    this.#unixMs = unixMs;
  }

  #readClock(bytes: Buffer, open: number): number {
    const ms = clockMs(bytes, open + 13);
    if (Number.isNaN(ms)) return ms;
    for (let i = 13; i <= 20; i++) this.#text[i] = bytes[open + i]!;
    this.#unixMs = this.#startMs + ms;
    return this.#unixMs;
  }
}

/** How far from the opening bracket a usual time closes. */
const USUAL_CLOSE = 27;

/** The time of day of `:10:05:03` before and from `at`, in ms; NaN unless it is one from 00:00:00 to 23:59:59. */
function clockMs(bytes: Buffer, at: number): number {
  const hour = twoDigits(bytes, at);
  const minute = twoDigits(bytes, at + 3);
  const second = twoDigits(bytes, at + 6);
  const hasColons = bytes[at - 1] === COLON && bytes[at + 2] === COLON && bytes[at + 5] === COLON;
  const isClock = hasColons && hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
  return isClock ? ((hour * 60 + minute) * 60 + second) * 1000 : Number.NaN;
}

/** -1 when one of them is no digit. */
function twoDigits(bytes: Buffer, at: number): number {
  const tens = bytes[at]! - ZERO;
  const ones = bytes[at + 1]! - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
}

/** The longest time that is looked for between brackets, in bytes: ISO with nanoseconds and zone takes 35. */
const MAX_TIME_BYTES = 48;

function closing(bytes: Buffer, from: number, to: number): number {
  const last = Math.min(to, from + MAX_TIME_BYTES);
  for (let at = from; at < last; at++) if (bytes[at] === CLOSE_BRACKET) return at;
  return -1;
}

const SLASH = 0x2f;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
