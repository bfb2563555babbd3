// Every threshold of three windows in one pass over a log, beside one replay of it, in processor time: by one limit for all, and by client.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rateLimiter } from '../../src/limiter/rate-limiter.js';
import { planContract } from '../../src/limiter/validate.js';
import { replay } from '../../src/simulate/replay.js';
import { adviceOfLogs } from '../../src/sizing/recommend.js';
import { type BenchRow, median } from './measure.js';
import { LINES, writeLog } from './replay.js';

const ROUNDS = 3;
const CYCLE_MS = 777;

export async function benchSizing(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  try {
    const path = join(folder, 'access.log');
    await writeLog(path);
    const rows: BenchRow[] = [];
    for (const keyColumn of [undefined, 'client']) {
      const log = { keyColumn };
      const plan = planContract(rateLimiter());
      const one = () => replay([path], { name: 'log', cycleMs: CYCLE_MS, plan, log });
      const all = () =>
        adviceOfLogs([path], { cycleMs: CYCLE_MS, windowCycles: [60, 300, 1000], shares: [0.001], log });
      const seen: { one: number[]; all: number[] } = { one: [], all: [] };
      // In turn, so that what disturbs the machine disturbs both; the first round warms up.
      for (let round = 0; round <= ROUNDS; round += 1) {
        const [oneS, allS] = [await processorSeconds(one), await processorSeconds(all)];
        if (round === 0) continue;
        seen.one.push(oneS);
        seen.all.push(allS);
      }
      const value = median(seen.all);
      const against = median(seen.one);
      rows.push({
        what: `recommend: all thresholds of three windows${keyColumn === undefined ? '' : ', by client'}, ${LINES} combined lines`,
        value,
        unit: 's of processor',
        against: { name: 'one replay', value: against, ratio: value / against, target: 1.5 },
      });
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function processorSeconds(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
