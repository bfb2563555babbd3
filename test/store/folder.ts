// Owns folders for tests that need a disk: made when asked for, gone after each test. Leaves what goes into them to the tests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';

const made: string[] = [];

/** A new empty folder, removed with all that is in it after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-store-'));
  made.push(folder);
  return folder;
}

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});
