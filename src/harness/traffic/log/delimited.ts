// Tables: CSV, TSV and the like, with or without a header row; and logs that name their fields in a comment.
//
//   time,client,path             1431857103,192.0.2.1,"/a,b"        #Fields: date time c-ip cs-method cs-uri-stem sc-status
//   1431857103,192.0.2.1,/a      without names: columns 1, 2, 3     2015-05-17 10:05:03 192.0.2.1 GET /a 200
import { Failure } from '../../../core/schema/failure.js';
import { roleNames, usualIn } from './column-names.js';
import { datedIn, isFullDate, timeFieldsIn } from './columns.js';
import { isAddress, isMethod, isStatus, nearlyAll } from './custom-layout.js';
import type { Cutter, KnownFields, Layout, Recognise, Role, Slots } from './layout.js';
import { LineCutter } from './lines.js';
import type { Warning } from './log-options.js';
import { RowScanner, rowCutter } from './rows.js';

interface Table {
  readonly delimiter: string;
  /** Commas separate the columns, and the milliseconds of the times. */
  readonly joinsMs?: boolean;
  readonly names: readonly string[];
  readonly rows: readonly Row[];
  readonly hasNames: boolean;
}

interface Row {
  readonly bytes: Buffer;
  readonly cells: readonly string[];
}

const delimiters = [',', '\t', ';', '|'];
const SAMPLED_ROWS = 200;

export const namedTable: Recognise = ({ bytes, options }) => {
  const table = tableIn(bytes);
  const layout = tableLayout(undefined, table);
  const times = timeFieldsIn(layout, options.timeColumn) ?? datedIn(layout);
  if (times.length === 0) return undefined;
  const warning = checkWidth(table);
  return warning === undefined ? layout : { ...layout, known: { warning } };
};

/** Rows in which a column has dates, or is named by its number. Which column is which has to be asked for. */
export const namelessTable: Recognise = ({ bytes, options }) => {
  for (const delimiter of delimiters) {
    const joinsMs = delimiter === ',' && hasMs(sampleRows(bytes, delimiter));
    const rows = sampleRows(bytes, delimiter, joinsMs);
    const width = rows[0]?.cells.length ?? 0;
    if (width < 2 || rows.filter(({ cells }) => cells.length === width).length * 2 <= rows.length) continue;
    const names = Array.from({ length: width }, (_, i) => `${i + 1}`);
    const hasDates = names.some(
      (_, i) => rows.filter(({ cells }) => isFullDate(cells[i] ?? '', true)).length * 2 > rows.length,
    );
    const layout = tableLayout(undefined, { delimiter, joinsMs, names, rows, hasNames: false });
    if (hasDates || (options.timeColumn !== undefined && timeFieldsIn(layout, options.timeColumn) !== undefined))
      return layout;
  }
  return undefined;
};

/** `2015-05-17 10:05:03,123 INFO`: the fraction of a second, as Python's logging and log4j write it. */
function hasMs(rows: readonly Row[]): boolean {
  const time = (rows[0]?.cells ?? []).findIndex((cell) => CLOCK_END.test(cell));
  return time >= 0 && hasMsAfter(rows, time);
}

const CLOCK_END = /\d\d:\d\d:\d\d$/;

function hasMsAfter(rows: readonly Row[], time: number): boolean {
  const after = rows.map(({ cells }) => cells[time + 1] ?? '');
  const hasSeconds = nearlyAll(rows, ({ cells }) => CLOCK_END.test(cells[time] ?? ''));
  const isFraction = (cell: string) => /^\d{3}(?:\d{3})?(?![\d.])/.test(cell);
  if (!hasSeconds || !nearlyAll(after, isFraction)) return false;
  const alone = after.filter((cell) => /^\d+$/.test(cell));
  // A column of three digits may be a status, or a count.
  const isNoStatus = rows[0]!.cells.length > 2 && !nearlyAll(alone, isStatus);
  return alone.length < after.length || alone.some((cell) => cell.startsWith('0')) || isNoStatus;
}

export const evenTable: Recognise = ({ bytes }) => {
  const table = tableIn(bytes);
  return table.names.length > 1 && evenness(table) >= 0.5 ? tableLayout(undefined, table) : undefined;
};

/** Named by the user: comma and tab are not the only delimiters of either. */
export function chosenTable(format: 'csv' | 'tsv'): Recognise {
  return (head, isNamed) => {
    const named = tableLayout(format, tableIn(head.bytes));
    if (timeFieldsIn(named, head.options.timeColumn) !== undefined) return named;
    const nameless = namelessTable(head, isNamed);
    return nameless === undefined ? named : { ...nameless, format };
  };
}

export function tableWith(format: string, columns: readonly string[], known: KnownFields): Recognise {
  return ({ bytes }) => {
    const table = tableIn(bytes);
    return columns.every((name) => table.names.includes(name)) ? tableLayout(format, table, known) : undefined;
  };
}

export function tableOf(
  format: string,
  delimiter: string,
  start: RegExp,
  names: readonly string[],
  known: KnownFields,
): Recognise {
  return ({ bytes, lines }, isNamed) => {
    const begins = (line: Buffer) => start.test(line.toString('latin1', 0, 256));
    if (!isNamed && !lines.slice(0, 1).every(begins)) return undefined;
    const rows = sampleRows(bytes, delimiter);
    if (!isNamed && !rows.every((row) => begins(row.bytes))) return undefined;
    const width = Math.max(3, ...rows.map(({ cells }) => cells.length));
    return tableLayout(format, { delimiter, names: names.slice(0, width), rows, hasNames: false }, known);
  };
}

/** Gatling's simulation.log: the columns before the start of a request, the first time in ms, vary by version. */
export const gatling: Recognise = ({ bytes, lines }, isNamed) => {
  const isRow = (line: Buffer) => /^(RUN|USER|REQUEST|GROUP)\t/.test(line.toString('latin1', 0, 16));
  if (!isNamed && lines.filter(isRow).length * 2 <= lines.length) return undefined;
  const rows = sampleRows(bytes, '\t');
  const request = rows.map(({ cells }) => cells).find(([kind]) => kind === 'REQUEST') ?? [];
  const start = request.findIndex((cell) => /^\d{13}$/.test(cell));
  if (start < 1) return undefined;
  const nameOf = (i: number) => (i === 0 ? 'kind' : i === start ? 'start' : i === start - 1 ? 'name' : `${i + 1}`);
  const table = { delimiter: '\t', names: request.map((_, i) => nameOf(i)), rows, hasNames: false };
  return tableLayout('gatling', table, { time: 'start', where: [['kind', 'REQUEST']] });
};

function tableIn(head: Buffer): Table {
  const cached = tables.get(head);
  if (cached !== undefined) return cached;
  const found = [...delimiters, ',ms'].map((kind): Table => {
    const [delimiter, joinsMs] = [kind[0]!, kind.length > 1];
    const [first, ...rows] = sampleRows(head, delimiter, joinsMs);
    return { delimiter, joinsMs, names: first === undefined ? [] : headerOf(first, delimiter), rows, hasNames: true };
  });
  const isWide = ({ names }: Table) => names.length > 1;
  const best = found.reduce((a, b) => (isWide(b) && (!isWide(a) || evenness(b) > evenness(a)) ? b : a));
  tables.set(head, best);
  return best;
}

/**
 * None where text follows a quote, as in JSON after a prefix. A date or a clock time is not a name: then the first row is data.
 * A further column of the same name has its number beside it.
 */
function headerOf({ bytes, cells }: Row, delimiter: string): readonly string[] {
  const isBroken = new RowScanner(delimiter).scan(bytes, 0, bytes.length) === 'broken';
  return isBroken || cells.some((cell) => isFullDate(cell, true) || CLOCK_END.test(cell))
    ? []
    : cells.map((cell, i) => (cell === '' || cells.indexOf(cell) === i ? cell : `${cell} (${i + 1})`));
}

/** After a delimiter too many, values have the name before their own: harmless only within text in the last columns. */
function checkWidth({ rows, names }: Table): Warning | undefined {
  const widthOf = ({ cells }: Row) => (cells.at(-1) === '' ? cells.length - 1 : cells.length);
  const wide = rows.filter((row) => widthOf(row) > names.length);
  if (wide.length === 0) return undefined;
  const what = `${wide.length} of the first ${rows.length} rows have more cells than the first line has names.`;
  const why = 'After a delimiter too many, each value is read under the name before its own.';
  const fix = 'Name every column in the first line, or quote values that hold the delimiter.';
  if (!nearlyAll(rows, (row) => wide.includes(row)) || areInPlace(rows, names))
    return { code: 'uneven_rows', what: `${what} ${why} ${fix}` };
  throw new Failure('invalid_input', { what, why, fix });
}

const kinds: Readonly<Partial<Record<Role, (text: string) => boolean>>> = {
  client: isAddress,
  method: isMethod,
  status: isStatus,
};

/** Whether columns whose values can be checked hold what their names say. */
function areInPlace(rows: readonly Row[], names: readonly string[]): boolean {
  const checked = Object.entries(kinds).flatMap(([role, holds]) => {
    const name = usualIn(names, roleNames[role as Role]);
    return name === undefined ? [] : [nearlyAll(rows, ({ cells }) => holds(cells[names.indexOf(name)] ?? ''))];
  });
  return checked.length > 0 && !checked.includes(false);
}

/** Several formats inspect the same head. */
const tables = new WeakMap<Buffer, Table>();

function evenness({ rows, names }: Table): number {
  const even = rows.filter(({ cells }) => cells.length === names.length).length;
  return even / Math.max(1, rows.length) + names.length / 1e6;
}

const PIECE_BYTES = 4096;

function sampleRows(head: Buffer, delimiter: string, joinsMs = false): Row[] {
  const rows: Row[] = [];
  const scanner = new RowScanner(delimiter, joinsMs);
  const cutter = rowCutter(scanner, (bytes, from, to) => {
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

function tableLayout(
  format: string | undefined,
  { delimiter, joinsMs, names, rows, hasNames }: Table,
  known: KnownFields = {},
): Layout {
  return {
    format: format ?? (delimiter === '\t' ? 'tsv' : 'csv'),
    noun: 'column',
    names,
    lines: rows.map(({ bytes }) => bytes),
    cutter: (named) => {
      const fields = [...named.values()];
      const columns = [...named.keys()].map((name) => names.indexOf(name));
      const scanner = new RowScanner(delimiter, joinsMs);
      let isScanned = false;
      return {
        cut: (bytes, from, to) => {
          if (!isScanned) scanner.scan(bytes, from, to);
          const data = names.length > 1 ? unwrap(scanner, bytes) : bytes;
          for (let i = 0; i < fields.length; i++) scanner.give(columns[i]!, data, fields[i]!);
          return undefined;
        },
        joinLines: (reader) => {
          isScanned = true;
          let isFirst = hasNames;
          return rowCutter(scanner, (bytes, from, to, number) => {
            if (!isFirst) reader.line(bytes, from, to, number);
            isFirst = false;
          });
        },
      };
    },
    known,
  };
}

/** A row quoted as a whole is one field: its content is scanned instead. Returns the bytes scanned last. */
function unwrap(scanner: RowScanner, bytes: Buffer): Buffer {
  if (scanner.fields !== 1 || !scanner.isQuoted(0)) return bytes;
  const inner = Buffer.from(scanner.text(0));
  scanner.scan(inner, 0, inner.length);
  return inner;
}

const FIELDS = /^#(?:fields\t|Fields:\s*)(.*)$/i;
/** The day of lines that have a clock time alone. */
const DAY = /^#Date:\s*(\S+)/i;

/** Field names in a comment, possibly repeated with other names: W3C extended (IIS, CloudFront) and Zeek. */
export function directives(format: string, directive: string): Recognise {
  return ({ lines }) => {
    const names = lines.flatMap((line) => namesIn(line) ?? []);
    const isThis = lines.some((line) => line.toString('latin1', 1, 1 + directive.length) === directive);
    if (names.length === 0 || !isThis) return undefined;
    const first = lines.map(namesIn).find((found) => found !== undefined) ?? [];
    return {
      format,
      noun: 'field',
      names: [...new Set([...names, ...(lines.some((line) => DAY.test(line.toString('latin1'))) ? ['date'] : [])])],
      lines,
      cutter: (fields) => directiveCutter(format, fields, first),
    };
  };
}

function namesIn(line: Buffer): readonly string[] | undefined {
  const list = line[0] === HASH ? FIELDS.exec(line.toString('utf8'))?.[1]?.trim() : '';
  return list ? list.split(/[ \t]+/) : undefined;
}

function directiveCutter(format: string, named: Slots, first: readonly string[]): Cutter {
  const [blanks, tabs] = [new RowScanner(' '), new RowScanner('\t')];
  const fields = [...named.values()];
  const placesIn = (all: readonly string[]) => [...named.keys()].map((name) => all.indexOf(name));
  const date = named.get('date');
  let names = first;
  let places = placesIn(first);
  let day = '';
  return {
    cut: (bytes, from, to) => {
      if (bytes[from] === HASH) {
        day = DAY.exec(bytes.toString('latin1', from, to))?.[1] ?? day;
        names = namesIn(bytes.subarray(from, to)) ?? names;
        places = placesIn(names);
        return '';
      }
      const scanner = bytes.subarray(from, to).includes(TAB) ? tabs : blanks;
      scanner.scan(bytes, from, to);
      for (let i = 0; i < places.length; i++) {
        const [start, end] = [scanner.fieldFrom(places[i]!), scanner.fieldTo(places[i]!)];
        // `-` means no value.
        if (end !== start + 1 || bytes[start] !== MINUS) scanner.give(places[i]!, bytes, fields[i]!);
      }
      if (date !== undefined && !names.includes('date')) date.setText(day);
      return scanner.fields * 2 < names.length ? `not a line of the format ${format}` : undefined;
    },
  };
}

const TAB = 0x09;
const HASH = 0x23;
const MINUS = 0x2d;
