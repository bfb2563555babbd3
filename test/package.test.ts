// The package as a new user meets it: packed, installed into an empty project, run, imported, type-checked. The packages it depends on come
// from the registry (from npm's cache where that has them), without their install scripts: nothing may have to be compiled for what is done here.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Outcome } from '../src/outcome/outcome-schema.js';
import { Scenario } from '../src/scenario/scenario-schema.js';

const root = resolve(import.meta.dirname, '..');
const home = mkdtempSync(join(tmpdir(), 'weir package '));
const bin = join(home, 'node_modules/.bin/weir');
const env = { ...process.env, NO_COLOR: '1' };
let packed: string[] = [];

beforeAll(() => {
  if (!existsSync(join(root, 'dist/weir.js'))) throw new Error('There is no build to pack. Run `npm run build` first.');
  const written = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', home], {
    cwd: root,
  });
  const [{ filename, files }] = JSON.parse(String(written));
  packed = files.map(({ path }: { path: string }) => path);
  writeFileSync(join(home, 'package.json'), '{ "type": "module", "private": true }');
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
  execFileSync('npm', ['install', ...quiet, join(home, filename)], { cwd: home, env, stdio: 'pipe' });
  // Packages that it depends on may bring some of their own.
  rmSync(join(home, 'node_modules/@types'), { recursive: true, force: true });
  symlinkSync(join(root, 'node_modules/@types'), join(home, 'node_modules/@types'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('the package', () => {
  it('holds the program, its types, schemas, scenarios, topics and dashboard, and no more', () => {
    const places = [
      /^dist\/.+\.(js|d\.ts)$/,
      /^dist\/web\/(node\/)?[\w-]+\.(css|html|svg)$/,
      /^dist\/schema\/\w+\.schema\.json$/,
      /^dist\/topics\/[\w-]+\.md$/,
      /^dist\/LICENSES\.txt$/,
      /^scenarios\/[\w-]+\.(yaml|log|md)$/,
      /^scenarios\/recipes\/(Caddyfile|[\w-]+\.(conf|cfg|json|lua|yaml|md))$/,
    ];
    const pages = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
    const others = packed.filter((path) => !places.some((place) => place.test(path)));
    expect(others.sort()).toEqual(pages);
  });

  it('runs in an empty folder: init writes a first scenario, simulate runs it', () => {
    const weir = (...args: string[]) =>
      spawnSync(process.execPath, [bin, ...args], { cwd: home, env, encoding: 'utf8' });
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

  it('installs nothing that would have to be compiled for its charts, and draws them', async () => {
    expect(existsSync(join(home, 'node_modules/canvas'))).toBe(false);
    const { width, height, colors } = await pictureOf(readFileSync(join(home, 'reports/burst/7/charts/window.png')));
    expect([width, height > 400, colors > 50]).toEqual([1800, true, true]);
  });

  it('is a library: what the README shows is typed, and every part of it does what it says', () => {
    writeFileSync(join(home, 'consumer.ts'), consumer);
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2022',
      strict: true,
      exactOptionalPropertyTypes: true,
      types: ['node'],
      skipLibCheck: true,
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

  it('has a client that needs nothing else: in Node, and in a bundle for browsers', async () => {
    writeFileSync(join(home, 'client.mjs'), clientProgram);
    const told = execFileSync(process.execPath, [join(home, 'client.mjs')], { cwd: home, env, encoding: 'utf8' });
    expect(JSON.parse(told)).toEqual({ gate: 'node_unreachable', statuses: [200, 429] });
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
    expect([foreign, inputs.flatMap(([, { imports }]) => imports.filter(({ external }) => external))]).toEqual([
      [],
      [],
    ]);
  });
});

/** The entries beside the library. */
const clientProgram = `
import { WeirClient } from '@weir/cli/client';
import { limit } from '@weir/cli/limit';

const weir = new WeirClient({ url: 'http://127.0.0.1:9', retries: 0 });
const gate = await weir.gate('edge', 'c').catch((error) => error.code);
const handler = limit({ limit: 1, keyGenerator: () => 'k' }).fetch(() => new Response('ok'));
const statuses = [];
for (let n = 0; n < 2; n += 1) statuses.push((await handler(new Request('http://x'))).status);
console.log(JSON.stringify({ gate, statuses }));
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

describe('the published schemas', () => {
  const published = (name: string) => JSON.parse(readFileSync(join(root, `dist/schema/${name}.schema.json`), 'utf8'));

  it.each([
    ['scenario', Scenario],
    ['outcome', Outcome],
  ])('%s is that of the code', (name, schema) => expect(published(name)).toEqual(JSON.parse(JSON.stringify(schema))));

  it('take every shipped scenario, and refuse a misspelt field', () => {
    const validate = new Ajv2020({ strict: false }).compile(published('scenario'));
    const folder = join(root, 'scenarios');
    const shipped = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
    const texts = shipped.map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(texts.map((text) => validate(parse(text)))).toEqual(shipped.map(() => true));
    expect(validate({ ...parse(texts[0] ?? ''), threshhold: 1 })).toBe(false);
  });
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

it('the lock file has a checksum of every package', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const unchecked = Object.keys(packages).filter((path) => path !== '' && packages[path].integrity === undefined);
  expect(unchecked).toEqual([]);
});

it('every dependency may be passed on: its licence asks for no more than to be named', () => {
  const allowed = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Zlib', 'OFL-1.1', 'WTFPL'];
  const lock: Record<string, { dev?: boolean; optional?: boolean }> = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  ).packages;
  const refused = Object.entries(lock)
    .filter(([path, { dev = false }]) => path !== '' && !dev)
    // A part built for another system is not here; it has the licence of the package that asks for it.
    .filter(([path, { optional = false }]) => !optional || existsSync(join(root, path)))
    .map(([path]) => [path, JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')).license] as const)
    .filter(([, licence]) => !holds(String(licence), allowed));
  expect(refused).toEqual([]);
});

/** An SPDX expression of names, AND and OR, in one pair of parentheses at most. */
function holds(expression: string, allowed: readonly string[]): boolean {
  const plain = expression.replace(/^\((.*)\)$/, '$1');
  return plain.split(' OR ').some((all) => all.split(' AND ').every((one) => allowed.includes(one)));
}
