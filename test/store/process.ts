// Owns the running of writer.mjs in a process of its own. Leaves what it does to writer.mjs, what it means to the tests.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterFile } from '../left-behind.js';

const script = fileURLToPath(new URL('./writer.mjs', import.meta.url));
const build = fileURLToPath(new URL('../../dist/store/sqlite.js', import.meta.url));

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
  if (!existsSync(build)) throw new Error('There is no build to run: `npm run build` comes first.');
  const child = spawn(process.execPath, [script, task, dir, ...(commits === undefined ? [] : [String(commits)])], {
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
