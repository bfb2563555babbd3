// How the words of a command line are read, by the schema of a command that has one option of each kind.
import { expect, it } from 'vitest';
import { read } from '../../src/cli/parser.js';
import { choice, decimal, flag, perhaps, several, text, value, whole } from '../../src/report/command/command.js';
import { failureIn } from '../failures.js';

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

it.each<[what: string, words: string, given: object]>([
  ['arguments, and what has a default', 'a b', { file: ['a', 'b'], share: 0.5, live: false }],
  ['a value after a space or an equals sign', 'a --seed 7 --share=1', { file: ['a'], seed: 7, share: 1, live: false }],
  ['options between arguments', 'a --live b', { file: ['a', 'b'], share: 0.5, live: true }],
  ['a list', 'a --header x:1 -H y:2', { file: ['a'], share: 0.5, live: false, header: [['x:1'], ['y:2']] }],
  ['a dash, and words after two', '- -- --seed', { file: ['-', '--seed'], share: 0.5, live: false }],
  ['an option that needs no value', '--shape a', { file: ['a'], share: 0.5, live: false, shape: 'page' }],
  ['a value that an option does not need', '--shape text a', { file: ['a'], share: 0.5, live: false, shape: 'text' }],
])('the parser reads %s', async (_, words, given) => {
  expect((await readWords(words.split(' '))).given).toEqual(given);
});

it.each([
  ['', '<file> is missing.'],
  ['a --seed 7 --seed 8', '--seed was given more than once.'],
  ['a --seed -1', '--seed takes a whole number from 0 to 100, not "-1".'],
  ['a --seed 0x10', '--seed takes a whole number from 0 to 100, not "0x10".'],
  ['a --seed --live', '--seed takes a whole number from 0 to 100, and has none.'],
  ['a --share NaN', '--share takes a number from 0 to 1, not "NaN".'],
  ['a --pacing space', '--pacing takes spaced or at once, not "space".'],
  ['a --header x', '--header takes "Name: value", not "x".'],
  ['a --shape=tex', '--shape takes page or text, not "tex".'],
  ['a --live=yes', '--live takes no value.'],
  ['a --out=', '--out is empty.'],
  ['a --url=', '--url is empty.'],
  ['a --no-live', 'Unknown option: --no-live.'],
  ['--file a', '--file is no option.'],
  ['a --__proto__ x', 'Unknown option: --__proto__.'],
])('the parser refuses: %s', async (words, what) => {
  const reading = readWords(words.split(' ').filter((word) => word !== ''));
  expect(await failureIn(reading)).toMatchObject({ code: 'wrong_usage', what });
});

it('the parser refuses an empty argument, as an unset variable of the shell gives', async () => {
  expect(await failureIn(readWords(['a', '']))).toMatchObject({ code: 'wrong_usage', what: '<file> is empty.' });
});

// biome-ignore format: one case a line
it.each<[what: string, words: string[], command: string, files?: string[]]>([
  ['has what was given, in the order of the help', ['a.yaml', '--live', '--seed', '0'], 'weir simulate a.yaml --seed 0 --live'],
  ['has the files of this run', ['a.yaml', 'b.yaml'], 'weir simulate b.yaml', ['b.yaml']],
  ['has no default', ['a.yaml'], 'weir simulate a.yaml'],
  ['leaves out what does not change the result', ['a.yaml', '--out', 'x', '--shape'], 'weir simulate a.yaml'],
  ['quotes for a shell', ["it's $HOME.yaml", '--pacing', 'at once'], "weir simulate 'it'\\''s $HOME.yaml' --pacing 'at once'"],
  ['keeps a dash a value', ['a.log', '--spread=-5s'], 'weir simulate a.log --spread=-5s'],
  ['keeps a dash a file', ['--', '-a.log', '-'], 'weir simulate ./-a.log -'],
  ['has each value of a list', ['a', '-H', 'b: 1', '-H', 'c: 2'], "weir simulate a --header 'b: 1' --header 'c: 2'"],
  ['keeps a password to itself', ['a', '--url', 'http://me:se@cret@127.0.0.1:80/x'], 'weir simulate a --url http://127.0.0.1:80/x'],
])('the line that repeats a run %s', async (_, words, command, files) => {
  expect((await readWords(words)).line.repeat(files)).toBe(command);
});
