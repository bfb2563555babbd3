// Files with the limits of a gateway: a file, a folder, or either at a git revision.
//
//   nginx.conf    deploy/    git:main    git:v1.2:deploy/nginx.conf
import { execFile } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { Source } from '../gateway/found.js';
import { Failure } from '../schema/failure.js';
import { readText } from '../schema/text-file.js';

const MOST_FILES = 5_000;
const MOST_BYTES = 64 * 1024 * 1024;
const NAMES =
  /\.(?:conf|cfg|ya?ml|json|tf|toml|xml|properties|caddy|md|j2|erb|mustache|tmpl|tpl|template|vcl)$|(?:^|\/)(?:Caddyfile|nginx)[^/]*$/i;
const FOREIGN = new Set(['.git', 'node_modules', '.terraform', 'vendor', 'dist']);

/** `git:main` takes the path of the other version. @throws Failure `unreadable_file`, `wrong_usage` */
export async function limitFilesOf(paths: readonly [string, string]): Promise<[Source[], Source[]]> {
  const isRevision = paths.map((path) => /^git:[^:]+$/.test(path));
  const read = async (path: string, other: string, mayLack: boolean) => {
    const isThere = path.startsWith('git:') || !mayLack || statSync(path, { throwIfNoEntry: false }) !== undefined;
    const files = !isThere ? [] : path.startsWith('git:') ? await filesAt(path.slice(4), other) : filesIn(path);
    if (files.length === 0 && !mayLack) throw noFile(path);
    return files;
  };
  const [old, fresh] = paths;
  const mayLack = isRevision.includes(true);
  const found = await Promise.all([read(old, fresh, mayLack), read(fresh, old, mayLack)]);
  if (found.every((files) => files.length === 0)) throw noFile(isRevision[0] === true ? fresh : old);
  return found;
}

const noFile = (path: string) =>
  new Failure('unreadable_file', {
    what: `${path} has no file that a gateway may have.`,
    fix: 'Check the name. If its ending is unusual, name the file itself.',
  });

function filesIn(path: string): Source[] {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) return [{ name: path, text: textOf(path) }];
  const names: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const name = join(folder, entry.name);
      if (entry.isDirectory() && !FOREIGN.has(entry.name)) visit(name);
      else if (entry.isFile() && NAMES.test(name)) names.push(name);
      if (names.length > MOST_FILES) throw tooMany(path);
    }
  };
  visit(path);
  return names.map((name) => ({ name: relative('', name), text: textOf(name) }));
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
  const path = own ?? other;
  const listed = await git(['ls-tree', '-r', '-z', '--name-only', '--full-tree', revision, '--', await fromTop(path)]);
  const names = listed.split('\0').filter((name) => name !== '');
  const isFile = names.length === 1 && names[0] === (await fromTop(path));
  const wanted = isFile
    ? names
    : names.filter((name) => NAMES.test(name) && !name.split('/').some((part) => FOREIGN.has(part)));
  if (wanted.length > MOST_FILES) throw tooMany(`git:${given}`);
  const prefix = (await git(['rev-parse', '--show-prefix'])).trim();
  return Promise.all(
    wanted.map(async (name) => ({
      name: name.startsWith(prefix) ? name.slice(prefix.length) : name,
      text: await git(['show', `${revision}:${name}`]),
    })),
  );
}

async function fromTop(path: string): Promise<string> {
  const prefix = (await git(['rev-parse', '--show-prefix'])).trim();
  return join(prefix, path).replaceAll('\\', '/').replace(/\/$/, '') || '.';
}

async function git(words: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)('git', [...words], { maxBuffer: MOST_BYTES, encoding: 'utf8' })).stdout;
  } catch (error) {
    const { stderr = '', message } = error as Error & { readonly stderr?: string };
    throw new Failure('unreadable_file', {
      what: `git ${words[0]} failed.`,
      why: (stderr.trim().split('\n')[0] || message).replace(/^fatal: /, ''),
      fix: 'Name a revision that is there: a shallow clone has only one (fetch-depth: 0).',
    });
  }
}
