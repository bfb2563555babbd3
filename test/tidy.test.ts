// Words and calls that are banned, as a test: it reads the sources, and names the replacement. The structure has its own: structure.test.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { topics } from '../src/cli/topics/topics.js';
import { VERSION } from '../src/core/version.js';

const files = readdirSync('src', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name))
  .sort();
const tests = readdirSync('test', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => join(entry.parentPath, entry.name));
const textOf = (path: string) => readFileSync(path, 'utf8');
/** The sources without comments and strings: what is left is code. */
const code = new Map(
  files.map((path) => [
    path,
    textOf(path)
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/(^|[^:'"`])\/\/.*$/gm, '$1'),
  ]),
);

it.each<[what: string, pattern: RegExp, instead: string, allowed: RegExp]>([
  ['Date.now', /\bDate\.now\b/, 'take the clock you are given', /^src\/core\/time\/wall\.ts$/],
  [
    'performance.now',
    /\bperformance\.(now|timeOrigin)\b/,
    'take the clock you are given',
    /^src\/core\/time\/wall\.ts$/,
  ],
  ['new Date()', /\bnew Date\(\)/, 'take the clock you are given', /^src\/core\/time\/wall\.ts$/],
  [
    'timers',
    /(?<!\.)\b(setTimeout|setInterval)\(/,
    'the agenda of the clock',
    /^src\/(core\/time\/wall\.ts|(web\/|tools\/(play\/|\w+\/page\.ts)))/,
  ],
  ['Math.random', /\bMath\.random\b/, 'RandomStream of math/random.ts', /^$/],
  [
    'Math.sin and the like',
    /\bMath\.(sin|cos|tan|log|log2|log10|log1p|exp|expm1|pow)\(/,
    'math/elementary.ts: the same bits on every engine',
    /^src\/(report\/|cli\/)/,
  ],
  [
    'recursive mkdir',
    /\bmkdir(Sync)?\([^)]*recursive/,
    'makeFolder of store/make-folder.ts: Node never returns where a folder such as /proc refuses',
    /^src\/schemas\.ts$/,
  ],
  ['eval', /\b(eval|new Function)\(/, 'data', /^$/],
  [
    'console',
    /\bconsole\.(log|error|warn)\(/,
    'process.stdout of the command, or the logger of the node',
    /^src\/(cli|web|play)\//,
  ],
  // A private constructor has no # form. What is sent and observed, and the clients, still have the old one.
  [
    'private members',
    /\bprivate (?!constructor\b)[a-zA-Z]/,
    '#name',
    /^src\/(harness\/live\/(event-listener|http-pool|in-flight|live-clients|live-session|schedule|stress|weir-target)|harness\/clients\/client-tally|node\/ownership|api\/keys|cli\/node-machines)\.ts$/,
  ],
  ['default export', /^export default\b/m, 'a named export', /worker\.ts$/],
])('sources have no %s but where it is allowed', (_, pattern, instead, allowed) => {
  const found = files.filter((path) => !allowed.test(path) && pattern.test(code.get(path)!));
  expect(found, `use instead: ${instead}`).toEqual([]);
});
it('no test has a time limit that a busy machine exceeds', () => {
  const limit = /\bvi\.wait(?:For|Until)\(|\{ timeout: [1-9]\d?_000 \}|^ *\}, [1-9]\d{1,2}_000\);$/m;
  // Asks for a package of the registry, and goes without it.
  const found = tests.filter((path) => path !== 'test/node/generated-client.long.test.ts' && limit.test(textOf(path)));
  expect(found, 'use instead: the limits of vitest.config.ts, and expect.poll').toEqual([]);
});

const pages = topics.flatMap(({ path }) => path ?? []);
const sourcePages = readdirSync('src', { recursive: true })
  .map((name) => join('src', String(name)))
  .filter((path) => /(README|DECISIONS)\.md$/.test(path));
const texts = [...new Set(['README.md', ...sourcePages, ...pages])];
/** The strings of a source and the text between its elements, a line for each: comments are for another test. */
const stringsOf = (path: string) => {
  // In scripts and statements of databases, lines that begin with two dashes are comments, too.
  const own = code.get(path)!.replace(/^\s*--.*$/gm, '');
  const strings = own.match(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? [];
  const between = path.endsWith('.tsx') ? (own.match(/>[^<>{}=;()]*[A-Za-z][^<>{}=;()]*</g) ?? []) : [];
  return [...strings, ...between].join('\n');
};
const comments = files.map((path) => {
  const found = textOf(path).match(/\/\*[\s\S]*?\*\/|(?<=^|[^:'"`])\/\/.*$/gm) ?? [];
  return [path, found.join('\n')] as const;
});
const said = [
  ...texts.map((path) => [path, textOf(path)] as const),
  ...files.map((path) => [path, stringsOf(path)] as const),
  ...comments,
];
function expectUnsaid(where: typeof comments, pattern: RegExp, instead: string) {
  const found = where.flatMap(([path, text]) =>
    text.split('\n').flatMap((line) => (pattern.test(line) ? [`${path}: ${line.trim().slice(0, 160)}`] : [])),
  );
  expect(found, `use instead: ${instead}`).toEqual([]);
}
it.each([
  ['so many', /\bso many\b/i, 'a number, "this many", or the name of the figure'],
  [
    'for itself',
    /\b(key|address|client|window|node)s? (each )?(by|for) itself\b|\bfor itself\b/i,
    'separately, or per key',
  ],
  ['a key holds', /\b(both|keys?|it) hold(s)? (for a while|for \d|until)|how long both hold/i, 'is valid'],
  [
    'tell, told',
    /\b(tells?|told) (a |the |no |what|them|an )|\btold (apart|too)|\bwere told\b/i,
    'send, say, state, distinguish',
  ],
  ['whoever, nobody', /\b(whoever|nobody)\b/i, 'anyone who, or the passive'],
  [
    'Who can … can',
    /(^|[.:;] )(w|W)ho (can|could|has|holds|goes|wants|comes|reads|writes) [^?\n]*\b(can|is|still|does|will|owns)\b[^?\n]*[.;]/m,
    'anyone who; a client that',
  ],
  ['a cycle, for per cycle', /\b(requests|retries|limited|admitted),? a cycle\b/i, 'per cycle'],
  ['in place of', /\bin place of (threads|this machine|\$\{|a contract)/i, 'instead of'],
  [
    'lines that are no requests',
    /\b(is|are) no (requests|timestamps?)\b|(?<!There )\bis no request\b/i,
    'are not requests',
  ],
  ['meant so', /\bmeant (so|as)\b|\bhardly (read|meant|one)\b/i, 'likely mistakes, probably misread'],
  ['in silence, in vain', /\bin (silence|vain)\b/i, 'without saying so; wasted, repeats'],
  ['explain too much', /\bno order of counting\b|\btoo much would explain\b/i, 'no counting order can explain'],
  ['far above all', /\bfar above all\b|\bout of everything\b/i, 'far more than any other'],
  ['goes on hammering', /\bgoes? on hammering\b/i, 'keeps hammering'],
  ['surroundings', /\bsurroundings\b/i, 'neighbours'],
  ['Expected of it', /\bExpected of it\b|\bnot so far\b/, 'Expectations; not yet'],
  ['was ended', /\bwas ended\b|\bmints another\b/i, 'revoked; get one with `weir node mint`'],
  ['with less to do', /\bwith less to do\b/i, 'idle'],
  ['Nothing was expected', /Nothing was expected/, 'No expectations set'],
  ['N contracts limit', /\} (limit|limits)'|contracts? limits?\b/, 'are limiting'],
  ['one of those who', /\bthose who\b/i, 'clients that, people who'],
  ['figures are closed', /\bfigures are closed\b/i, 'metrics are off'],
  ['from outside', /\bfind out from outside\b|\bstands behind a URL\b/i, 'identify by probing'],
] as const)('no text says: %s', (_, pattern, instead) => expectUnsaid(said, pattern, instead));

it.each([
  ['tell, told', /\b(tells?|told|telling)\b/i, 'send, say, state, distinguish'],
  ['stand, stood', /\b(stands?|standing|stood)\b/i, 'is, has, replaces, precedes'],
  ['somebody, whoever', /\b(somebody|nobody|whoever|everyone)\b/i, 'the role: caller, client, reader'],
  ['who, without a noun', /\b(for|of|only|so) who\b/i, 'a caller that; where'],
  ['for good, of late', /\bfor good\b|\bof late\b/i, 'permanently; recently'],
  ['comes to', /\b(comes?|came) to\b/i, 'is, reaches, amounts to'],
  ['took down, taken down', /\b(takes?|took|taken) down\b/i, 'keeps, records, counts'],
] as const)('no comment says: %s', (_, pattern, instead) => expectUnsaid(comments, pattern, instead));

it('the version of the program is that of the package', () => {
  expect(VERSION).toBe(JSON.parse(textOf('package.json')).version);
});

it('every package of the lock file is pinned by its integrity', () => {
  const { packages } = JSON.parse(textOf('package-lock.json')) as {
    packages: Record<string, { integrity?: string; link?: true }>;
  };
  const loose = Object.entries(packages).filter(
    ([name, { integrity, link }]) => name !== '' && !link && !integrity?.startsWith('sha512-'),
  );
  expect(loose.map(([name]) => name)).toEqual([]);
});

it('each stage of the marathon, and each table, names test files that are there', () => {
  const programs = ['test/marathon.mjs', 'test/tables.mjs'].map(textOf).join('');
  const stages = [...programs.matchAll(/'([a-z-]+\/[a-z-]+(?: [a-z-]+\/[a-z-]+)*)'/g)];
  const ends = stages.flatMap(([, names = '']) => names.split(' ').map((name) => `/${name}.`));
  expect(ends.filter((end) => !tests.some((path) => path.endsWith('.test.ts') && `/${path}`.includes(end)))).toEqual(
    [],
  );
  expect(ends.length).toBeGreaterThan(40);
});
