// The known figures of request logs, by a window so plain that it can be checked by eye: the gate is not used here.
import { describe, expect, it } from 'vitest';
import { readLog } from '../../../../src/harness/traffic/log/read.js';
import { temporaryFiles } from '../../../left-behind.js';
import { Counted, type Counts } from './counted.js';
import { type RecordedFigures, type RecordedLog, recordedLogs } from './recorded.js';

const THRESHOLD = 100;
const WITHIN = 60;

/** The rules of the limiter, cycle by cycle and request by request. */
function naiveFigures({ cycles, counts }: Counts): RecordedFigures & { restores: number } {
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
    limiting_cycles: sum(restores) - sum(enters),
    limited,
    peak_count: peak,
    first: named.slice(0, 2),
    last: named.slice(-2),
  };
}

const { file } = temporaryFiles();

const pathOf = ({ name, text, path }: RecordedLog): string => path ?? file(name, text!);

describe('request logs give the figures of two independent programs', () => {
  it.for(recordedLogs.map((log) => [log.name, log] as const))('%s', async ([name, log], { task }) => {
    const counted = new Counted();
    const reading = await readLog(pathOf(log), log.options, counted);
    const { format, timeFrom, countFrom, requests, skippedLines } = reading;
    const figures = naiveFigures(counted.of(''));
    const { entries, limited, peak_count: peak, limiting_cycles: cycles } = figures;
    task.meta.row = { log: name, format, requests, entries, 'cycles limiting': cycles, limited, peak };
    expect({
      understood: `${format}: ${[timeFrom, countFrom].filter(Boolean).join(', ')}`,
      requests,
      skippedLines,
      figures,
    }).toEqual({
      understood: log.understood,
      requests: log.figures.requests,
      skippedLines: 0,
      figures: { ...log.figures, restores: log.figures.entries },
    });
  });

  it.each(
    [
      ['apache', 'the client address', 1753],
      ['nasa', 'column host', 2365],
      ['elastic_apache_logs.log', 'the client address', 1753],
      ['nasa_19950801.tsv', 'column host', 2365],
    ].flatMap(([name, keyFrom, keys]) =>
      recordedLogs.flatMap((log) => (log.name === name ? [[name, keyFrom, keys, log] as const] : [])),
    ),
  )('%s by client: %s, of which there are %i', async (_, keyFrom, keys, log) => {
    const counted = new Counted();
    const reading = await readLog(pathOf(log), { keyColumn: 'client' }, counted);
    expect([reading.keyFrom, counted.keys.length, reading.requests]).toEqual([keyFrom, keys, log.figures.requests]);
  });
});
