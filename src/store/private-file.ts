// Files that only their user may read: secrets of a node and of its clients. Each file is replaced as a whole or not at all.
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from '../schema/failure.js';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * The text of a file; undefined if there is none.
 * @throws Failure `unreadable_file`
 */
export function readPrivate(path: string): string | undefined {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch (error) {
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

/**
 * Writes a file: first under another name, then synced, then renamed, so that a reader finds the old content or the new.
 * Creates missing folders for this user only.
 * @throws Failure `unwritable_folder`
 */
export function writePrivate(path: string, text: string): void {
  const folder = dirname(path);
  const draft = `${path}.${randomUUID()}`;
  try {
    fs.mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    const file = fs.openSync(draft, 'wx', FILE_MODE);
    try {
      fs.writeFileSync(file, text);
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    fs.renameSync(draft, path);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw new Failure('unwritable_folder', {
      what: `The file ${path} was not written.`,
      why: `${(error as Error).message}.`,
      fix: 'Give yourself the right to write there, make room on the disk, or choose another folder.',
      cause: error,
    });
  }
}
