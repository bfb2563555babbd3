// Owns CSV, TSV and their kin: a first row of names, then a row a request or a count. Leaves quotes to rows.ts, the choice of columns to columns.ts.
import type { Columns, Sample } from './columns.js';
import { readCount } from './count.js';
import { readInstant } from './instant.js';
import { type Intake, NO_CLIENT } from './intake.js';
import { LineCutter, type LogReader } from './lines.js';
import { RowCutter, RowScanner } from './rows.js';
import { TextPool } from './text-pool.js';

/** The first rows of a table, cut by the delimiter that fits them best. */
export interface Table {
  readonly delimiter: string;
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const delimiters = [',', '\t', ';', '|'];

/** How many rows are looked at to tell the delimiter and to choose columns. */
const SAMPLED_ROWS = 200;

/**
 * The table at the start of a log: of the delimiters that give the first row several fields, the one by which most rows
 * have as many. A table may have one column only.
 * @param head whole lines
 */
export function tableIn(head: Buffer): Table {
  let best = sampled(head, ',');
  for (const delimiter of delimiters.slice(1)) {
    const table = sampled(head, delimiter);
    const isBetter = table.names.length > 1 && (best.names.length < 2 || evenness(table) > evenness(best));
    if (isBetter) best = table;
  }
  return best;
}

/** The share of rows that have as many fields as the table has names, and a little for every name. */
export function evenness(table: Table): number {
  const even = table.rows.filter((row) => row.length === table.names.length).length;
  return even / Math.max(1, table.rows.length) + table.names.length / 1e6;
}

export function tableSample(table: Table): Sample {
  return {
    noun: 'column',
    names: table.names,
    has: (name) => table.names.includes(name),
    values: (name) => {
      const index = table.names.indexOf(name);
      return table.rows.map((row) => Buffer.from(row[index] ?? ''));
    },
  };
}

/** Reads the rows of a table after its first, by the columns chosen. */
export function delimitedReader(intake: Intake, table: Table, columns: Columns): LogReader {
  const { names } = table;
  const timeAt = names.indexOf(columns.time);
  const countAt = columns.count === undefined ? -1 : names.indexOf(columns.count);
  const keyAt = columns.key === undefined ? -1 : names.indexOf(columns.key);
  const noTime = `no time in column ${columns.time}`;
  const noCount = `no whole number in column ${columns.count}`;
  const scanner = new RowScanner(table.delimiter);
  const keys = new TextPool();
  let isFirst = true;

  const row = (bytes: Buffer, from: number, to: number, number: number): void => {
    if (isFirst) {
      isFirst = false;
      return;
    }
    const data = names.length > 1 ? unwrapped(scanner, bytes) : bytes;
    const unixMs =
      timeAt < scanner.fields
        ? readInstant(data, scanner.fieldFrom(timeAt), scanner.fieldTo(timeAt), columns.unit)
        : Number.NaN;
    if (Number.isNaN(unixMs)) {
      intake.skip(number, noTime, bytes, from, to);
      return;
    }
    let n = 1;
    if (countAt >= 0) {
      n = countAt < scanner.fields ? readCount(data, scanner.fieldFrom(countAt), scanner.fieldTo(countAt)) : Number.NaN;
      if (Number.isNaN(n)) {
        intake.skip(number, noCount, bytes, from, to);
        return;
      }
    }
    intake.request(unixMs, n, keyAt < 0 ? '' : keyIn(data, scanner, keyAt, keys));
  };

  return new LineCutter(new RowCutter(scanner, row), intake);
}

function keyIn(bytes: Buffer, scanner: RowScanner, index: number, keys: TextPool): string {
  if (index >= scanner.fields) return NO_CLIENT;
  const from = scanner.fieldFrom(index);
  const to = scanner.fieldTo(index);
  const isPlain = to > from && !scanner.isQuoted(index) && bytes[to - 1]! > SPACE && bytes[from]! > SPACE;
  return (isPlain ? keys.text(bytes, from, to) : scanner.text(index)) || NO_CLIENT;
}

/** A row that stands in quotes as a whole is one field; what is in it is scanned instead. Gives the bytes that were scanned last. */
function unwrapped(scanner: RowScanner, bytes: Buffer): Buffer {
  if (scanner.fields !== 1 || !scanner.isQuoted(0)) return bytes;
  const inner = Buffer.from(scanner.text(0));
  scanner.scan(inner, 0, inner.length);
  return inner;
}

function sampled(head: Buffer, delimiter: string): Table {
  const rows: string[][] = [];
  const scanner = new RowScanner(delimiter);
  const cutter = new RowCutter(scanner, (bytes) => {
    if (rows.length > SAMPLED_ROWS) return;
    unwrapped(scanner, bytes);
    rows.push(scanner.texts());
  });
  const lines = new LineCutter(cutter, { skip: () => undefined });
  lines.push(head);
  lines.end();
  const [names = [], ...rest] = rows;
  return { delimiter, names, rows: rest };
}

const SPACE = 0x20;
