// Text output: tables that fit the terminal, and lists of names with values.
import { alignedTable, type Terminal, wrapped } from '../terminal-text.js';

/** Colour is on for a terminal unless NO_COLOR is set; FORCE_COLOR turns it on. */
export function terminalAtHand(): Terminal {
  const { columns, isTTY } = process.stdout;
  const { NO_COLOR, FORCE_COLOR, TERM, LC_ALL, LC_CTYPE, LANG } = process.env;
  const isForced = FORCE_COLOR !== undefined && FORCE_COLOR !== '0';
  const locale = LC_ALL || LC_CTYPE || LANG || '';
  return {
    columns: columns ?? 100,
    uncut: columns === undefined,
    color: isForced || (isTTY === true && !NO_COLOR && TERM !== 'dumb'),
    unicode: TERM !== 'linux' && (locale === '' || /utf-?8/i.test(locale)),
  };
}

const names = new Set(['key', 'contract', 'machine', 'name']);

type TableCell = string | number | undefined;

/** Right-aligns numbers. On a terminal the widest column is cut to fit; in a pipe nothing is cut. */
export function table(heads: readonly string[], rows: readonly (readonly TableCell[])[]): string {
  const columns = heads.map((title, column) => ({
    title,
    right: rows.every((row) => typeof row[column] !== 'string'),
    isName: names.has(title),
  }));
  const width = process.stdout.columns ?? Number.POSITIVE_INFINITY;
  const cells = rows.map((row) => row.map(textOf));
  return alignedTable(columns, cells, width).join('\n');
}

export function facts(entries: readonly (readonly [name: string, value: TableCell])[]): string {
  const given = entries.filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...given.map(([name]) => name.length));
  const most = Math.max(20, (process.stdout.columns ?? Number.POSITIVE_INFINITY) - width - 4);
  const linesOf = (name: string, value: TableCell) =>
    wrapped(textOf(value), most).map((line, index) => `  ${(index === 0 ? name : '').padEnd(width)}  ${line}`);
  return given.flatMap(([name, value]) => linesOf(name, value)).join('\n');
}

function textOf(cell: TableCell): string {
  return cell === undefined ? '-' : String(cell);
}
