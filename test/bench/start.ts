// Owns how long the program that users start, the bundle, takes to be there: `weir --help` beside `node -e 0`, and a node from its
// restart after a kill to the moment when it is ready. Leaves measuring to measure.ts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atMost, type BenchRow, median } from './measure.js';

const program = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** What `weir --help` may take beyond `node -e 0`, and what a restart may take, in ms. */
const MOST_BEYOND_MS = 60;
const MOST_RESTART_MS = 450;

export async function benchStart(rounds = 9): Promise<BenchRow[]> {
  const empty: number[] = [];
  const help: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    empty.push(await msToExit(['-e', '0']));
    help.push(await msToExit([program, '--help']));
  }
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const ready: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) ready.push(await msToReady(dir));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  const beyond = median(help.map((ms, round) => ms - empty[round]!));
  const restart = median(ready.slice(1));
  const within = (what: string, value: number, most: number) => ({
    ...{ what, value, unit: 'ms', against: atMost(most, value, 'ms') },
  });
  return [
    within('weir --help, beyond node -e 0', beyond, MOST_BEYOND_MS),
    within('weir serve, restart after kill -9 until it is ready', restart, MOST_RESTART_MS),
  ];
}

async function msToExit(given: readonly string[]): Promise<number> {
  const startMs = performance.now();
  await once(spawn(process.execPath, given, { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit');
  return performance.now() - startMs;
}

/** Starts a node, waits until it says that it is ready, and kills it. */
async function msToReady(dir: string): Promise<number> {
  const startMs = performance.now();
  const node = spawn(process.execPath, [program, 'serve', '--data', dir, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  for await (const chunk of node.stdout) {
    told += String(chunk);
    if (told.includes('ready')) break;
  }
  const ms = performance.now() - startMs;
  node.kill('SIGKILL');
  if (node.exitCode === null && node.signalCode === null) await once(node, 'exit');
  if (!told.includes('ready')) throw new Error(`the node did not come up: ${told}`);
  return ms;
}
