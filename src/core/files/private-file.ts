// Files that only their user may read: secrets of a node and of its clients. Each file is replaced atomically.
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from '../schema/failure.js';
import { unwritableFailure } from '../schema/unwritable.js';
import { makeFolder } from './make-folder.js';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Undefined if there is no file; the value of one that is not JSON is undefined. @throws Failure `unreadable_file` */
export function readPrivate(path: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(fs.readFileSync(path, 'utf8')) };
  } catch (error) {
    if (error instanceof SyntaxError) return { value: undefined };
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new Failure('unreadable_file', {
      what: `The file ${path} cannot be read.`,
      why: `${message}.`,
      fix: 'Give yourself the right to read it, or move it.',
      cause: error,
    });
  }
}

/** Removes the permissions of others. @returns the change as a sentence @throws Failure `unsafe_permissions` */
export function makePrivate(path: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  const stat = fs.statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  // In a folder with the sticky bit, like /tmp, users cannot replace each other's files.
  const isSticky = (stat.mode & 0o1000) !== 0;
  const open = stat.isDirectory() ? (isSticky ? 0 : stat.mode & 0o022) : stat.mode & 0o077;
  if (open === 0) return undefined;
  const could = (open & 0o022) === 0 ? 'read' : 'change';
  try {
    fs.chmodSync(path, stat.mode & 0o7777 & ~open);
  } catch (error) {
    throw new Failure('unsafe_permissions', {
      what: `${path} is not used.`,
      why: `Other users of this machine could ${could} it, and its permissions cannot be changed: ${(error as Error).message}.`,
      fix: stat.isDirectory() ? `chmod go-w ${path}` : `chmod 600 ${path}`,
      cause: error,
    });
  }
  return `other users of this machine could ${could} ${path}: its permissions are tightened now.`;
}

/** Writes a draft, syncs and renames it. Creates missing folders privately. @throws Failure `disk_full`, `unwritable_folder` */
export function writePrivate(path: string, text: string): void {
  const folder = dirname(path);
  const draft = `${path}.${randomUUID()}`;
  try {
    makeFolder(folder, FOLDER_MODE);
    fs.writeFileSync(draft, text, { mode: FILE_MODE, flag: 'wx', flush: true });
    fs.renameSync(draft, path);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw unwritableFailure(path, error, 'Give yourself the right to write there, or choose another folder.');
  }
}
