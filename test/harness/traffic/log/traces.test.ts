// Request logs as they are read have their known figures.
import { expect, it } from 'vitest';
import { readLog } from '../../../../src/harness/traffic/log/read.js';
import { temporaryFiles } from '../../../left-behind.js';
import { Counted } from './counted.js';
import { naiveFigures } from './naive-figures.js';
import { type RecordedLog, recordedLogs } from './recorded.js';

const { file } = temporaryFiles();

const pathOf = ({ name, text, path }: RecordedLog): string => path ?? file(name, text!);

it.for(recordedLogs.map((log) => [log.name, log] as const))(
  '%s gives the figures of two independent programs',
  async ([name, log], { task }) => {
    const counted = new Counted();
    const reading = await readLog(pathOf(log), log.options, counted);
    const { format, timeFrom, countFrom, requests, skippedLines } = reading;
    const { moves, ...figures } = naiveFigures(counted.of(''), 100, 60);
    const { entries, limited, peak_count: peak, limiting_cycles: cycles } = figures;
    task.meta.rows = [{ log: name, format, requests, entries, 'cycles limiting': cycles, limited, peak }];
    expect({
      understood: `${format}: ${[timeFrom, countFrom].filter(Boolean).join(', ')}`,
      skippedLines,
      figures: { requests, ...figures, first: moves.slice(0, 2), last: moves.slice(-2) },
    }).toEqual({ understood: log.understood, skippedLines: 0, figures: log.figures });
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
  const counted = new Counted();
  const reading = await readLog(pathOf(log), { keyColumn: 'client' }, counted);
  expect([reading.keyFrom, counted.keys.length, reading.requests]).toEqual([keyFrom, keys, log.figures.requests]);
});
