// Whether two paths are one file: what is written to it would be lost to who reads it.
import { statSync } from 'node:fs';

/** False for what is no regular file. */
export function isSameFile(path: string, other: string): boolean {
  const [file, same] = [fileOf(path), fileOf(other)];
  return file !== undefined && file === same;
}

function fileOf(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true });
    return found.isFile() ? `${found.dev} ${found.ino}` : undefined;
  } catch {
    return undefined;
  }
}
