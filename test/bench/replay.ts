// Owns the speed of reading a combined log into counts by cycle, beside node:readline doing nothing with its lines.
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { readLog } from '../../src/traffic/log/read.js';
import { CycleTally } from '../../src/traffic/tally.js';
import { synthesiseLog } from '../traffic/log/synthetic-log.js';
import { type BenchRow, median } from './measure.js';

export const LINES = 1_000_000;
const CLIENTS = 5_000;
const ROUNDS = 3;

export async function benchReplay(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  try {
    const path = join(folder, 'access.log');
    await writeLog(path);
    // In turn, so that what disturbs the machine disturbs them all.
    const seen: { readline: number[]; whole: number[]; byClient: number[] } = { readline: [], whole: [], byClient: [] };
    for (let round = 0; round <= ROUNDS; round++) {
      const speeds = {
        readline: await linesPerSecond(() => throughReadline(path)),
        whole: await linesPerSecond(() => intoCycles(path)),
        byClient: await linesPerSecond(() => intoCycles(path, 'client')),
      };
      // The first round warms up.
      if (round === 0) continue;
      seen.readline.push(speeds.readline);
      seen.whole.push(speeds.whole);
      seen.byClient.push(speeds.byClient);
    }
    const readline = median(seen.readline);
    const row = (what: string, value: number, target?: number): BenchRow => ({
      what: `log: ${what}, ${LINES} combined lines`,
      value,
      unit: 'lines/s',
      against: {
        name: 'node:readline',
        value: readline,
        ratio: value / readline,
        ...(target !== undefined && { target }),
      },
    });
    return [
      row('counts by cycle', median(seen.whole), 3.5),
      row('counts by client and cycle', median(seen.byClient), 1.3),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function linesPerSecond(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return (1000 * LINES) / (performance.now() - startMs);
}

async function throughReadline(path: string): Promise<void> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  lines.on('line', () => {});
  await new Promise<void>((done) => {
    lines.once('close', done);
  });
}

async function intoCycles(path: string, keyColumn?: string): Promise<void> {
  const tally = new CycleTally();
  await readLog(path, { keyColumn }, tally);
  for (const key of tally.keys()) tally.inOrder(key);
}

export async function writeLog(path: string): Promise<void> {
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
