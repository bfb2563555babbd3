// CSV, TSV and their kin: rows of fields, after a first row with their names or without one.
//   time,client,path             1431857103,192.0.2.1,"/a,b"
//   1431857103,192.0.2.1,/a      without names the columns are 1, 2, 3
import { isIpLiteral } from '../address.js';
import type { Cutter, Field, Known, Layout } from '../layout.js';
import { LineCutter, type LineReader } from '../lines.js';
import { findTime, isFullDate } from '../time-column.js';
import { readCount } from '../unix.js';
import type { Format, Head } from './format.js';
import { RowCutter, RowScanner } from './rows.js';

/** The first rows of a table, cut by the delimiter that fits them best. */
export interface Table {
  readonly delimiter: string;
  readonly names: readonly string[];
  readonly rows: readonly Row[];
  /** Whether the names are those of its first row. */
  readonly hasNames: boolean;
}

interface Row {
  readonly bytes: Buffer;
  readonly cells: readonly string[];
}

const delimiters = [',', '\t', ';', '|'];

/** How many rows are looked at. */
const SAMPLED_ROWS = 200;

/** A table whose first row names a column that is known to be a time, or that a person named as one. */
export const namedTable: Format = {
  name: 'csv',
  open: ({ bytes, options }) => {
    const layout = delimitedLayout(undefined, tableIn(bytes));
    const time = findTime(layout, options.timeColumn);
    // A date is no name: then the first row is one of data.
    return time === undefined || time.some((name) => isFullDate(Buffer.from(name), false)) ? undefined : layout;
  },
};

/** A table without names: most rows have as many fields as the first, and a date in the same one. */
export const namelessTable: Format = {
  name: 'csv',
  open: ({ bytes }) => {
    for (const delimiter of delimiters) {
      const rows = sampleRows(bytes, delimiter);
      const width = rows[0]?.cells.length ?? 0;
      if (width < 2 || rows.filter(({ cells }) => cells.length === width).length * 2 <= rows.length) continue;
      const column = (holds: (cell: string) => boolean) =>
        Array.from({ length: width }, (_, i) => i).find((i) => {
          const seen = rows.map(({ cells }) => cells[i] ?? '');
          return holds(seen[0]!) && seen.filter(holds).length * 2 > seen.length;
        });
      const time = column((cell) => isFullDate(Buffer.from(cell), true));
      if (time === undefined) continue;
      const isCount = (cell: string) => !Number.isNaN(readCount(Buffer.from(cell), 0, cell.length));
      const count = width === 2 && rows.every(({ cells }) => isCount(cells[1 - time] ?? '')) ? 1 - time : undefined;
      const client = column((cell) => isIpLiteral(Buffer.from(cell), 0, cell.length));
      const names = Array.from({ length: width }, (_, i) => `${i + 1}`);
      return delimitedLayout(
        undefined,
        { delimiter, names, rows, hasNames: false },
        {
          time: names[time]!,
          ...(count !== undefined && { count: names[count]! }),
          ...(client !== undefined && { client: names[client]! }),
        },
      );
    }
    return undefined;
  },
};

/** A table by the evenness of its rows alone: its time has still to be named. */
export const evenTable: Format = {
  name: 'csv',
  open: ({ bytes }) => {
    const table = tableIn(bytes);
    return table.names.length > 1 && evenness(table) >= 0.5 ? delimitedLayout(undefined, table) : undefined;
  },
};

/** Named by a person: a comma and a tab are not the only delimiters of either. */
export const csv: Format = { name: 'csv', open: (head) => told(head, 'csv') };
export const tsv: Format = { name: 'tsv', open: (head) => told(head, 'tsv') };

function told(head: Head, format: string): Layout {
  const table = tableIn(head.bytes);
  const named = delimitedLayout(format, table);
  if (findTime(named, head.options.timeColumn) !== undefined) return named;
  const nameless = namelessTable.open(head, true);
  return nameless === undefined ? named : { ...nameless, format };
}

/**
 * The table at the start of a log: of the delimiters that give the first row several fields, the one by which most rows
 * have as many. A table may have one column only.
 */
export function tableIn(head: Buffer): Table {
  const known = tables.get(head);
  if (known !== undefined) return known;
  let best = tableBy(head, ',');
  for (const delimiter of delimiters.slice(1)) {
    const table = tableBy(head, delimiter);
    const isBetter = table.names.length > 1 && (best.names.length < 2 || evenness(table) > evenness(best));
    if (isBetter) best = table;
  }
  tables.set(head, best);
  return best;
}

/** Several formats are tables, and look at the same head. */
const tables = new WeakMap<Buffer, Table>();

function tableBy(head: Buffer, delimiter: string): Table {
  const [first, ...rows] = sampleRows(head, delimiter);
  return { delimiter, names: first?.cells ?? [], rows, hasNames: true };
}

/** The share of rows that have as many fields as the table has names, and a little for every name. */
function evenness(table: Table): number {
  const even = table.rows.filter(({ cells }) => cells.length === table.names.length).length;
  return even / Math.max(1, table.rows.length) + table.names.length / 1e6;
}

/** How much of a log is cut into rows before it is asked whether they are enough. */
const PIECE_BYTES = 4096;

/** The first rows, cut by a delimiter. */
export function sampleRows(head: Buffer, delimiter: string): Row[] {
  const rows: Row[] = [];
  const scanner = new RowScanner(delimiter);
  const cutter = new RowCutter(scanner, (bytes, from, to) => {
    if (rows.length > SAMPLED_ROWS) return;
    unwrap(scanner, bytes);
    rows.push({ bytes: Buffer.from(bytes.subarray(from, to)), cells: scanner.texts() });
  });
  const lines = new LineCutter(cutter, { skip: () => undefined });
  for (let at = 0; at < head.length && rows.length <= SAMPLED_ROWS; at += PIECE_BYTES) {
    lines.push(head.subarray(at, at + PIECE_BYTES));
  }
  lines.end();
  return rows;
}

/** @param format csv or tsv, by the delimiter, when undefined */
export function delimitedLayout(format: string | undefined, table: Table, known: Known = {}): Layout {
  const { delimiter, names, rows, hasNames } = table;
  return {
    format: format ?? (delimiter === '\t' ? 'tsv' : 'csv'),
    noun: 'column',
    names,
    lines: rows.map(({ bytes }) => bytes),
    cutter: (wanted, fields) =>
      new DelimitedCutter(
        delimiter,
        wanted.map((name) => names.indexOf(name)),
        fields,
        names.length > 1,
      ),
    known,
    rowReader: (cutter, reader) => {
      let isFirst = hasNames;
      return (cutter as DelimitedCutter).rowReader((bytes, from, to, number) => {
        if (!isFirst) reader.line(bytes, from, to, number);
        isFirst = false;
      });
    },
  };
}

/** Cuts rows; where they may go over several lines, the scanner has done so when the row is whole. */
class DelimitedCutter implements Cutter {
  readonly #scanner: RowScanner;
  readonly #columns: readonly number[];
  readonly #fields: readonly Field[];
  readonly #hasSeveral: boolean;
  #isScanned = false;

  constructor(delimiter: string, columns: readonly number[], fields: readonly Field[], hasSeveral: boolean) {
    this.#scanner = new RowScanner(delimiter);
    this.#columns = columns;
    this.#fields = fields;
    this.#hasSeveral = hasSeveral;
  }

  rowReader(row: LineReader['line']): LineReader {
    this.#isScanned = true;
    return new RowCutter(this.#scanner, row);
  }

  cut(bytes: Buffer, from: number, to: number): undefined {
    const scanner = this.#scanner;
    if (!this.#isScanned) scanner.scan(bytes, from, to);
    const data = this.#hasSeveral ? unwrap(scanner, bytes) : bytes;
    for (let i = 0; i < this.#fields.length; i++) {
      const column = this.#columns[i]!;
      if (column < 0 || column >= scanner.fields) continue;
      if (scanner.isQuoted(column) && hasQuote(data, scanner.fieldFrom(column), scanner.fieldTo(column))) {
        const plain = Buffer.from(scanner.text(column));
        this.#fields[i]!.set(plain, 0, plain.length);
      } else this.#fields[i]!.set(data, scanner.fieldFrom(column), scanner.fieldTo(column));
    }
    return undefined;
  }
}

/** A row that stands in quotes as a whole is one field; what is in it is scanned instead. Gives the bytes that were scanned last. */
function unwrap(scanner: RowScanner, bytes: Buffer): Buffer {
  if (scanner.fields !== 1 || !scanner.isQuoted(0)) return bytes;
  const inner = Buffer.from(scanner.text(0));
  scanner.scan(inner, 0, inner.length);
  return inner;
}

function hasQuote(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] === QUOTE) return true;
  return false;
}

const QUOTE = 0x22;
