// The structure as a ratchet: each figure has a bound that is only lowered. It reads the sources, and says what to do instead.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { parseAst } from 'vitest/node';
import * as endpoints from '../src/api/client/endpoints.js';
import { commands, groups } from '../src/cli/commands.js';
import { getOrInsert } from '../src/core/math/get-or-insert.js';
import { features } from '../src/core/schema/optional-package.js';
import { entriesOf } from '../src/report/command/command.js';

const sourcesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
const files = sourcesIn('src');
const tests = sourcesIn('test');
/** The source of a module that is imported by this path. */
const sourceOf = (path: string) =>
  [path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx')].find((one) => files.includes(one)) ?? path;
const texts = new Map<string, string>();
const textOf = (path: string) => getOrInsert(texts, path, () => readFileSync(path, 'utf8'));
const linesOf = (path: string) => textOf(path).split('\n').length - 1;
/** The folder of src, the tool, or the file, that a source belongs to. */
function folderOf(path: string): string {
  const [folder = '', tool] = relative('src', path).split('/');
  return folder === 'tools' ? `tools/${tool}` : folder;
}
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

/** A bound that its figure has left behind would let it grow again. */
function expectBound(figure: number, bound: number, slack: number, what: string, instead: string) {
  expect(figure, `${what}: ${figure}, at most ${bound}. ${instead}`).toBeLessThanOrEqual(bound);
  expect(figure, `${what}: ${figure}. Lower its bound of ${bound} to that.`).toBeGreaterThanOrEqual(bound - slack);
}

/** The failure names each place, and says what to do. */
function expectNone(found: readonly string[], instead: string) {
  expect(found, [instead, ...found].join('\n')).toEqual([]);
}

/** Each is lowered by the change that earns it. A change that mends a fault or adds what was asked for may raise lines, and says by how many. */
const most = {
  folders: {
    api: 3052,
    build: 58,
    cli: 4564,
    core: 15_527,
    harness: 23_119,
    node: 18_387,
    report: 5503,
    'tools.ts': 10,
    'tools/expect': 268,
    'tools/gateway': 10_025,
    'tools/identify': 8291,
    'tools/middleware': 674,
    'tools/play': 2538,
    'tools/recommend': 2607,
    'tools/sweep': 2137,
    'tools/workers': 1158,
    web: 2575,
    'weir.ts': 152,
  } as Readonly<Record<string, number>>,
  src: 100_645,
  test: 58_241,
  longLines: 107,
  commands: 15,
  options: 80,
  routes: 42,
  longFunctions: 0,
  manyParameters: 5,
  deciding: 14,
};

it.each([...new Set(files.map(folderOf))])('src/%s grows by no line beyond its bound', (folder) => {
  const lines = sum(files.filter((path) => folderOf(path) === folder).map(linesOf));
  const bound = most.folders[folder] ?? 0;
  const instead = 'Remove a concept or a file of this folder first; longer lines are no way.';
  expectBound(lines, bound, Math.max(40, bound / 25), `Lines of src/${folder}`, instead);
});

it('src grows by no line beyond its bound', () => {
  expectBound(sum(files.map(linesOf)), most.src, 400, 'Lines of src', 'Remove what serves nothing any more.');
});

it('test grows by no line beyond its bound', () => {
  const instead = 'Say it in a table that there is; a test goes only with its promise.';
  expectBound(sum(tests.map(linesOf)), most.test, 400, 'Lines of test', instead);
});

it('a file is one sitting: at most 400 lines', () => {
  expectNone(
    files.filter((path) => linesOf(path) > 400),
    'Give a part of it, with a name of its own, a file.',
  );
});

it('a line has at most 160 characters', () => {
  const long = files.flatMap((path) =>
    textOf(path)
      .split('\n')
      .flatMap((line, index) => (line.length > 160 ? [`${path}:${index + 1}`] : [])),
  );
  expectBound(long.length, most.longLines, 0, 'Lines over 160 characters', `Break them: ${long.join(', ')}`);
});

/** Verbs with which a title would begin that only a `describe` completes. */
const verbs =
  'is|are|was|has|have|does|do|can|may|must|cannot|says|tells|takes|gives|shows|lists|refuses|holds|keeps|goes|finds|ends|leaves|begins|decides|sends|lets|reads|runs|passes|follows|fails|opens|draws|asks|admits|serves|makes|stays|changes|knows|brings|stops|judges|moves|needs|adds|comes|compares|throws|agrees|prints|counts the|counts as';
/** Words with which a title would begin in mid-sentence. */
const joints = 'and|that|which|who|where|with|of|from|by|after|before|also|in|on|at|for';

it('a title reads alone: it does not begin with a verb, nor in mid-sentence', () => {
  const begun = new RegExp(`(?:\\bit(?:\\.\\w+)*|\\))\\(\\s*['"\`](?:${verbs}|${joints})\\b.*`, 'g');
  expectNone(
    tests.flatMap((path) => [...textOf(path).matchAll(begun)].map(([title]) => `${path}: ${title.trim()}`)),
    'Name the subject in the title: a failing log shows it alone.',
  );
});

it('a short one needs Node alone: programs and servers of others are for *.long.test.ts', () => {
  expectNone(
    tests.filter(
      (path) =>
        /(?<!long)\.test\.ts$/.test(path) &&
        /\b(?:isInstalled|hasRedis)\(?/.test(textOf(path)) &&
        !path.endsWith('structure.test.ts'),
    ),
    'Move what needs another program to a *.long.test.ts.',
  );
});

it('the first page of help lists few commands', () => {
  const titled = groups.filter(({ title }) => title !== 'more').map(({ title }) => title as string);
  const listed = commands.filter(({ name, group }) => titled.includes(group ?? '') && !name.startsWith('node '));
  // All commands of a node are one line of that page.
  expectBound(
    listed.length + 1,
    most.commands,
    0,
    'Commands on the first page',
    'List it by `weir help commands` alone.',
  );
});

it('an option has one name in all commands, and there are few', async () => {
  const all = await Promise.all(commands.map(async ({ load }) => entriesOf((await load()).options)));
  const names = new Set(all.flat().map(([name]) => name));
  expectBound(
    names.size,
    most.options,
    0,
    'Options and arguments',
    'Take the name of an option that there is, or none.',
  );
});

it('the API has few routes', () => {
  expectBound(Object.keys(endpoints).length, most.routes, 0, 'Routes', 'Add a field to a route that there is.');
});

interface Found {
  readonly name: string;
  readonly lines: number;
  readonly parameters: number;
}

/** The functions of a source, each with its place. */
function functionsOf(path: string): Found[] {
  const text = textOf(path);
  const found: Found[] = [];
  const visit = (node: unknown, name: string) => {
    if (Array.isArray(node)) for (const one of node) visit(one, name);
    else if (typeof node === 'object' && node !== null) {
      const { type, start, end, params, id, key, ...rest } = node as Record<string, any>;
      const named = id?.name ?? key?.name ?? name;
      if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type)) {
        const lines = text.slice(start, end).split('\n').length;
        found.push({ name: `${path}: ${named}`, lines, parameters: params.length });
      }
      for (const part of [params, ...Object.values(rest)]) visit(part, named);
    }
  };
  visit(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }, path).body, '');
  return found;
}
const functions = files.flatMap(functionsOf);

it('a function has at most 80 lines', () => {
  const long = functions.filter(({ lines }) => lines > 80).map(({ name, lines }) => `${name} has ${lines}`);
  expectBound(long.length, most.longFunctions, 0, 'Functions over 80 lines', `Name its parts: ${long.join('; ')}`);
});

it('a function has at most five parameters', () => {
  const many = functions.filter(({ parameters }) => parameters > 5).map(({ name }) => name);
  expectBound(
    many.length,
    most.manyParameters,
    0,
    'Functions with six and more parameters',
    `Pass one value: ${many.join('; ')}`,
  );
});

it('a request is decided in few files', () => {
  const deciding = files.filter((path) => textOf(path).includes('.decide('));
  expectBound(
    deciding.length,
    most.deciding,
    0,
    'Files with `.decide(`',
    'Call the one decision on the way of a request.',
  );
});

/** What a folder of src may import, besides itself. The command line, the library and the build may import all. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  api: ['core'],
  harness: ['api', 'core'],
  node: ['api', 'core'],
  report: ['harness', 'api', 'core'],
  web: ['report', 'harness', 'api', 'core'],
  tools: ['web', 'report', 'harness', 'api', 'core'],
};
const entries = ['cli', 'tools.ts', 'weir.ts', 'build'];
/** Where tools are listed, and the program of the page of one. */
const listsOfTools = [
  'src/cli/commands.ts',
  'src/cli/playground.ts',
  'src/tools.ts',
  'src/weir.ts',
  'src/build/build-time.ts',
];

/** Within a folder, from below to above: a part imports those before it. */
const orderOf: Readonly<Record<string, readonly string[]>> = {
  core: ['version.ts', 'schema', 'files', 'math', 'time', 'redis', 'operator', 'limiter', 'record'],
  harness: ['clients', 'traffic', 'outcome', 'scenario', 'simulate', 'explain', 'live'],
  node: ['store', 'host'],
};

/** Folders that a node can be built without, and the one file that names them. */
const leaves = ['src/node/network', 'src/node/envoy'];
const listOfLeaves = 'src/node/leaves.ts';
const leafOf = (path: string) => leaves.find((leaf) => path.startsWith(`${leaf}/`));

/** Which import to turn, and how; undefined if it follows the arrows. */
function upward(from: string, to: string): string | undefined {
  const [folder, target] = [folderOf(from), folderOf(to)];
  const leaf = leafOf(to);
  if (leaf !== undefined && leaf !== leafOf(from) && from !== listOfLeaves)
    return `only ${listOfLeaves} imports ${leaf}: let it implement a type of src/node, and hand it in from there`;
  if (folder === target) {
    const parts = orderOf[folder] ?? [];
    const [part, other] = [from, to].map((path) => path.split('/')[2]!) as [string, string];
    if (!parts.includes(part) || parts.slice(0, parts.indexOf(part) + 1).includes(other)) return undefined;
    return `${folder}/${part} is below ${other}: move what both need to ${part} or below, or pass it as a parameter`;
  }
  if (target.startsWith('tools/'))
    return listsOfTools.includes(from)
      ? undefined
      : `only ${listsOfTools.join(', ')} import a tool: ask for it by a port that src/tools.ts fills`;
  const allowed = mayImport[folder.split('/')[0]!] ?? [];
  if (entries.includes(folder) || allowed.includes(target)) return undefined;
  const turn = 'move what both need to a folder below, or let the command hand it in';
  return `${folder} imports ${allowed.join(', ') || 'no other folder'}: ${turn}`;
}

/** Files that a file names in an import: of values, of types, or by `import()`. */
function importsOf(path: string): string[] {
  const named = /^(?:import|export)[^'"]*?from '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gms;
  return [...textOf(path).matchAll(named)].map(([, of, later]) => sourceOf(join(path, '..', (of ?? later)!)));
}

const valueImports = new Map<string, string[]>();
/** Files and packages whose code is loaded with a file: no types, and nothing that is imported later. */
const valueImportsOf = (path: string) => getOrInsert(valueImports, path, () => readValueImports(path));

function readValueImports(path: string): string[] {
  return [...textOf(path).matchAll(/^(?:import|export) (?!type )([^'"]*?) ?from '([^']+)'/gms)]
    .filter(([, names]) => !/^\{( type \w+,?)+ \}$/.test(names!))
    .map(([, , to]) => (to!.startsWith('.') ? sourceOf(join(path, '..', to!)) : to!));
}

/** All files and packages that are loaded with a file. */
function loadedOf(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  if (path.startsWith('src/')) for (const to of valueImportsOf(path)) loadedOf(to, seen);
  return seen;
}

it('a file opens with what it is for', () => {
  const found = files.filter((path) => !/^(#!.*\n)?\/\/ \S/.test(textOf(path)));
  expectNone(found, 'Begin the file with a comment: `// What it is for.`');
});

it.each([
  ['src/node/node.ts', /^(@redis.client|@grpc|bullmq|better-sqlite3)/],
  ['src/node/node-storage.ts', /^(@redis.client|fastify|better-sqlite3)/],
  ['src/weir.ts', /^(@redis.client|fastify|better-sqlite3|bullmq|@napi-rs|autocannon)/],
  ['src/harness/simulate/simulate.ts', /^(@redis.client|fastify|better-sqlite3|bullmq|@napi-rs|autocannon|undici)/],
  ['src/harness/simulate/replay.ts', /^(@redis.client|fastify|better-sqlite3|bullmq|@napi-rs|autocannon|undici)/],
  ['src/harness/live/load.ts', /^(@redis.client|fastify|better-sqlite3|bullmq|@napi-rs|autocannon)/],
])('%s is loaded without what is not always needed: %s', (path, unneeded) => {
  expectNone(
    [...loadedOf(path)].filter((to) => unneeded.test(to)),
    'Load it where it is used: `await import(…)`.',
  );
});

it('an optional package has one version, wherever it is named', () => {
  const { optionalDependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(textOf('package.json'));
  const { 'better-sqlite3': _loadedByItself, ...others } = { ...optionalDependencies, ...peerDependencies };
  const named = Object.assign({}, ...Object.values(features).map(({ packages }) => packages));
  expect(named, 'Give `features` of optional-package.ts the versions of package.json.').toEqual(others);
  expect(Object.keys(peerDependenciesMeta)).toEqual(Object.keys(peerDependencies));
});

it('a program that installs the package gets few others', () => {
  const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(textOf('package.json'));
  const needed = [dependencies, optionalDependencies, peerDependencies].map((all) => Object.keys(all));
  expect(needed, 'Bundle it, or say in src/README.md why it cannot be.').toEqual([
    ['autocannon', 'rxjs', 'typebox', 'xstate'],
    ['@napi-rs/canvas', 'better-sqlite3'],
    ['@grpc/grpc-js', '@grpc/proto-loader', 'bullmq'],
  ]);
});

it('a clone has the SQLite of every Node: the lock file names one version for all', () => {
  const { packages } = JSON.parse(textOf('package-lock.json'));
  const versions = ['better-sqlite3', 'better-sqlite3-13'].map((name) => packages[`node_modules/${name}`].version);
  expect(versions.map((version) => Number.parseInt(version, 10))).toEqual([12, 13]);
});

it('src/README.md names what each package is for that the project ships or depends on', () => {
  const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(textOf('package.json'));
  const imported = files.flatMap(valueImportsOf).filter((to) => !/^(src\/|node:)/.test(to));
  const shipped = imported.map((to) => to.match(/^(@[^/]+\/)?[^/]+/)![0]);
  const list = textOf('src/README.md').split('## What it depends on')[1]!;
  const named = [...list.matchAll(/^\| (`.+?`) +\|/gm)].flatMap(([, names = '']) =>
    names.replaceAll('`', '').split(', '),
  );
  const all = [...shipped, ...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })];
  // These two are copied as files.
  const instead = 'Say in the table of src/README.md what each package is for that is shipped, and nothing of others.';
  expect(named.sort(), instead).toEqual([...new Set([...all, '@fontsource/inter', 'chart.js'])].sort());
});

it('imports follow the arrows of src/README.md', () => {
  const wrong = files.flatMap((path) =>
    importsOf(path).flatMap((to) => {
      const why = to.startsWith('src/') ? upward(path, to) : undefined;
      return why === undefined ? [] : [`${path} -> ${to}: ${why}`];
    }),
  );
  expectNone(wrong, 'Turn these imports:');
});

it('no files import each other in a circle, not even later or for a type', () => {
  const seen = new Map<string, 'open' | 'done'>();
  const circles: string[] = [];
  const visit = (path: string, trail: string[]) => {
    if (seen.get(path) === 'done') return;
    if (seen.get(path) === 'open') {
      circles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      return;
    }
    seen.set(path, 'open');
    for (const to of importsOf(path)) visit(to, [...trail, path]);
    seen.set(path, 'done');
  };
  for (const path of files) visit(path, []);
  expectNone(circles, 'Move what two of a circle share to a file below both.');
});

it('a command loads its work when it runs: help and a wrong option are answered without it', () => {
  const light = new Set(['typebox/schema']);
  const commands = importsOf('src/cli/commands.ts').filter((path) => path !== 'src/report/command/command.ts');
  const heavy = ['src/cli/program.ts', ...commands].flatMap((path) =>
    [...loadedOf(path)]
      .filter((to) =>
        to.startsWith('src/')
          ? /^src\/(node|harness\/(scenario|simulate|live))\//.test(to)
          : !to.startsWith('node:') && !light.has(to),
      )
      .map((to) => `${path} -> ${to}`),
  );
  expect(commands.length).toBeGreaterThan(20);
  expectNone(heavy, 'Load it when the command runs: `await import(…)` inside `run`.');
});

it('what is exported is used in another file, or a test specifies it', () => {
  const words = new Map([...files, ...tests].map((path) => [path, new Set(textOf(path).match(/\w+/g))]));
  const isUsed = (name: string, path: string) => [...words].some(([other, has]) => other !== path && has.has(name));
  const exported = /^export (?:abstract |async )*(?:function\*?|class|const) (\w+)/gm;
  const unused = files.flatMap((path) =>
    [...textOf(path).matchAll(exported)]
      .filter(([, name]) => !isUsed(name!, path))
      .map(([, name]) => `${path}: ${name}`),
  );
  expectNone(unused, 'Remove it, or its `export`.');
});

/** The library gives its users names that its folders have inside, too. */
const ofTheLibrary = new Set(['NodeOptions', 'startNode', 'replay', 'Limiter']);

it('one word for one thing: no class, type or function is exported under one name by two files', () => {
  const declared = /^export (?:declare |abstract |async )*(?:function\*?|class|interface|type) (\w+)/gm;
  const places = new Map<string, Set<string>>();
  for (const path of files)
    for (const [, name] of textOf(path).matchAll(declared))
      places.set(name!, (places.get(name!) ?? new Set()).add(path));
  const twice = [...places].filter(([name, where]) => where.size > 1 && !ofTheLibrary.has(name));
  const found = twice.map(([name, where]) => `${name}: ${[...where].join(', ')}`);
  expectNone(found, 'Use the one there is, or give the other a name of its own.');
});

it('a type is exported for another file that names it', () => {
  const library = /^src\/(weir|api\/client\/weir-client|tools\/middleware\/limit)\.ts$/;
  const words = new Map([...files, ...tests].map((path) => [path, new Set(textOf(path).match(/\w+/g))]));
  const unnamed = files
    .filter((path) => !library.test(path))
    .flatMap((path) =>
      [...textOf(path).matchAll(/^export (?:interface|type) (\w+)/gm)]
        .filter(([, name]) => ![...words].some(([other, has]) => other !== path && has.has(name!)))
        .map(([, name]) => `${path}: ${name}`),
    );
  expectNone(unnamed, 'Remove its `export`.');
});

it('no file is named after nothing', () => {
  const nothing = /(^|\/)(index|utils?|helpers?|types|manager|common|misc)\.ts$/;
  expectNone(
    files.filter((path) => nothing.test(path)),
    'Name it after what it has.',
  );
});
