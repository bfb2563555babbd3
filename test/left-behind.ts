// What a test file leaves behind: folders, processes. Test files share a process and its modules, so a helper must not call `afterAll`
// when it is loaded: it would hold for the first file only. It says here what has to end, and `after-file.ts` sees to it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const tasks: (() => unknown)[] = [];

/** Runs the task once the tests of the present file are over. The last one given runs first. */
export function afterFile(task: () => unknown): void {
  tasks.push(task);
}

export async function endFile(): Promise<void> {
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) await task();
}

/** An empty folder, removed after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-test-'));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The same, and a function that writes a file into it and returns its path. */
export function temporaryFiles() {
  const folder = temporaryFolder();
  const file = (name: string, content: string | Buffer): string => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  };
  return { folder, file };
}
