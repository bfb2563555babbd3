// The text of an answer in JSON: a list of what is single, and a table of each list of objects.
import { isJsonObject } from '../../core/schema/value-faults.js';
import { facts, table } from './terminal.js';

type Fields = Readonly<Record<string, unknown>>;

/** How a field is written; undefined leaves it out. */
type Write = (name: string, value: unknown) => unknown;

/** An object of more fields has lines of its own. */
const MOST_INLINE = 6;

/** @param columns of tables, in this order (default: all) */
export function answerText(answer: Fields, write: Write, columns?: readonly string[]): string {
  const given = Object.entries(answer).flatMap(([name, value]) => {
    const written = value === null ? undefined : write(name, value);
    return written === undefined ? [] : [[name, written] as const];
  });
  const [first] = given;
  if (given.length === 1 && isJsonObject(first![1])) return answerText(first![1], write, columns);
  const single: [name: string, value: string][] = [];
  const parts: string[] = [];
  for (const [name, value] of given) {
    const rows = rowsOf(name, value);
    if (rows !== undefined) parts.push(tableOf(rows, write, columns));
    else if (isJsonObject(value) && Object.keys(value).length > MOST_INLINE)
      parts.push(`${titled(name)}\n${answerText(value, write, columns)}`);
    else single.push([titled(name), textOf(value, write)]);
  }
  return [facts(single), ...parts].filter((part) => part !== '').join('\n\n');
}

/** A list of objects; of objects by name, each with its name. */
function rowsOf(name: string, value: unknown): readonly Fields[] | undefined {
  if (Array.isArray(value)) return value.length > 0 && value.every(isJsonObject) ? value : undefined;
  if (!isJsonObject(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.length === 0 || !entries.every(([, one]) => isJsonObject(one))) return undefined;
  return entries.map(([key, one]) => ({ [name]: key, ...(one as Fields) }));
}

function tableOf(rows: readonly Fields[], write: Write, columns: readonly string[] | undefined): string {
  const names = columns ?? [...new Set(rows.flatMap(Object.keys))];
  const cellOf = (row: Fields, name: string) => {
    const value = row[name] === undefined || row[name] === null ? undefined : write(name, row[name]);
    return typeof value === 'number' || value === undefined ? value : textOf(value, write);
  };
  const shown = names.filter((name) => rows.some((row) => cellOf(row, name) !== undefined));
  return table(
    shown.map(titled),
    rows.map((row) => shown.map((name) => cellOf(row, name))),
  );
}

function textOf(value: unknown, write: Write): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map((one) => textOf(one, write)).join(', ') || 'none';
  if (!isJsonObject(value)) return String(value);
  const given = Object.entries(value).flatMap(([name, one]) => {
    const written = one === null ? undefined : write(name, one);
    return written === undefined ? [] : [`${name}=${textOf(written, write)}`];
  });
  return given.join(' ');
}

/** `last_transition_cycle` as words; a number of cycles is written with its unit. */
function titled(name: string): string {
  return name
    .replace(/_cycles$/, '')
    .replace(/_|(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase();
}
