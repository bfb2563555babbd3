// Owns the running of writer.mjs in a process of its own. Leaves what it does to writer.mjs, what it means to the tests.
import { spawn } from 'node:child_process';
import { renameSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterFile } from '../../left-behind.js';

const script = fileURLToPath(new URL('./writer.mjs', import.meta.url));
let bundled: string | undefined;

export interface StoreProcess {
  readonly pid: number;
  /** What it has printed so far. */
  readonly lines: string[];
  /** Resolves once so many lines were printed, or the process has ended. */
  printed(count: number): Promise<void>;
  /** Resolves once the process is gone and all that it has printed is in `lines`. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** @param commits after which it waits to be killed; endless when absent */
export function startProcess(task: 'hold' | 'write' | 'cut' | 'count', dir: string, commits?: number): StoreProcess {
  bundled ??= bundle();
  const child = spawn(process.execPath, [bundled, task, dir, ...(commits === undefined ? [] : [String(commits)])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  afterFile(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  let waiting: { count: number; resolve: () => void }[] = [];
  let ended = false;
  const look = () => {
    for (const { count, resolve } of waiting) if (ended || lines.length >= count) resolve();
    waiting = waiting.filter(({ count }) => !ended && lines.length < count);
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    look();
  });
  const end = new Promise<void>((resolve) => {
    child.on('close', () => {
      ended = true;
      look();
      resolve();
    });
  });
  return {
    pid: child.pid ?? 0,
    lines,
    printed: (count) =>
      new Promise((resolve) => {
        waiting.push({ count, resolve });
        look();
      }),
    kill: (signal = 'SIGKILL') => {
      child.kill(signal);
      return end;
    },
  };
}

/** Within the project: packages are found from there. */
function bundle(): string {
  const file = fileURLToPath(new URL('../../../build/store-writer.mjs', import.meta.url));
  const outfile = `${file}.${process.pid}.mjs`;
  buildSync({ entryPoints: [script], outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external' });
  // Another process of the tests may be starting the one that is there.
  renameSync(outfile, file);
  return file;
}
