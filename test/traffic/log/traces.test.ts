// The figures of traces/EXPECTED.md, by a window so plain that it can be checked by eye. The gate of src/core is not used here.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LogOptions } from '../../../src/traffic/log/options.js';
import { readLog } from '../../../src/traffic/log/read.js';
import { type CycleCounts, CycleTally } from '../../../src/traffic/tally.js';

const folder = process.env['WEIR_TRACES'] ?? resolve(import.meta.dirname, '../../../../shared/traces');
const isThere = existsSync(folder);
if (!isThere) console.warn(`NOTICE: no request logs at ${folder} (or WEIR_TRACES): their figures are NOT checked.`);

const THRESHOLD = 100;
const WITHIN = 60;

interface Figures {
  requests: number;
  entries: number;
  restores: number;
  limitingCycles: number;
  limited: number;
  peak: number;
  /** `to cycle (count)` */
  first: string[];
  last: string[];
}

/** The rules of the limiter, cycle by cycle and request by request. */
function naiveFigures({ cycles, counts }: CycleCounts): Figures {
  const inCycle = new Map(Array.from(cycles, (cycle, i) => [cycle, counts[i]!]));
  const moves: { to: string; cycle: number; count: number }[] = [];
  let [count, limited, peak, requests] = [0, 0, 0, 0];
  let isLimiting = false;
  const evaluate = (cycle: number): void => {
    if (isLimiting === count > THRESHOLD) return;
    isLimiting = !isLimiting;
    moves.push({ to: isLimiting ? 'limiting' : 'allowing', cycle, count });
  };
  const lastCycle = cycles.at(-1)! + WITHIN;
  for (let cycle = cycles[0]!; cycle <= lastCycle; cycle++) {
    count -= inCycle.get(cycle - WITHIN) ?? 0;
    evaluate(cycle);
    for (let k = inCycle.get(cycle) ?? 0; k > 0; k--) {
      requests++;
      count++;
      evaluate(cycle);
      if (isLimiting) limited++;
      peak = Math.max(peak, count);
    }
  }
  const enters = moves.filter(({ to }) => to === 'limiting');
  const restores = moves.filter(({ to }) => to === 'allowing');
  const sum = (of: readonly { cycle: number }[]): number => of.reduce((total, { cycle }) => total + cycle, 0);
  const named = moves.map((move) => `${move.to} ${move.cycle} (${move.count})`);
  return {
    requests,
    entries: enters.length,
    restores: restores.length,
    limitingCycles: sum(restores) - sum(enters),
    limited,
    peak,
    first: named.slice(0, 2),
    last: named.slice(-2),
  };
}

interface Case extends Omit<Figures, 'restores'> {
  file: string;
  options?: LogOptions;
  understood: string;
}

const cases: Case[] = [
  {
    file: 'elastic_apache_logs.log',
    understood: 'combined: the time in brackets',
    requests: 10_000,
    entries: 75,
    limitingCycles: 285,
    limited: 388,
    peak: 113,
    first: ['limiting 1842825169 (101)', 'allowing 1842825171 (96)'],
    last: ['limiting 1843177293 (101)', 'allowing 1843177295 (100)'],
  },
  {
    file: 'nasa_19950801.tsv',
    understood: 'tsv: column time (unix s)',
    requests: 30_969,
    entries: 15,
    limitingCycles: 104,
    limited: 167,
    peak: 143,
    first: ['limiting 1038980406 (101)', 'allowing 1038980407 (99)'],
    last: ['limiting 1038997303 (101)', 'allowing 1038997304 (100)'],
  },
  {
    file: 'azure_llm_code.csv',
    understood: 'csv: column TIMESTAMP (date and time)',
    requests: 8819,
    entries: 16,
    limitingCycles: 1929,
    limited: 6690,
    peak: 599,
    first: ['limiting 2188106591 (101)', 'allowing 2188106788 (97)'],
    last: ['limiting 2188110744 (101)', 'allowing 2188110807 (95)'],
  },
  {
    file: 'nginxplus_counts.csv',
    understood: 'csv: column t_ms (unix ms), column n',
    requests: 28_384,
    entries: 1,
    limitingCycles: 3327,
    limited: 28_284,
    peak: 670,
    first: ['limiting 1861324980 (101)', 'allowing 1861328307 (59)'],
    last: ['limiting 1861324980 (101)', 'allowing 1861328307 (59)'],
  },
  {
    file: 'worldcup98_permin_19980430_0501.csv',
    options: { spreadMs: 60_000 },
    understood: 'csv: column period (date and time), column count',
    requests: 1_256_779,
    entries: 1,
    limitingCycles: 120_503,
    limited: 1_256_399,
    peak: 1450,
    first: ['limiting 1150545179 (101)', 'allowing 1150665682 (98)'],
    last: ['limiting 1150545179 (101)', 'allowing 1150665682 (98)'],
  },
];

describe.skipIf(!isThere)('real request logs give the figures of two independent programs', () => {
  it.each(cases)('$file', async ({ file, options = {}, understood, ...figures }) => {
    const tally = new CycleTally();
    const reading = await readLog(resolve(folder, file), options, tally);
    const { format, timeFrom, countFrom, requests, skippedLines } = reading;
    expect({
      understood: `${format}: ${[timeFrom, countFrom].filter(Boolean).join(', ')}`,
      requests,
      skippedLines,
      figures: naiveFigures(tally.inOrder('')),
    }).toEqual({
      understood,
      requests: figures.requests,
      skippedLines: 0,
      figures: { ...figures, restores: figures.entries },
    });
  });

  it.each([
    ['elastic_apache_logs.log', 'the client address', 1753, 10_000],
    ['nasa_19950801.tsv', 'column host', 2365, 30_969],
  ])('%s by client: %s', async (file, keyFrom, keys, requests) => {
    const tally = new CycleTally();
    const reading = await readLog(resolve(folder, file), { keyColumn: 'client' }, tally);
    expect({ keyFrom: reading.keyFrom, keys: [...tally.keys()].length, requests: tally.requests }).toEqual({
      keyFrom,
      keys,
      requests,
    });
  });
});
