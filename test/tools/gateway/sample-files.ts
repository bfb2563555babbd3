// The files of samples/, with what is expected of each.
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { FoundLimiter } from '../../../src/tools/gateway/found.js';

/** What is expected of a sample. Its other fields are its files. */
export const expectations = {
  /** By path, with a host before it if it has one: the places of the limits that a request meets. */
  meets: {} as Record<string, string[]>,
  /** What is known of each request besides its path. */
  request: {} as object,
  /** Null: not in an access log. */
  keys: [] as (string[] | null)[],
  limits: [] as (object | null)[],
  /** What is not understood: its line, or its line and a part of `file: words`. */
  says: [] as (number | [line: number, what: string])[],
  /** What is defined and not applied: its line or its name. */
  unused: [] as (number | string)[],
  /** The names of the limiters of each place. */
  places: [] as string[][],
};
/** Null: undefined. */
export const fields = [
  'name',
  'file',
  'line',
  'where',
  'status',
  'isDryRun',
  'counter',
] as const satisfies (keyof FoundLimiter)[];

type Sample = Partial<typeof expectations> & Record<string, unknown>;

const folder = new URL('samples/', import.meta.url);
export const samples = Object.fromEntries(
  readdirSync(folder).map((name) => {
    const some: Record<string, Sample> = parse(readFileSync(new URL(name, folder), 'utf8'));
    return [name.replace('.yaml', ''), Object.entries(some)];
  }),
);

export const isExpectation = (name: string) => name in expectations || (fields as readonly string[]).includes(name);

export function filesOf(sample: Sample) {
  const files = Object.entries(sample).filter(([name]) => !isExpectation(name));
  return files.map(([name, text]) => ({ name, text: String(text) }));
}
