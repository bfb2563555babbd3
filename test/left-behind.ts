// What tests leave behind: folders, processes, nodes. Test files share a process and its modules, so a helper must not call `afterAll`
// when it is loaded: it would hold for the first file only. It says here what has to end, and `after-file.ts` sees to it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

type Task = () => unknown;

const ofFile: Task[] = [];
const ofTests: Task[] = [];
/** Tests that are under way: several only where they run beside each other. */
let underWay = 0;

/** Runs the task once the tests of the present file are over. The last one given runs first. */
export function afterFile(task: Task): void {
  ofFile.push(task);
}

/** Runs the task once the present test is over, or, where none is under way, the file. */
export function afterTest(task: Task): void {
  (underWay > 0 ? ofTests : ofFile).push(task);
}

export function beginTest(): void {
  underWay += 1;
}

export async function endTest(): Promise<void> {
  underWay -= 1;
  if (underWay === 0) await end(ofTests);
}

export const endFile = () => end(ofFile);

async function end(tasks: Task[]): Promise<void> {
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) await task();
}

/** An empty folder, removed after the tests of the file. */
export function temporaryFolder(name = 'weir-test-'): string {
  const folder = mkdtempSync(join(tmpdir(), name));
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
