// What is printed cannot steer a terminal, wherever its text comes from; what programs read stays the same value.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { visible } from '../../../src/report/command/say.js';
import { weirHere } from '../../cli/command-line.js';
import { anyCharacter, forAll } from '../../draws.js';
import { temporaryFiles } from '../../left-behind.js';

/** What acts on a terminal, or is not seen in it: all but line feeds, tabs and the colours of reports. */
const UNSEEN = /[^\P{C}\n\t]|[\u2028\u2029]/u;

const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[(1|2|22|31|32|39)m`, 'g');

it.each([
  ['plain \u00e4 \u2714 \u{1f600}\n', 'plain \u00e4 \u2714 \u{1f600}\n'],
  ['\u001b[32mgood\u001b[39m', '\u001b[32mgood\u001b[39m'],
  ['\u001b]0;title\u0007\u001b[2J\u001b[8m', '\\u001b]0;title\\u0007\\u001b[2J\\u001b[8m'],
  ['a\u202eb\u2066c\u200bd\u200fe', 'a\\u202eb\\u2066c\\u200bd\\u200fe'],
  ['\u009b2J\u007f\r\0', '\\u009b2J\\u007f\\u000d\\u0000'],
  ['\u{e0041}', '\\udb40\\udc41'],
  ['\ud800', '\\ud800'],
])('%j is written as %j', (text, written) => {
  expect(visible(text)).toBe(written);
});

it('nothing unseen is left of any text, and JSON stays the same value', () => {
  forAll(
    [fc.string({ unit: anyCharacter }), fc.constantFrom('', '\u202e', '\u001b[2J', '\u0085', '\ud800')],
    (text, more) => {
      const value = { [more + text]: text + more };
      expect(visible(text + more).replaceAll(COLOUR, '')).not.toMatch(UNSEEN);
      expect(JSON.parse(visible(JSON.stringify(value)))).toEqual(value);
    },
  );
});

it('say.ts alone writes words on standard output and standard error', () => {
  // Files for programs: bytes as they are. The screen of a run draws by control characters.
  const own = ['say.ts', 'node-record.ts', 'report.ts'];
  const others = ['src/cli', 'src/report/command', 'src/tools'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !own.includes(name))
      .map((name) => join(folder, name)),
  );
  const writes = /process\.std(out|err)\.write\(/;
  expect(others.filter((path) => writes.test(readFileSync(path, 'utf8')))).toEqual([]);
});

const { file } = temporaryFiles();
const evil = '\u001b]0;x\u0007\u202e\u2066\u200f';
const rows = Array.from({ length: 200 }, (_, n) => `${1_431_857_103 + (n % 20)},a${evil}\n`);
const log = file('access.csv', `time,key\n${rows.join('')}`);
const question = `"Q${JSON.stringify(evil).slice(1, -1)}?"`;
const traffic = 'duration: 20\narrivals: [{ model: constant, rate: 1 }]\n';
const scenario = file('named.yaml', `question: ${question}\n${traffic}`);

it.each<[string, string[]]>([
  ['replay', ['replay', log, '--key', 'key', '--threshold', '3', '--out', 'none']],
  ['replay --compare', ['replay', log, '--key', 'key', '--threshold', '3', '--compare', 'nginx', '--out', 'none']],
  ['recommend', ['recommend', log, '--key', 'key', '--out', 'none']],
  ['simulate', ['simulate', scenario, '--out', 'none']],
  ['a failure', ['simulate', `nowhere${evil}.yaml`]],
  ['a failure as JSON', ['simulate', `nowhere${evil}.yaml`, '--json']],
  ['an unknown command', [`no${evil}`]],
  ['an unknown option', ['simulate', scenario, `--no${evil}`]],
])('what is printed of hostile names cannot steer a terminal: %s', async (_, args) => {
  const { out, err } = await weirHere(args);
  expect((out + err).length).toBeGreaterThan(20);
  expect((out + err).replaceAll(COLOUR, '')).not.toMatch(UNSEEN);
});
