// Files with the limits of a gateway: a file, a folder, or either at a git revision; and what files of nginx include, by any name.
//
//   nginx.conf    deploy/    git:main    git:v1.2:deploy/nginx.conf
import { execFile } from 'node:child_process';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '../../core/schema/failure.js';
import { readText } from '../../core/schema/text-file.js';
import type { Source } from './found.js';
import { includedBy, includesIn, isMainFile } from './nginx-includes.js';

const MOST_FILES = 5_000;
/** Of files that may be included. */
const MOST_LISTED = 100_000;
const MOST_BYTES = 64 * 1024 * 1024;
const NAMES =
  /\.(?:conf|cfg|ya?ml|json|tf|toml|xml|properties|caddy|md|j2|erb|mustache|tmpl|tpl|template|vcl)$|(?:^|\/)(?:Caddyfile|nginx)[^/]*$/i;
const FOREIGN = new Set(['.git', 'node_modules', '.terraform', 'vendor', 'dist']);

/**
 * `git:main` takes the path of the other version, and has no limits if it is not there; nor has an empty folder, or an old one that is
 * not there yet.
 * @throws Failure `unreadable_file`, `wrong_usage`
 */
export async function limitFilesOf(paths: readonly [string, string]): Promise<[Source[], Source[]]> {
  const isRevision = paths.map((path) => /^git:[^:]+$/.test(path));
  const read = async (path: string, other: string, mayLack: boolean) => {
    if (path.startsWith('git:')) return filesAt(path.slice(4), other);
    return mayLack && statSync(path, { throwIfNoEntry: false }) === undefined ? [] : filesIn(path);
  };
  const [old, fresh] = paths;
  const mayLack = isRevision.includes(true);
  const found = await Promise.all([read(old, fresh, mayLack || isFolder(fresh)), read(fresh, old, mayLack)]);
  const [before, after] = found.map((files) => files.length === 0);
  if (before === true && after === true && ![old, fresh].some(isFolder))
    throw noFile(isRevision[0] === true ? fresh : old);
  return found;
}

const noFile = (path: string) =>
  new Failure('unreadable_file', {
    what: `${path} has no file that a gateway may have.`,
    fix: 'Check the name. If its ending is unusual, name the file itself.',
  });

export async function filesIn(path: string): Promise<Source[]> {
  const read = async (name: string) => textOf(name);
  if (isFolder(path)) {
    const names = namesIn(path).map((name) => relative('', name));
    const named = names.filter((name) => NAMES.test(name));
    // A folder as sites-enabled, of files without endings.
    const wanted = named.length > 0 ? named : names.filter((name) => !basename(name).includes('.'));
    return withIncluded(wanted, () => names, read, path);
  }
  return withIncluded([path], () => namesIn(dirname(path)), read, path);
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** All files of a folder, links to files within it included. */
function namesIn(path: string): string[] {
  const names: string[] = [];
  const top = realpathSync(path);
  const isWithin = (name: string) =>
    statSync(name, { throwIfNoEntry: false })?.isFile() === true && realpathSync(name).startsWith(top + sep);
  const visit = (folder: string): void => {
    if (names.length > MOST_LISTED) return;
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const name = join(folder, entry.name);
      if (entry.isDirectory() && !FOREIGN.has(entry.name)) visit(name);
      else if (entry.isFile() || (entry.isSymbolicLink() && isWithin(name))) names.push(name);
    }
  };
  visit(path);
  return names;
}

/** @param namesOf all files that may be included; asked for only where something is */
async function withIncluded(
  wanted: readonly string[],
  namesOf: () => readonly string[] | Promise<readonly string[]>,
  read: (name: string) => Promise<string>,
  path: string,
): Promise<Source[]> {
  if (wanted.length > MOST_FILES) throw tooMany(path);
  const sources: Source[] = await Promise.all(wanted.map(async (name) => ({ name, text: await read(name) })));
  const mains = sources.filter(({ text }) => isMainFile(text)).map(({ name }) => name);
  let all: readonly string[] | undefined;
  const taken = new Set(wanted);
  for (const { name: from, text } of sources)
    for (const pattern of includesIn(text)) {
      all ??= await namesOf();
      for (const name of includedBy(pattern, from, all, mains)) {
        if (taken.has(name)) continue;
        taken.add(name);
        if (taken.size > MOST_FILES) throw tooMany(path);
        const source = { name, text: await read(name) };
        sources.push(source);
        if (isMainFile(source.text)) mains.push(name);
      }
    }
  return sources;
}

const textOf = (path: string) =>
  readText(path, {
    what: `The file ${path}`,
    fix: 'Name a file or folder with the limits of a gateway, or git:REVISION.',
  });

function tooMany(path: string): Failure {
  return new Failure('unreadable_file', {
    what: `${path} has more than ${MOST_FILES} files.`,
    fix: 'Name the folder of the gateway.',
  });
}

async function filesAt(given: string, other: string): Promise<Source[]> {
  const [, revision = '', own] = /^([^:]+)(?::(.*))?$/.exec(given) ?? [];
  const isOption = revision === '' || revision.startsWith('-');
  if (isOption || (own === undefined && other.startsWith('git:')))
    throw new Failure('wrong_usage', {
      what: `git:${given} ${isOption ? 'names no revision' : 'does not say which file or folder'}.`,
      fix: 'For example `weir diff git:main nginx.conf`, or `weir diff git:v1:nginx.conf git:v2:nginx.conf`.',
    });
  const prefix = (await git(['rev-parse', '--show-prefix'])).trim();
  const path = join(prefix, own ?? other).replaceAll('\\', '/');
  const top = path.replace(/\/$/, '') || '.';
  const names = await namesAt(revision, top);
  if (own !== undefined && names.length === 0) throw noFile(`git:${given}`);
  const isFile = names.length === 1 && names[0] === top;
  const isOwn = (name: string) => !name.split('/').some((part) => FOREIGN.has(part));
  const wanted = isFile ? names : names.filter((name) => NAMES.test(name) && isOwn(name));
  const all = async () => (isFile ? namesAt(revision, posix.dirname(top)) : names.filter(isOwn));
  const found = await withIncluded(wanted, all, (name) => textAt(revision, name), `git:${given}`);
  return found.map(({ name, text }) => ({ name: name.startsWith(prefix) ? name.slice(prefix.length) : name, text }));
}

async function namesAt(revision: string, path: string): Promise<string[]> {
  const listed = await git(['ls-tree', '-r', '-z', '--name-only', '--full-tree', revision, '--', path]);
  return listed.split('\0').filter((name) => name !== '');
}

const MOST_LINKS = 5;

/** Of a link, the text of the file that it leads to. */
async function textAt(revision: string, name: string, links = 0): Promise<string> {
  const text = await git(['show', `${revision}:${name}`]);
  if (links === MOST_LINKS || /\n|\{/.test(text)) return text;
  const [mode = ''] = (await git(['ls-tree', '--full-tree', revision, '--', name])).split(' ');
  return mode === '120000' ? textAt(revision, posix.join(posix.dirname(name), text), links + 1) : text;
}

async function git(words: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)('git', [...words], { maxBuffer: MOST_BYTES, encoding: 'utf8' })).stdout;
  } catch (error) {
    const { stderr = '', message } = error as Error & { readonly stderr?: string };
    throw new Failure('unreadable_file', {
      what: `git ${words[0]} failed.`,
      why: (stderr.trim().split('\n')[0] || message).replace(/^fatal: /, ''),
      fix: 'Name a revision that is in this repository: a shallow clone has only one (fetch-depth: 0).',
    });
  }
}
