// How the words of a command line are read, by the schema of a command that has one option of each kind.
import { expect, it } from 'vitest';
import { read } from '../../src/cli/parser.js';
import { choice, decimal, flag, perhaps, several, text, value, whole } from '../../src/report/command/command.js';
import { failureIn } from '../failures.js';
import { tablesBeside } from '../tables-beside.js';

const tables = tablesBeside(import.meta.url);

const options = {
  file: several(text('files', { place: true, required: true })),
  seed: whole(0, 100, 'a seed'),
  share: decimal('a share', { default: 0.5, minimum: 0, maximum: 1 }),
  header: several(
    value('"Name: value"', (line) => (line.includes(':') ? line.split(': ') : undefined), 'a header', { letter: 'H' }),
  ),
  pacing: choice(['spaced', 'at once'], 'a pacing'),
  shape: perhaps({ value: 'page', fits: /^(page|text)$/ }, 'page or text', 'a shape', { local: true }),
  url: text('a URL'),
  spread: text('a time'),
  live: flag('live'),
  out: text('a folder', { local: true }),
};

const simulate = {
  name: 'simulate',
  about: '',
  group: undefined,
  topics: [],
  load: async () => ({ options, examples: [], run() {} }),
};

async function readWords(words: readonly string[]) {
  return (await read(['simulate', ...words], [simulate]))!;
}

it.each<[what: string, words: string, given: object]>(tables.read)('reads %s', async (_, words, given) => {
  expect((await readWords(words.split(' '))).given).toEqual(given);
});

it.each<[words: string, what: string]>(tables.refused)('refuses: %s', async (words, what) => {
  const reading = readWords(words.split(' ').filter((word) => word !== ''));
  expect(await failureIn(reading)).toMatchObject({ code: 'wrong_usage', what });
});

it('refuses an empty argument, as an unset variable of the shell gives', async () => {
  expect(await failureIn(readWords(['a', '']))).toMatchObject({ code: 'wrong_usage', what: '<file> is empty.' });
});

it.each<[what: string, words: string[], command: string, files?: string[]]>(tables.repeated)(
  'the line that repeats a run %s',
  async (_, words, command, files) => {
    expect((await readWords(words)).line.repeat(files)).toBe(command);
  },
);
