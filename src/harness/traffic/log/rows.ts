// Rows of CSV and TSV: their cells, and which lines form a row.
import { type LineReader, MAX_LINE_BYTES } from './lines.js';

interface Row {
  readonly cells: readonly string[];
  /** At its end all are closed, one is open, or one was closed before text that RFC 4180 does not allow. */
  readonly quotes: 'closed' | 'open' | 'broken';
}

/** @param isInside the text begins within a quoted cell */
type RowReader = (text: string, isInside?: boolean) => Row;

/**
 * RFC 4180, tolerating blanks around quotes and text after them.
 * @param joinsMs whether `10:05:03,123` is one cell in spite of the delimiter, as log4j and Python's logging write a time
 */
export function rowReader(delimiter: string, joinsMs = false): RowReader {
  const endOf = (row: string, from: number): number => {
    let end = row.indexOf(delimiter, from);
    while (joinsMs && end >= 0 && CLOCK_AND_MS.test(row.slice(Math.max(from, end - 8), end + 8)))
      end = row.indexOf(delimiter, end + 1);
    return end < 0 ? row.length : end;
  };
  return (text, isInside = false) => {
    const row = isInside ? `"${text}` : text;
    const cells: string[] = [];
    let quotes: Row['quotes'] = 'closed';
    for (let at = 0; at <= row.length; at++) {
      const from = afterBlanks(row, at);
      if (row[from] !== '"') {
        at = endOf(row, from);
        cells.push(row.slice(from, at));
        continue;
      }
      const close = closingQuote(row, from + 1);
      cells.push(unescaped(row.slice(from + 1, close)));
      if (close === row.length) return { cells, quotes: 'open' };
      const after = delimiter === ' ' ? close + 1 : afterBlanks(row, close + 1);
      at = endOf(row, after);
      if (at > after) quotes = 'broken';
    }
    return { cells, quotes };
  };
}

const CLOCK_AND_MS = /^\d\d:\d\d:\d\d,\d{3}(?:\d{3})?(?:\D|$)/;

function afterBlanks(row: string, from: number): number {
  let at = from;
  while (row[at] === ' ') at++;
  return at;
}

function closingQuote(row: string, from: number): number {
  let at = row.indexOf('"', from);
  while (at >= 0 && row[at + 1] === '"') at = row.indexOf('"', at + 2);
  return at < 0 ? row.length : at;
}

function unescaped(quoted: string): string {
  return quoted.includes('"') ? quoted.replaceAll('""', '"').trim() : quoted;
}

/** A row that is quoted as a whole is one cell, and has its cells within. */
export function unwrapped(read: RowReader, row: Row, text: string): Row {
  return row.cells.length === 1 && /^ *"/.test(text) ? read(row.cells[0]!.trim()) : row;
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
export function rowCutter(
  read: RowReader,
  give: (row: Row, ...line: Parameters<LineReader['line']>) => void,
): LineReader {
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
    give(read(row.toString()), row, 0, row.length, lines[0]!.number);
  };
  const release = (): void => {
    for (const { bytes, number } of take()) give(read(bytes.toString()), bytes, 0, bytes.length, number);
  };
  const line: LineReader['line'] = (bytes, from, to, number) => {
    const { cells, quotes } = read(bytes.toString('utf8', from, to), held.length > 0);
    if (held.length === 0) {
      if (quotes === 'open') hold(bytes, from, to, number);
      else give({ cells, quotes }, bytes, from, to, number);
      return;
    }
    if (quotes === 'broken' || held.length >= MAX_ROW_LINES || heldBytes + to - from > MAX_LINE_BYTES) {
      release();
      line(bytes, from, to, number);
      return;
    }
    hold(bytes, from, to, number);
    if (quotes === 'closed') join();
  };
  return { line, end: release };
}

const LINE_FEED = Buffer.from('\n');
