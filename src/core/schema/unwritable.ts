// The failure of a file or folder that cannot be written.
import { Failure } from './failure.js';

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'Permission is denied.',
  EPERM: 'The system does not allow it.',
  EROFS: 'The disk is read-only.',
  ENOSPC: 'The disk is full.',
  EDQUOT: 'The quota of the disk is used up.',
  ENOTDIR: 'A part of the path is a file.',
  EEXIST: 'There is a file or folder of that name.',
  EISDIR: 'There is a folder where a file has to be written.',
  ENAMETOOLONG: 'The path is too long.',
  ENOENT: 'There is no such folder, or the file system does not allow it there.',
  EMFILE: 'Too many files are open.',
};

export const FULL: ReadonlySet<string> = new Set(['SQLITE_FULL', 'ENOSPC', 'EDQUOT']);

/** `disk_full` or `unwritable_folder` for an error of the file system; any other as it is. @param what for example `reports/burst` */
export function unwritableFailure(what: string, error: unknown, fix: string): unknown {
  const { code = '', syscall, message } = error as NodeJS.ErrnoException;
  if (error instanceof Failure || syscall === undefined) return error;
  const why = reasons[code] ?? `${message}.`;
  const kind = FULL.has(code) ? 'disk_full' : 'unwritable_folder';
  return new Failure(kind, { what: `${what} cannot be written.`, why, fix, cause: error });
}

export async function writing<T>(what: string, fix: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw unwritableFailure(what, error, fix);
  }
}
