// Reads the times of one column: its unit, a single value in another unit, the year that a syslog line leaves out.
import { readInstant } from './instant.js';
import { type TimeUnit, timeUnits, unitOfDigits, wholeDigits } from './unix.js';
import { type DateStyle, readWritten } from './written-date.js';

export interface TimeStyle {
  /** What a plain number counts. */
  readonly unit: TimeUnit;
  /** Whether the numbers are dates of today: then a value of another size is in another unit. */
  readonly mayMix: boolean;
  readonly dayFirst: boolean;
  /** The present time: dates without a year are the latest that do not lie after it. Without it they are in 2000. */
  readonly nowMs: number | undefined;
}

const HALF_YEAR_MS = 182 * 86_400_000;
const DAY_MS = 86_400_000;
const NO_CLOCK_YEAR = 2000;

/** Longer texts are no dates; a date is read as a string. */
const MAX_DATE_BYTES = 64;

export class TimeReader implements DateStyle {
  /** How many values were in another unit than the column. */
  otherUnits = 0;
  /** How many dates had no year. */
  withoutYear = 0;
  readonly dayFirst: boolean;
  readonly #style: TimeStyle;
  /** The digits of a number in the column's unit; 0 when units cannot be mixed. */
  readonly #digits: number;
  #year: number | undefined;
  #lastMs = Number.NaN;

  constructor(style: TimeStyle) {
    this.#style = style;
    this.dayFirst = style.dayFirst;
    const coarseness = timeUnits.indexOf(style.unit);
    this.#digits = style.mayMix && coarseness < 4 ? 10 + 3 * coarseness : 0;
  }

  /** Unix milliseconds, rounded down, of a time in any way a log writes it; NaN when it is none. */
  read(bytes: Uint8Array, from: number, to: number): number {
    let unit = this.#style.unit;
    if (this.#digits > 0) {
      const digits = wholeDigits(bytes, from, to);
      if (digits !== this.#digits && (from + digits === to || bytes[from + digits] === DOT)) {
        const own = unitOfDigits(digits);
        if (own !== undefined) {
          this.otherUnits++;
          unit = own;
        }
      }
    }
    const ms = readInstant(bytes, from, to, unit);
    return Number.isNaN(ms) && to - from <= MAX_DATE_BYTES ? this.#written(bytes, from, to) : ms;
  }

  #written(bytes: Uint8Array, from: number, to: number): number {
    const text = String.fromCharCode(...bytes.subarray(from, to)).replace(/^[\s[]+|[\s\]]+$/g, '');
    return readWritten(text, this);
  }

  /**
   * The year of a date without one: the latest that does not lie a day after the present. Going on from December to January
   * is the next year; a line of December after one of January is late.
   */
  year(msIn: (year: number) => number): number {
    this.withoutYear++;
    const { nowMs } = this.#style;
    if (this.#year === undefined) {
      const now = nowMs === undefined ? NO_CLOCK_YEAR : new Date(nowMs).getUTCFullYear();
      // After the 29th of February the date may exist in a leap year only.
      const years = nowMs === undefined ? [now] : [now, now - 1, now - 2, now - 3, now - 4];
      this.#year = years.find((year) => msIn(year) <= (nowMs ?? Number.POSITIVE_INFINITY) + DAY_MS) ?? now;
      this.#lastMs = msIn(this.#year);
      return this.#year;
    }
    const ms = msIn(this.#year);
    if (ms > this.#lastMs + HALF_YEAR_MS) return this.#year - 1;
    if (ms < this.#lastMs - HALF_YEAR_MS) this.#year++;
    this.#lastMs = msIn(this.#year);
    return this.#year;
  }
}

const DOT = 0x2e;
