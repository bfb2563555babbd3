// Folders are made one at a time: Node's recursive mkdir never returns if a folder exists and answers for what is made in it that it does not
// exist, as /proc does.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder, and those above it that are missing.
 * @returns those that were made, the topmost first; none if it is there
 * @throws what the system says, `ENOTDIR` for a file of that name
 */
export function makeFolder(path: string, mode = 0o777): readonly string[] {
  const missing: string[] = [];
  for (let folder = resolve(path); !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
  if (missing.length === 0 && !statSync(path).isDirectory())
    throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: 'ENOTDIR', syscall: 'mkdir' });
  return missing.filter((folder) => {
    try {
      mkdirSync(folder, { mode });
      return true;
    } catch (error) {
      // Another process may have made it at the same time.
      if (existsSync(folder)) return false;
      throw error;
    }
  });
}
