// Request logs as they are read and replayed have their known figures.
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../../src/core/limiter/validate.js';
import { CYCLE_MS } from '../../../../src/core/time/cycle.js';
import { replay } from '../../../../src/harness/simulate/replay.js';
import type { LogOptions } from '../../../../src/harness/traffic/log/log-options.js';
import { temporaryFiles } from '../../../left-behind.js';
import { checkOutcome } from '../../simulate/running.js';
import { type RecordedLog, recordedLogs } from './recorded.js';

const { file } = temporaryFiles();

async function replayed({ name, text, path, options }: RecordedLog, more: LogOptions = {}) {
  const log = { ...options, ...more };
  const { outcome, readings } = await replay([path ?? file(name, text!)], {
    ...{ name: 'log', cycleMs: CYCLE_MS, plan: planContract(rateLimiter()), log },
  });
  checkOutcome(outcome);
  return { outcome, reading: readings[0]! };
}

it.for(recordedLogs.map((log) => [log.name, log] as const))(
  '%s gives the figures of two independent programs',
  async ([name, log], { task }) => {
    const { outcome, reading } = await replayed(log);
    const { format, timeFrom, countFrom, requests, skippedLines } = reading;
    const { entries, limited, peak_count: peak, limiting_cycles: cycles } = outcome;
    task.meta.rows = [{ log: name, format, requests, entries, 'cycles limiting': cycles, limited, peak }];
    const { first, last, ...figures } = log.figures;
    expect({
      understood: `${format}: ${[timeFrom, countFrom].filter(Boolean).join(', ')}`,
      requests,
      skippedLines,
    }).toEqual({
      understood: log.understood,
      requests: figures.requests,
      skippedLines: 0,
    });
    expect(outcome).toMatchObject({
      ...{ ...figures, restores: entries, admitted: requests - limited, skipped_lines: 0 },
    });
    const moves = outcome.by_contract[0]!.transitions.map((move) => `${move.to} ${move.cycle} (${move.count})`);
    expect([moves.slice(0, 2), moves.slice(-2), moves.length]).toEqual([first, last, 2 * figures.entries]);
  },
);

it.each(
  [
    ['apache', 'the client address', 1753],
    ['nasa', 'column host', 2365],
    ['elastic_apache_logs.log', 'the client address', 1753],
    ['nasa_19950801.tsv', 'column host', 2365],
  ].flatMap(([name, keyFrom, keys]) =>
    recordedLogs.flatMap((log) => (log.name === name ? [[name, keyFrom, keys, log] as const] : [])),
  ),
)('the clients of %s are read from %s, and there are %i of them', async (_, keyFrom, keys, log) => {
  const { outcome, reading } = await replayed(log, { keyColumn: 'client' });
  expect([reading.keyFrom, outcome.contracts, reading.requests]).toEqual([keyFrom, keys, log.figures.requests]);
});
