// Creates folders one at a time: Node's recursive mkdir never returns in a folder such as /proc, which exists but reports ENOENT for new entries.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** @returns the folders created, topmost first @throws the system error; `ENOTDIR` if the path is a file */
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
      // Another process may have created it meanwhile.
      if (existsSync(folder)) return false;
      throw error;
    }
  });
}
