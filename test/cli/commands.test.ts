// What every command has, from its data alone: help, completion, the check of its options, the line that repeats it.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.js';
import { read } from '../../src/cli/parser.js';
import { topics } from '../../src/cli/topics/topics.js';
import { VERSION } from '../../src/core/version.js';
import { type Command, entriesOf, type Option, optionName, written } from '../../src/report/command/command.js';
import { failureIn } from '../failures.js';
import { refuses, weirHere } from './command-line.js';

const COMPLETING = '--get-yargs-completions';

const all = await Promise.all(commands.map(async ({ name, load }) => [name, (await load()) as Command] as const));

/** The shortest words that have this option, with what it needs. */
function wordsWith({ options }: Command, names: readonly string[]): string[] {
  const known = new Map(entriesOf(options));
  const needed = (name: string, above: readonly string[] = []): string[] => {
    const next = known.get(name)!.needs;
    return [name, ...(next === undefined || above.includes(next) ? [] : needed(next, [...above, name]))];
  };
  const required = [...known].filter(([, option]) => option.required).map(([name]) => name);
  const wanted = new Set([...required, ...names.flatMap((name) => needed(name))]);
  return [...known].flatMap(([name, option]) => (wanted.has(name) ? argumentOf(name, option) : []));
}

function argumentOf(name: string, option: Option): string[] {
  const { type, place, bare, rest } = option;
  if (place) return [...(rest ? ['--'] : []), textFor(option)];
  const word = written(name, option);
  return type === 'boolean' || bare !== undefined ? [word] : [word, textFor(option)];
}

/** A text that the option reads. */
function textFor({ items, ...option }: Option): string {
  const { enum: words, type, minimum = 0, exclusiveMinimum, maximum = 1, read } = { ...option, ...items };
  if (words !== undefined) return words.at(-1)!;
  if (type === 'integer') return String(minimum);
  if (type === 'number') return String(exclusiveMinimum === undefined ? minimum : maximum);
  // biome-ignore format: numbers, pairs, times, addresses, then words
  const texts = [
    '7', '500,503', 'Name: x', 'status=7', 'S=7', 'rows=7', '5s', '7d', '1%', '2026-01-01T00:00:00Z',
    'http://127.0.0.1:1', '10.0.0.0/8', 'kong', 'remote', 'plain-http', 'lost-rows',
  ];
  const fits = texts.find((text) => {
    try {
      return read?.(text, '--x') !== undefined;
    } catch {
      return false;
    }
  });
  return fits ?? 'x';
}

const readWords = async (name: string, words: readonly string[]) =>
  (await read(
    [...name.split(' '), ...words],
    commands.filter((one) => one.name === name),
  ))!;

async function refusalOf(name: string, words: readonly string[]): Promise<string> {
  const failure = await failureIn(readWords(name, words));
  expect(failure?.code ?? 'wrong_usage').toBe('wrong_usage');
  return failure?.what ?? 'not refused';
}

/** Options of several commands: what each refuses is asked of the first. */
const refused = new Set<Option>();

describe.each(all)('weir %s', (name, command) => {
  const options = entriesOf(command.options);

  it('the help of a command says what it does, and shows every option and an example', async () => {
    const { code, out } = await weirHere([...name.split(' '), '--help']);
    expect(code).toBe(0);
    expect(out).toMatch(/^weir .+\n\n\w/);
    expect(out).toMatch(/Examples:\n {2}weir \w/);
    for (const [key, option] of options) {
      expect(option.description).not.toBe('');
      expect(out).toContain(option.place ? `  ${key} ` : written(key, option));
    }
  });

  it('a command has examples of its own, and refuses none of them', async () => {
    expect(command.examples.filter(([words]) => words.includes(name)).length).toBeGreaterThan(0);
    for (const [words] of command.examples) {
      if (!words.startsWith(`${name} `) || /[…'"]/.test(words)) continue;
      const [own = ''] = words.slice(name.length + 1).split(/ (?:[|<>]|>>|&&) /);
      expect(await refusalOf(name, own.split(' ')), words).toBe('not refused');
    }
  });

  it('completion offers exactly the options of a command', async () => {
    const { out } = await weirHere([COMPLETING, 'weir', ...name.split(' '), '--'], { SHELL: 'bash' });
    const found = out.trimEnd().split('\n');
    const shown = options.filter(([, { place }]) => !place);
    expect(found.filter((word) => word !== '')).toEqual(shown.map(([key]) => `--${optionName(key)}`));
  });

  it('a command takes each of its options, and repeats those that change the result', async () => {
    for (const [key, option] of options) {
      const words = wordsWith(command, [key]);
      const { given, line } = await readWords(name, words);
      expect([key, key in given, line.has(key)]).toEqual([key, true, true]);
      const repeated = line.repeat().slice(`weir ${name}`.length);
      if (!option.place) expect(repeated.includes(` ${written(key, option)}`), key).toBe(!option.local);
    }
  });

  it('a command refuses values out of bounds, unknown options and what is given twice', async () => {
    for (const [key, option] of options) {
      if (refused.has(option)) continue;
      refused.add(option);
      const { type, minimum, maximum, bare, enum: words } = option.items ?? option;
      const base = wordsWith(command, [key]);
      const out =
        type === 'integer'
          ? ['1.5', 'x', '', String(minimum! - 1)]
          : type === 'number'
            ? ['x', '1e999']
            : words
              ? ['?']
              : [];
      if (type === 'integer' && maximum! < Number.MAX_SAFE_INTEGER) out.push(String(maximum! + 1));
      for (const bad of out) {
        const at = base.indexOf(written(key, option));
        if (!option.place) expect(await refusalOf(name, base.with(at + 1, bad)), `${key} ${bad}`).toContain(' takes ');
      }
      if (option.place || option.type === 'array') continue;
      expect(await refusalOf(name, [...base, ...argumentOf(key, option)])).toContain('more than once');
      if (type !== 'boolean' && bare === undefined)
        expect(
          await refusalOf(name, [...base.slice(0, base.indexOf(written(key, option))), written(key, option)]),
        ).toContain('and has none');
    }
    expect(await refusalOf(name, ['--nothing-like-it'])).toBe('Unknown option: --nothing-like-it.');
  });

  it('a command refuses an option that has no effect, and names only options that it has', async () => {
    const known = new Set(options.map(([key]) => key));
    for (const [key, option] of options) {
      const { needs, without = [] } = option;
      expect([...(needs ? [needs] : []), ...without].filter((other) => !known.has(other))).toEqual([]);
      const bare = [...wordsWith(command, []), ...argumentOf(key, option)];
      if (needs !== undefined) expect(await refusalOf(name, bare), key).toMatch(/ has no effect without /);
      for (const other of without)
        expect(await refusalOf(name, wordsWith(command, [key, other])), `${key} ${other}`).toMatch(
          / has no effect with/,
        );
    }
  });
});

it('the commands with most options have no more of them', () => {
  const counts = all.map(([name, { options }]) => [name, entriesOf(options).filter(([, { place }]) => !place).length]);
  expect(Object.fromEntries(counts)).toMatchObject({ replay: 20, recommend: 15, sweep: 8, simulate: 9 });
});

it('weir --help lists at most 16 commands in four groups, and the exit codes', async () => {
  const { code, out } = await weirHere(['--help']);
  const names = [...out.matchAll(/^ {2}(\w[\w-]*)(?: …)? {2,}\w/gm)].map(([, name]) => name);
  expect(code).toBe(0);
  expect(names.length).toBeLessThanOrEqual(16);
  for (const title of ['ask', 'run', 'node', 'more']) expect(out).toMatch(new RegExp(`^${title}: `, 'm'));
  const [, codes = ''] = out.split('Exit codes: ');
  expect(codes.match(/\d+/g)?.map(Number)).toEqual([0, 1, 2, 3, 4, 5, 70, 74, 130, 143]);
  expect(
    out
      .match(/weir (\w+) ?.* {2}/g)!
      .slice(0, 4)
      .map((line) => line.split(' ')[1]),
  ).toEqual(['recommend', 'simulate', 'load', 'play']);
  expect((await weirHere([])).out).toBe(out);
});

it('weir help rules lists every exit code, those of signals too', async () => {
  const [, table = ''] = (await weirHere(['help', 'rules'])).out.split('\nExit codes\n');
  const codes = [...table.matchAll(/^ *(\d+) {2}/gm)].map(([, code]) => Number(code));
  expect(codes).toEqual([0, 1, 2, 3, 4, 5, 70, 74, 130, 143]);
});

it('weir node --help lists every command of a node, and no other', async () => {
  const { out } = await weirHere(['node', '--help']);
  for (const [name] of all) expect(out.includes(`weir ${name} `)).toBe(name.startsWith('node '));
});

it('weir help commands names every command and every option', async () => {
  const { out } = await weirHere(['help', 'commands']);
  for (const [name, { options }] of all) {
    expect(out).toContain(`weir ${name}`);
    for (const [key, option] of entriesOf(options)) if (!option.place) expect(out).toContain(written(key, option));
  }
});

// With the nearest.
refuses(
  [],
  [
    ['simulat', 'simulate'],
    ['sim', 'simulate'],
    ['rec', 'recommend'],
    ['mnt', 'node mint'],
    ['simulate x.yaml --sed 3', '--seed'],
    ['node gat edge', 'node gate'],
    ['node keys mak', 'node keys make'],
    ['help scenaros', '`weir help scenarios`'],
    ['help rule', '`weir help rules`'],
    ['help clients', '`weir help client`'],
    ['help topics', 'The topics are on-call, everybody-limited,'],
    ['help gateways kong', 'The topic gateways takes no further word.'],
    ['help commands simulate', 'The topic commands takes no further word.'],
    ['help ', 'There is no topic and no command "".'],
    ['help -5', 'There is no topic and no command "-5".'],
  ],
);

it.each(['--version', '-V', 'version'])('weir %s prints the version', async (word) => {
  expect(await weirHere([word])).toMatchObject({ code: 0, out: `${VERSION}\n` });
});

it('weir help takes the name of a topic in any case, and --help as nothing', async () => {
  const [rules, loud] = await Promise.all([weirHere(['help', 'rules']), weirHere(['help', 'RULES'])]);
  expect([loud.code, loud.out]).toEqual([0, rules.out]);
  const fields = await Promise.all(['limiter params', 'limiter.params'].map((path) => weirHere(`help fields ${path}`)));
  expect(fields.map(({ out }) => out.split('\n')[0])).toEqual(Array(2).fill('limiter.primitive.params'));
  expect((await weirHere(['help', '--help'])).out).toBe((await weirHere(['--help'])).out);
});

const pages = topics.filter(({ path }) => path !== undefined);
it.each(pages.map(({ name, path }) => [name, path!]))('weir help %s prints its own page, %s', async (name, path) => {
  const [title = ''] = readFileSync(path, 'utf8').match(/(?<=^# ).*/m) ?? [];
  const { out } = await weirHere(['help', name]);
  expect(out.startsWith(title)).toBe(true);
});

it.each([
  ['n replicas', 'replicas'],
  ['does my limiter work', 'assertion'],
])('weir help takes a question in the words that people type: %s', async (words, name) => {
  const [asked, named] = await Promise.all([weirHere(`help ${words}`), weirHere(['help', name])]);
  expect([asked.code, asked.out]).toEqual([0, named.out]);
});

// What was typed, a candidate.
it.each([
  ['sim', 'simulate'],
  ['node ga', 'gate'],
  ['node keys ma', 'make'],
  ['simulate --se', '--seed'],
  ['load a.yaml --method PO', 'POST'],
  ['node gate --pe', '--peek'],
  ['help sce', 'scenarios'],
])('weir %s offers %s', async (typed, candidate) => {
  const { out } = await weirHere([COMPLETING, 'weir', ...typed.split(' ')], { SHELL: 'bash' });
  expect(out.split('\n')).toContain(candidate);
});
