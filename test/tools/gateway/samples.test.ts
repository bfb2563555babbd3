// Unusual and legal files of every format: what each path meets, or the line that says why not.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { FoundLimiter } from '../../../src/tools/gateway/found.js';
import { limitersInFiles } from '../../../src/tools/gateway/limits-in.js';
import { holds } from '../../../src/tools/gateway/request-condition.js';
import { isInstalled } from '../../harness/live/real-servers.js';
import { temporaryFolder } from '../../left-behind.js';

/** What is expected of a sample. Its other fields are its files. */
const expectations = {
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
const fields = [
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
const samples = Object.fromEntries(
  readdirSync(folder).map((name) => {
    const some: Record<string, Sample> = parse(readFileSync(new URL(name, folder), 'utf8'));
    return [name.replace('.yaml', ''), Object.entries(some)];
  }),
);

const isExpectation = (name: string) => name in expectations || (fields as readonly string[]).includes(name);

function filesOf(sample: Sample) {
  const files = Object.entries(sample).filter(([name]) => !isExpectation(name));
  return files.map(([name, text]) => ({ name, text: String(text) }));
}

describe.each(Object.entries(samples))('%s', (_, some) => {
  it.each(some)('%s', (__, sample) => {
    const found = limitersInFiles(filesOf(sample));
    const { meets = {}, says = [], unused = [] } = sample;
    const met = Object.keys(meets).map((url) => {
      const [host = '', path = ''] = [url.slice(0, url.indexOf('/')), url.slice(url.indexOf('/'))];
      const request = { host: host || undefined, path, ...sample.request };
      const refusing = found.appliesTo(request).filter(({ refuses }) => !refuses || holds(refuses, request));
      return [url, refusing.map(({ where }) => where)];
    });
    const seen: Record<string, unknown> = {
      meets: Object.fromEntries(met),
      request: sample.request,
      keys: found.limiters.map(({ key }) => key.parts ?? null),
      limits: found.limiters.map(({ limit }) => limit ?? null),
      says: found.notUnderstood.map(({ line, file, what }, i) => {
        const [said, whole] = [says[i], `${file}: ${what}`];
        return Array.isArray(said) ? [line, whole.includes(said[1]) ? said[1] : whole] : line;
      }),
      unused: found.notApplied.map(({ name, line }, i) => (typeof unused[i] === 'string' ? name : line)),
      places: found.places.map(({ limiters }) => limiters.map(({ name }) => name)),
      ...Object.fromEntries(fields.map((field) => [field, found.limiters.map((one) => one[field] ?? null)])),
    };
    const expected = Object.entries(sample).filter(([name]) => isExpectation(name));
    expect(Object.fromEntries(expected.map(([name]) => [name, seen[name]]))).toEqual(Object.fromEntries(expected));
    expect(found.notApplied.every(({ line }) => line > 0)).toBe(true);
  });
});

describe('a file with CRLF, a mark of its order of bytes, and empty lines at its end', () => {
  it.each(Object.values(samples).flat())('%s', (_, sample) => {
    const read = (textOf: (text: string) => string) => {
      const files = filesOf(sample).map(({ name, text }) => ({ name, text: textOf(text) }));
      const { limiters, notUnderstood, notApplied } = limitersInFiles(files);
      // A block that is not closed is said of the end.
      const lines = notUnderstood.map(({ line, what }) => (what.includes('not closed') ? what : line));
      return { limiters, lines, unused: notApplied.map(({ line }) => line) };
    };
    expect(read((text) => `\uFEFF${text}\n\n`.replaceAll('\n', '\r\n'))).toEqual(read((text) => text));
  });
});

/** What the program itself says of a file. */
const inHttp = (text: string) => `events {}\n${/^(?:http|stream) \{/m.test(text) ? text : `http {\n${text}\n}`}`;
describe.each([
  ['nginx', 'nginx', true, ['-t', '-c'], inHttp],
  ['nginx-refused-by-nginx', 'nginx', false, ['-t', '-c'], inHttp],
  ['haproxy', 'haproxy', true, ['-c', '-f'], (text: string) => `${text}\n`],
] as const)('%s: %s agrees', (group, program, isLegal, words, whole) => {
  const alone = samples[group]!.filter(([, sample]) => filesOf(sample).length === 1);
  it.runIf(isInstalled(program)).each(alone)('%s', (_, sample) => {
    const file = join(temporaryFolder(), 'sample.conf');
    writeFileSync(file, whole(filesOf(sample)[0]!.text));
    const { stderr } = spawnSync(program, [...words, file], { encoding: 'utf8' });
    const faults = stderr
      .split('\n')
      .filter((line) => /\[emerg\]|\[ALERT\]/.test(line) && !/bind\(\)|open\(\)|directive "stream"/.test(line));
    expect(faults.length === 0, faults.join('\n')).toBe(isLegal);
  });
});
