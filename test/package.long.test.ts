// The package as a new user meets it: packed, installed into an empty project, run, imported, type-checked. The packages it depends on come
// from the registry (from npm's cache where that has them), without their install scripts: nothing may have to be compiled for what is done here.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { schemas } from '../src/build/build-time.js';
import { temporaryFolder } from './left-behind.js';

const root = resolve(import.meta.dirname, '..');
const home = temporaryFolder('weir package ');
const bin = join(home, 'node_modules/.bin/weir');
const env = { ...process.env, NO_COLOR: '1' };
let packed: string[] = [];
let installed: string[] = [];

const weir = (...args: string[]) => spawnSync(process.execPath, [bin, ...args], { cwd: home, env, encoding: 'utf8' });

beforeAll(() => {
  if (!existsSync(join(root, 'dist/lib/weir.js'))) throw new Error('There is no build to pack: `npm run build`.');
  execFileSync('npm', ['run', 'types'], { cwd: root, stdio: 'pipe' });
  const written = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', home], {
    cwd: root,
  });
  const [{ filename, files }] = JSON.parse(String(written));
  packed = files.map(({ path }: { path: string }) => path);
  writeFileSync(join(home, 'package.json'), '{ "type": "module", "private": true }');
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
  execFileSync('npm', ['install', ...quiet, join(home, filename)], { cwd: home, env, stdio: 'pipe' });
  installed = allIn(join(home, 'node_modules'));
  // A user of TypeScript in Node has these.
  for (const name of ['@types/node', 'undici-types'])
    cpSync(join(root, 'node_modules', name), join(home, 'node_modules', name), { recursive: true });
});

it('the package holds the program, its types, schemas, scenarios, topics and dashboard, and no more', () => {
  const places = [
    /^dist\/(cli|lib|worker|chart)\/[\w-]+\.js$/,
    /^dist\/types\/.+\.d\.ts$/,
    /^dist\/web\/(node\/)?[\w.-]+\.js$/,
    /^dist\/fonts\/[\w-]+\.woff2$/,
    /^dist\/web\/(node\/)?[\w-]+\.(css|html|svg)$/,
    /^dist\/schema\/\w+\.schema\.json$/,
    /^dist\/openapi\.json$/,
    /^dist\/topics\/[\w-]+\.md$/,
    /^dist\/LICENSES\.txt$/,
    /^scenarios\/[\w-]+\.(yaml|log|md)$/,
    /^scenarios\/gateway\/[\w-]+\.(conf|yaml)$/,
    /^scenarios\/programs\/[\w.-]+\.mjs$/,
    /^scenarios\/recipes\/(Caddyfile|[\w-]+\.(conf|cfg|json|lua|yaml|md))$/,
  ];
  const pages = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
  const others = packed.filter((path) => !places.some((place) => place.test(path)));
  expect(others.sort()).toEqual(pages);
});

it('the package runs in an empty folder: init writes a first scenario, simulate runs it', () => {
  const ran = [weir('init'), weir('simulate', 'burst.yaml'), weir('help', 'limits')];
  expect(ran.map(({ status, stderr }) => [status, stderr])).toEqual([
    [0, ''],
    [0, ''],
    [0, ''],
  ]);
  expect(ran[2]?.stdout).toMatch(/^Which limit\n/);
  expect(ran[1]?.stdout).toMatch(/^✔ held {2}burst, seed 7\n/);
  expect(readdirSync(join(home, 'reports/burst/7')).sort()).toContain('index.html');
});

it('the package brings at most 110 packages of 130 MB, and none that is not always needed', () => {
  const bytes = execFileSync('du', ['-sm', join(home, 'node_modules')], { encoding: 'utf8' });
  expect([installed.length <= 110, Number.parseInt(bytes, 10) <= 130], `${installed.length}, ${bytes}`).toEqual([
    true,
    true,
  ]);
  const { dependencies } = JSON.parse(readFileSync(join(home, 'node_modules/@weir/cli/package.json'), 'utf8'));
  expect(Object.keys(dependencies)).toEqual(['autocannon', 'rxjs', 'typebox', 'xstate']);
  const few = /^(bullmq|ioredis|@grpc\/.*|fastify|undici|protobufjs|@opentelemetry\/.*|canvas|node-gyp)$/;
  expect(installed.filter((name) => few.test(name))).toEqual([]);
});

it.each([
  [['worker', 'redis://127.0.0.1:1'], 'bullmq@6.7.0'],
  [['simulate', 'burst.yaml', '--replications', '3', '--workers', 'redis://127.0.0.1:1'], 'bullmq@6.7.0'],
  [['serve', '--store', 'memory', '--port', '0', '--grpc', '0', '--limit', 'limits.yaml'], '@grpc/grpc-js@^1.14.7'],
])('weir %s says which package it needs', (words, wanted) => {
  writeFileSync(
    join(home, 'limits.yaml'),
    'domain: shop\ndescriptors: [{ key: a, rate_limit: { unit: minute, requests_per_unit: 5 } }]\n',
  );
  const { status, stdout } = weir(...words, '--json');
  const { code, fix } = JSON.parse(stdout);
  expect([status, code, fix]).toEqual([2, 'package_missing', expect.stringContaining(`npm install "${wanted}"`)]);
});

it('the package draws charts', async () => {
  const { width, height, colors } = await pictureOf(readFileSync(join(home, 'reports/burst/7/charts/window.png')));
  expect([width, height > 400, colors > 50]).toEqual([1800, true, true]);
});

it('the package is a library: a program that imports it is typed, and every part does what it says', () => {
  writeFileSync(join(home, 'consumer.ts'), consumer);
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    types: ['node'],
    // XState's own declarations do not hold with `exactOptionalPropertyTypes`.
    skipLibCheck: false,
    lib: ['ES2023'],
  };
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
  const tsc = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', home], {
    encoding: 'utf8',
  });
  expect(tsc.stdout).toBe('');
  const told = execFileSync(process.execPath, [join(home, 'consumer.js')], { cwd: home, env, encoding: 'utf8' });
  expect(JSON.parse(told)).toEqual({
    simulated: ['held', 160, 110],
    seeded: [7, 8],
    parsed: 120,
    replayed: [2, 1],
    gate: [100, 0, 60],
    refused: 'unreadable_file',
  });
});

it('the package has a client that needs nothing else, in Node and in a bundle for browsers', async () => {
  writeFileSync(join(home, 'client.mjs'), clientProgram);
  const told = execFileSync(process.execPath, [join(home, 'client.mjs')], { cwd: home, env, encoding: 'utf8' });
  expect(JSON.parse(told)).toEqual({ gate: 'node_unreachable', statuses: [200, 429, 429], verdict: 'follows' });
  const entry = `import { WeirClient } from '@weir/cli/client'; globalThis.made = new WeirClient({ url: 'http://x' });`;
  const { metafile } = await build({
    stdin: { contents: entry, resolveDir: home },
    absWorkingDir: home,
    bundle: true,
    platform: 'browser',
    metafile: true,
    write: false,
  });
  const inputs = Object.entries(metafile.inputs);
  const foreign = inputs.filter(([path]) => path !== '<stdin>' && !path.startsWith('node_modules/@weir/cli/dist/'));
  expect([foreign, inputs.flatMap(([, { imports }]) => imports.filter(({ external }) => external))]).toEqual([[], []]);
});

// A clone has the library of later Nodes beside it.
it.skipIf(Number(process.versions['napi']) >= 10)('weir serve says which SQLite it needs on a later Node', () => {
  const preload = join(home, 'newer-node.mjs');
  const versions = "{ ...process.versions, node: '24.19.0', napi: '10' }";
  writeFileSync(preload, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
  const words = [bin, 'serve', '--data', 'data', '--port', '0', '--json'];
  const later = { ...env, NODE_OPTIONS: `--import=${pathToFileURL(preload)}` };
  const { status, stdout } = spawnSync(process.execPath, words, { cwd: home, env: later, encoding: 'utf8' });
  const { code, why } = JSON.parse(stdout);
  expect([status, code, why]).toEqual([
    74,
    'store_failed',
    expect.stringMatching(/needs better-sqlite3 13, .*: Version 12/),
  ]);
});

/** Installed with --omit=optional, as in CI. */
describe('the package without what is native', () => {
  beforeAll(() => {
    for (const name of ['@napi-rs', 'better-sqlite3']) rmSync(join(home, 'node_modules', name), { recursive: true });
  });

  it('the package without what is native simulates and replays, and says that charts are no pictures', () => {
    const answers = [
      weir('simulate', 'burst.yaml', '--out', 'without'),
      weir('replay', 'log.csv', '--out', 'replayed'),
    ];
    expect(answers.map(({ status, stderr }) => [status, stderr.replace(/\(node:\d+\)/, '')])).toEqual([
      [0, expect.stringMatching(/^ \[package_missing\] Warning: Charts cannot be drawn as pictures\..*npm install/)],
      [0, expect.stringMatching(/^ \[package_missing\] Warning: Charts cannot be drawn as pictures\..*npm install/)],
    ]);
    expect(readdirSync(join(home, 'without/charts'))).toEqual([]);
    expect(readFileSync(join(home, 'without/summary.md'), 'utf8')).not.toContain('.png');
    expect(readdirSync(join(home, 'without'))).toContain('index.html');
  });

  it.each([
    [['report', 'reports/burst/7', '--out', 'chart.png'], 2, 'package_missing', '@napi-rs/canvas@'],
    [['serve', '--data', 'data', '--port', '0', '--json'], 74, 'store_failed', 'better-sqlite3@'],
  ])('weir %s says which native package it needs', (words, exit, told, wanted) => {
    const { status, stdout, stderr } = weir(...words);
    const said = stdout + stderr;
    expect([status, said]).toEqual([exit, expect.stringContaining(wanted)]);
    expect(said).toContain(told);
  });
});

/** Names of all packages in a folder `node_modules`, nested ones included. */
function allIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) => (name.startsWith('@') ? readdirSync(join(folder, name)).map((one) => `${name}/${one}`) : [name]))
    .flatMap((name) => [name, ...allIn(join(folder, name, 'node_modules'))]);
}

/** The entries beside the library. */
const clientProgram = `
import { WeirClient } from '@weir/cli/client';
import { follows, recorded } from '@weir/cli/expect';
import { limit } from '@weir/cli/limit';

const weir = new WeirClient({ url: 'http://127.0.0.1:9', retries: 0 });
const gate = await weir.gate('edge', 'c').catch((error) => error.code);
const handler = limit({ limit: 1, keyGenerator: () => 'k' }).fetch(() => new Response('ok'));
const statuses = [];
const send = recorded(() => handler(new Request('http://x')));
for (let n = 0; n < 3; n += 1) statuses.push((await send()).status);
console.log(JSON.stringify({ gate, statuses, verdict: follows(send.answers, '1 in 60s').verdict }));
`;

/** A program of somebody else. */
const consumer = `
import { cycleOf, Failure, loadScenario, makeGate, type Outcome, parseScenario, planContract, rateLimiter, replay, retryAfterCycles, simulate } from '@weir/cli';
import { writeFileSync } from 'node:fs';

const scenario = await loadScenario('node_modules/@weir/cli/scenarios/burst.yaml');
const { outcome }: { outcome: Outcome } = await simulate(scenario);
const other = await simulate(scenario, { seed: 8 });
const parsed = await simulate(parseScenario('{ question: How many?, duration: 120, arrivals: [{ model: constant, rate: 1 }] }'));
writeFileSync('log.csv', 'time,client\\n1000000000,a\\n1000000001,b\\n1000000002,c\\n');
const plan = planContract(rateLimiter({ threshold: 2, within: 10 }));
const replayed = await replay(['log.csv'], { plan });
const gate = makeGate(planContract(rateLimiter()), cycleOf(777_000, 777));
const admitted = [gate.decide(100, 1000), gate.decide(1, 1000)];
const refused = await loadScenario('nowhere.yaml').catch((error: unknown) => (error instanceof Failure ? error.code : error));
console.log(JSON.stringify({
  simulated: [outcome.verdict, outcome.admitted, outcome.limited],
  seeded: [outcome.seed, other.outcome.seed],
  parsed: parsed.outcome.requests,
  replayed: [replayed.outcome.admitted, replayed.outcome.limited],
  gate: [...admitted, retryAfterCycles(gate)],
  refused,
}));
`;

/** Size in pixels, and the number of different colours. */
async function pictureOf(png: Buffer): Promise<{ width: number; height: number; colors: number }> {
  const image = await loadImage(png);
  const { width, height } = image;
  const context = createCanvas(width, height).getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  return { width, height, colors: new Set(new Uint32Array(data.buffer, data.byteOffset, width * height)).size };
}

const published = (name: string) => JSON.parse(readFileSync(join(root, `dist/schema/${name}.schema.json`), 'utf8'));

it.each(Object.entries(schemas))('the published schema %s: that of the code, and open in answers', (name, schema) => {
  const isClosed = (key: string, value: unknown) => key === 'additionalProperties' && value === false;
  const open = (key: string, value: unknown) => (name !== 'scenario' && isClosed(key, value) ? undefined : value);
  expect(published(name)).toEqual(JSON.parse(JSON.stringify(schema, open)));
});

it('the published schema of a scenario takes every shipped one, and refuses a misspelt field', () => {
  const validate = new Ajv2020({ strict: false }).compile(published('scenario'));
  const folder = join(root, 'scenarios');
  const shipped = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  const texts = shipped.map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(texts.map((text) => validate(parse(text)))).toEqual(shipped.map(() => true));
  expect(validate({ ...parse(texts[0] ?? ''), threshhold: 1 })).toBe(false);
});

it('the lock file knows the optional parts for every system, or `npm ci` refuses it on all', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const wanted = Object.entries<{ optionalDependencies?: object }>(packages).flatMap(
    ([path, { optionalDependencies = {} }]) => Object.keys(optionalDependencies).map((name) => [path, name] as const),
  );
  const known = ([path, name]: readonly [string, string]) =>
    [`${path}/node_modules/${name}`, `node_modules/${name}`].some((place) => place in packages);
  expect(wanted.filter((part) => !known(part))).toEqual([]);
});

it('the licence of each bundled package is in the package, and the SBOM lists each of them, and no tool', () => {
  const bundled: string[] = JSON.parse(readFileSync(join(root, 'build/bundled.json'), 'utf8'));
  const named = bundled.map((path) => JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')));
  const licences = readFileSync(join(root, 'dist/LICENSES.txt'), 'utf8');
  expect(named.filter(({ name, version }) => !licences.includes(`${name} ${version}: `))).toEqual([]);
  const sbom = String(execFileSync(process.execPath, ['src/build/sbom.js'], { cwd: root, maxBuffer: 2 ** 28 }));
  const { components, dependencies } = JSON.parse(sbom);
  const purls: string[] = components.map(({ purl }: { purl: string }) => decodeURIComponent(purl));
  expect(named.filter(({ name, version }) => !purls.includes(`pkg:npm/${name}@${version}`))).toEqual([]);
  const names = components.map(({ name, group }: any) => (group === undefined ? name : `${group}/${name}`));
  expect(names).toEqual(expect.arrayContaining(['fastify', 'rxjs', 'xstate', 'better-sqlite3']));
  expect(names.filter((name: string) => /^(vitest|esbuild|typescript|.*biome)$/.test(name))).toEqual([]);
  expect(dependencies.length).toBe(components.length + 1);
});
