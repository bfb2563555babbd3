// Rows of CSV and TSV: where fields begin and end, and which lines form a row.
import type { Field } from './layout.js';
import { type LineReader, MAX_LINE_BYTES } from './lines.js';

/** Quotes at the end of a row: all closed, one open, or one closed before text that RFC 4180 does not allow. */
type QuoteState = 'closed' | 'open' | 'broken';

/** RFC 4180, tolerating blanks around quotes and text after them. */
export class RowScanner {
  fields = 0;
  readonly #delimiter: number;
  readonly #joinsMs: boolean;
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  readonly #quoted: boolean[] = [];
  #bytes: Buffer = Buffer.alloc(0);

  /** @param joinsMs whether `10:05:03,123` is one field in spite of the delimiter, as log4j and Python's logging write a time */
  constructor(delimiter: string, joinsMs = false) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#joinsMs = joinsMs;
  }

  /** `isInside`: the row begins within a quoted field. */
  scan(bytes: Buffer, from: number, to: number, isInside = false): QuoteState {
    this.#bytes = bytes;
    this.fields = 0;
    let state: QuoteState = 'closed';
    let at = from;
    do {
      const isContinued = isInside && this.fields === 0;
      if (!isContinued) at = skipSpaces(bytes, at, to);
      if (isContinued || (at < to && bytes[at] === QUOTE)) {
        const start = isContinued ? at : at + 1;
        const close = closingQuote(bytes, start, to);
        this.#add(start, close, true);
        if (close === to) return 'open';
        at = this.#delimiter === SPACE ? close + 1 : skipSpaces(bytes, close + 1, to);
        if (at < to && bytes[at] !== this.#delimiter) state = 'broken';
        at = this.#fieldEnd(bytes, at, to);
      } else {
        const start = at;
        at = this.#fieldEnd(bytes, at, to);
        this.#add(start, at, false);
      }
    } while (at++ < to);
    return state;
  }

  fieldFrom(index: number): number {
    return this.#from[index]!;
  }

  fieldTo(index: number): number {
    return this.#to[index]!;
  }

  isQuoted(index: number): boolean {
    return this.#quoted[index]!;
  }

  text(index: number): string {
    const text = this.#bytes.toString('utf8', this.#from[index], this.#to[index]);
    return (this.isQuoted(index) ? text.replaceAll('""', '"') : text).trim();
  }

  texts(): string[] {
    return Array.from({ length: this.fields }, (_, index) => this.text(index));
  }

  give(index: number, bytes: Buffer, into: Field): void {
    if (index < 0 || index >= this.fields) return;
    const from = this.#from[index]!;
    const to = this.#to[index]!;
    if (this.isQuoted(index) && bytes.subarray(from, to).includes(QUOTE)) into.setText(this.text(index));
    else into.set(bytes, from, to);
  }

  #add(from: number, to: number, isQuoted: boolean): void {
    const index = this.fields++;
    this.#from[index] = from;
    this.#to[index] = to;
    this.#quoted[index] = isQuoted;
  }

  #fieldEnd(bytes: Buffer, from: number, to: number): number {
    let at = from;
    while (at < to && (bytes[at] !== this.#delimiter || (this.#joinsMs && isBeforeMs(bytes, from, at, to)))) at++;
    return at;
  }
}

const CLOCK_BYTES = 8;
const FRACTION_BYTES = 7;

function isBeforeMs(bytes: Buffer, from: number, at: number, to: number): boolean {
  return (
    at - from >= CLOCK_BYTES &&
    CLOCK_AND_MS.test(bytes.toString('latin1', at - CLOCK_BYTES, Math.min(to, at + FRACTION_BYTES + 1)))
  );
}

const CLOCK_AND_MS = /^\d\d:\d\d:\d\d,\d{3}(?:\d{3})?(?:\D|$)/;

function skipSpaces(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at] === SPACE) at++;
  return at;
}

function closingQuote(bytes: Buffer, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    if (bytes[at] !== QUOTE) continue;
    if (at + 1 < to && bytes[at + 1] === QUOTE) at++;
    else return at;
  }
  return to;
}

const MAX_ROW_LINES = 1000;

interface HeldLine {
  readonly bytes: Buffer;
  readonly number: number;
}

/**
 * Joins lines while a quoted field is open at their end, and passes on rows.
 *
 *   12,"one          lines 1 and 2 are one row           12,"one         the quote of line 1 never closed: its
 *   two",x                                               13,"two",x      closing quote precedes other text. Two rows.
 *
 * A quote that closes in an invalid place (right), or not within 1,000 lines, 1 MiB or the file, is a stray one: each line
 * is a row. Held lines contain no closing quote, so rereading them cannot open another row: the work stays linear.
 */
export function rowCutter(scanner: RowScanner, give: LineReader['line']): LineReader {
  let held: HeldLine[] = [];
  let heldBytes = 0;
  const hold = (bytes: Buffer, from: number, to: number, number: number): void => {
    held.push({ bytes: Buffer.from(bytes.subarray(from, to)), number });
    heldBytes += to - from + 1;
  };
  const take = (): HeldLine[] => {
    const lines = held;
    held = [];
    heldBytes = 0;
    return lines;
  };
  const join = (): void => {
    const lines = take();
    const row = Buffer.concat(lines.flatMap(({ bytes }, i) => (i === 0 ? [bytes] : [LINE_FEED, bytes])));
    scanner.scan(row, 0, row.length);
    give(row, 0, row.length, lines[0]!.number);
  };
  const release = (): void => {
    for (const { bytes, number } of take()) {
      scanner.scan(bytes, 0, bytes.length);
      give(bytes, 0, bytes.length, number);
    }
  };
  const line: LineReader['line'] = (bytes, from, to, number) => {
    if (held.length === 0) {
      if (scanner.scan(bytes, from, to) === 'open') hold(bytes, from, to, number);
      else give(bytes, from, to, number);
      return;
    }
    const state = scanner.scan(bytes, from, to, true);
    if (state === 'broken' || held.length >= MAX_ROW_LINES || heldBytes + to - from > MAX_LINE_BYTES) {
      release();
      line(bytes, from, to, number);
      return;
    }
    hold(bytes, from, to, number);
    if (state === 'closed') join();
  };
  return { line, end: release };
}

const LINE_FEED = Buffer.from('\n');
const SPACE = 0x20;
const QUOTE = 0x22;
