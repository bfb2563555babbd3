// Owns the speed of reading a combined log into counts by cycle, beside node:readline doing nothing with its lines.
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { CYCLE_MS } from '../../src/core/time/cycle.js';
import { readLog } from '../../src/harness/traffic/log/read.js';
import { LogOrder } from '../../src/harness/traffic/log-order.js';
import { synthesiseLog } from '../harness/traffic/log/synthetic-log.js';
import { type BenchRow, beside, sideBySide } from './measure.js';

export const LINES = 1_000_000;
const CLIENTS = 5_000;
const ROUNDS = 3;

export const benchReplay = (): Promise<BenchRow[]> =>
  overLog(async (path) => {
    const bodies = {
      readline: () => throughReadline(path),
      whole: () => intoCycles(path),
      byClient: () => intoCycles(path, 'client'),
    };
    const { readline, whole, byClient } = await sideBySide(bodies, LINES, ROUNDS);
    const row = (what: string, value: number, target?: number): BenchRow => ({
      ...{ what: `log: ${what}, ${LINES} combined lines`, value, unit: 'lines/s' },
      against: beside(value, 'node:readline', readline, target),
    });
    return [row('counts by cycle', whole, 3.5), row('counts by client and cycle', byClient, 1.3)];
  });

async function throughReadline(path: string): Promise<void> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  lines.on('line', () => {});
  await new Promise<void>((done) => {
    lines.once('close', done);
  });
}

async function intoCycles(path: string, keyColumn?: string): Promise<void> {
  const order = new LogOrder({ cycleMs: CYCLE_MS, isOne: keyColumn === undefined });
  await readLog(path, { keyColumn }, order);
  for (const _ of order.end());
}

/** The rows of a bench over a log that is gone after it. */
export async function overLog(bench: (path: string) => Promise<BenchRow[]>): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  try {
    const path = join(folder, 'access.log');
    await writeLog(path);
    return await bench(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function writeLog(path: string): Promise<void> {
  const file = createWriteStream(path);
  let part: string[] = [];
  synthesiseLog(LINES, CLIENTS, 7, (line) => {
    part.push(line);
    if (part.length < 4096) return;
    file.write(part.join(''));
    part = [];
  });
  file.end(part.join(''));
  await finished(file);
}
