// Tools and leaves of the node come off: without all of them types and build hold, a scenario runs, and what needs one says which part is
// missing. They are taken off a copy as a person would: the folders, and the lines that name them. No leaf imports another
// (structure.test.ts), so what holds without all of them holds without each; with WEIR_ALL=1 each also comes off alone.
//
//   folder deleted ─► imports of it, the line that registers it, imports that nothing uses any more ─► tsc, build, weir simulate
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseAst } from 'vitest/node';

const root = resolve(import.meta.dirname, '..');
const copy = mkdtempSync(join(tmpdir(), 'weir detach '));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const part of ['src', 'scenarios', 'package.json', 'tsconfig.json'])
  cpSync(join(root, part), join(copy, part), { recursive: true });
// What `npm run typecheck` knows of the sources: files that no leaf touches are not checked anew.
if (existsSync(join(root, 'build/types')))
  cpSync(join(root, 'build/types'), join(copy, 'build/types'), { recursive: true });
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

/** What other folders ask of a leaf: without it, the answer names its folder. All other tools are commands, which are then unknown. */
const asks = {
  'src/node/network': [['serve', '--store', 'redis://127.0.0.1:1']],
  'src/node/envoy': [['serve', '--store', 'memory', '--grpc', '0', '--limit', 'limits.yaml']],
  'src/tools/gateway': [
    ['limiter', 'nginx.conf'],
    ['replay', 'scenarios/shop.log', '--limit', 'nginx.conf'],
    ['replay', 'scenarios/shop.log', '--limit', '5 in 1s', '--explain'],
  ],
  'src/tools/workers': [
    ['simulate', 'scenarios/burst.yaml', '--replications', '2', '--workers', 'redis://127.0.0.1:1'],
  ],
};
const tools = readdirSync(join(root, 'src/tools')).map((name) => `src/tools/${name}`);
const leaves = [...new Set([...Object.keys(asks), ...tools])];
writeFileSync(
  join(copy, 'nginx.conf'),
  'limit_req_zone $binary_remote_addr zone=a:10m rate=5r/s; server { location / { limit_req zone=a burst=5; } }',
);

const pathsIn = (folder) =>
  readdirSync(join(copy, folder), { recursive: true }).map((name) => join(folder, name).replaceAll('\\', '/'));

/** Whether a text in a file is the path of something in one of the folders, as an import or from the top. */
const namesOneOf = (folders, file, text) =>
  [join(dirname(file), text), join(text)].some((path) => folders.some((folder) => path.startsWith(`${folder}/`)));

/** The innermost statements, elements of lists and properties in which a node matches: what a person deletes. */
function wholesWith(text, file, matches) {
  const found = new Set();
  const visit = (node, whole) => {
    if (matches(node)) found.add(whole);
    for (const [key, part] of Object.entries(node)) {
      const isList = ['body', 'elements', 'properties', 'specifiers'].includes(key);
      for (const one of [part].flat())
        if (typeof one?.type === 'string') visit(one, isList && Array.isArray(part) ? one : whole);
    }
  };
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file));
  const isWithin = (one, other) => one !== other && one.start >= other.start && one.end <= other.end;
  return [...found].filter((one) => ![...found].some((other) => isWithin(one, other)));
}

const cut = (text, nodes) =>
  nodes
    .sort((a, b) => b.start - a.start)
    .reduce((left, { start, end }) => left.slice(0, start) + left.slice(end).replace(/^,/, ''), text);

const bindingsOf = (nodes) => nodes.flatMap(({ specifiers = [] }) => specifiers.map(({ local }) => local?.name));

function sourceWithout(folders, text, file) {
  const named = wholesWith(
    text,
    file,
    ({ type, value }) => type === 'Literal' && typeof value === 'string' && namesOneOf(folders, file, value),
  );
  if (named.length === 0) return text;
  const gone = new Set(bindingsOf(named.filter(({ type }) => type === 'ImportDeclaration')));
  const after = cut(text, named);
  const registered = cut(
    after,
    wholesWith(after, file, ({ type, name }) => type === 'Identifier' && gone.has(name)),
  );
  const isUnused = ({ type, local }) =>
    /^Import.*Specifier$/.test(type) && [...registered.matchAll(new RegExp(`\\b${local.name}\\b`, 'g'))].length === 1;
  const unused = ({ type, specifiers }) =>
    type === 'ImportDeclaration' && specifiers?.length > 0 && specifiers.every(isUnused);
  const imported = cut(registered, wholesWith(registered, file, unused));
  return cut(imported, wholesWith(imported, file, isUnused));
}

const listWithout = (folders, value, file) => {
  if (Array.isArray(value))
    return value
      .filter((one) => typeof one !== 'string' || !namesOneOf(folders, file, one))
      .map((one) => listWithout(folders, one, file));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, listWithout(folders, one, file)]));
};

const textWithout = (folders, text, file) =>
  file.endsWith('.json')
    ? JSON.stringify(listWithout(folders, JSON.parse(text), file))
    : sourceWithout(folders, text, file);

/** Takes folders off the copy; the result puts them on again. */
function takeOff(folders) {
  const before = new Map();
  for (const [index, folder] of folders.entries()) renameSync(join(copy, folder), join(copy, `off-${index}`));
  for (const file of pathsIn('src').filter((path) => /\.(tsx?|js|json)$/.test(path))) {
    const text = readFileSync(join(copy, file), 'utf8');
    const left = textWithout(folders, text, file);
    if (left === text) continue;
    before.set(file, text);
    writeFileSync(join(copy, file), left);
  }
  return () => {
    for (const [file, text] of before) writeFileSync(join(copy, file), text);
    for (const [index, folder] of folders.entries()) renameSync(join(copy, `off-${index}`), join(copy, folder));
  };
}

const run = (...words) =>
  new Promise((resolve) => {
    execFile(process.execPath, words, { cwd: copy }, (error, stdout, stderr) => {
      resolve({ status: error?.code ?? 0, said: `${stdout}${stderr}`.trim().split('\n').slice(0, 9).join('\n') });
    });
  });

const weir = (...words) => run('dist/cli/main.js', ...words);

/** What does not hold without the folders. */
async function faultsWithout(folders) {
  const [types, built] = await Promise.all([
    // More checkers take twice the processor time, for the types that all of them ask for.
    run('node_modules/typescript/bin/tsc', '-b', 'src/web', '--checkers', '1'),
    run('src/build/bundle.js'),
  ]);
  const faults = [types, built].flatMap(({ status, said }) => (status === 0 ? [] : [said]));
  if (faults.length > 0) return faults;
  const burst = await weir('simulate', 'scenarios/burst.yaml', '--out', 'none');
  if (burst.status !== 0) faults.push(burst.said);
  for (const folder of folders)
    for (const words of asks[folder] ?? []) {
      const { status, said } = await weir(...words, '--json');
      if (status !== 2 || !said.includes(`Build Weir with ${folder}.`)) faults.push(`weir ${words.join(' ')}: ${said}`);
    }
  return faults;
}

const alone = process.env.WEIR_ALL === '1' ? leaves.map((leaf) => [leaf]) : [];
for (const folders of [...alone, leaves]) {
  const putOn = takeOff(folders);
  const faults = await faultsWithout(folders);
  putOn();
  const name = folders.length === leaves.length ? 'all of them' : folders.join(', ');
  console.log(faults.length === 0 ? `✔ without ${name}` : `✗ without ${name}: ${faults.join('\n')}`);
  if (faults.length > 0) process.exitCode = 1;
}
