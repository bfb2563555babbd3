// What a command prints for people: tables as wide as the terminal, names with values, nothing that a terminal would obey.
import { alignedTable, type Terminal } from '../report/terminal-text.js';

/** Width, colour and characters of standard output. Colour: on a terminal, unless NO_COLOR is set; FORCE_COLOR asks for it anywhere. */
export function terminalAtHand(out: NodeJS.WriteStream = process.stdout): Terminal {
  const { NO_COLOR, FORCE_COLOR, TERM, LC_ALL, LC_CTYPE, LANG } = process.env;
  const isForced = FORCE_COLOR !== undefined && FORCE_COLOR !== '0';
  const locale = LC_ALL || LC_CTYPE || LANG || '';
  return {
    columns: out.columns ?? 100,
    color: isForced || (out.isTTY === true && !NO_COLOR && TERM !== 'dumb'),
    unicode: TERM !== 'linux' && (locale === '' || /utf-?8/i.test(locale)),
  };
}

export type Cell = string | number | undefined;

/**
 * Lines of a table without a line feed at the end. Columns whose cells are all numbers are aligned to the right. On a terminal the
 * widest column is cut to the width that there is; in a pipe nothing is.
 */
export function table(heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const columns = heads.map((title, column) => ({
    title,
    right: rows.every((row) => typeof row[column] !== 'string'),
  }));
  const width = process.stdout.columns ?? Number.POSITIVE_INFINITY;
  const cells = rows.map((row) => row.map(textOf));
  return alignedTable(columns, cells, width).join('\n');
}

/** `name  value` lines, indented, with the values one below the other. Those without a value are left out. */
export function facts(entries: readonly (readonly [name: string, value: Cell])[]): string {
  const given = entries.filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...given.map(([name]) => name.length));
  return given.map(([name, value]) => `  ${name.padEnd(width)}  ${textOf(value)}`).join('\n');
}

/** `1 contract`, `2 contracts`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The same lines without anything that a terminal would obey. */
export function readableLines(words: string): string {
  return words.replace(/[^\P{C}\n]|[\u2028\u2029]/gu, '\u00b7');
}

function textOf(cell: Cell): string {
  return cell === undefined ? '-' : String(cell);
}
