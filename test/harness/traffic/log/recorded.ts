// Real request logs as facts: how many requests came in each cycle (counts/*.txt). From them a log of the same counts is written in the
// format that each of them had, so that the way from a file to its figures is tested without the files. Where the real ones are at hand
// (../shared/traces, or WEIR_TRACES), they are tested, too.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CYCLE_MS, startOf } from '../../../../src/core/time/cycle.js';
import type { LogOptions } from '../../../../src/harness/traffic/log/log-options.js';
import { clfTime } from './synthetic-log.js';

interface RecordedFigures {
  readonly requests: number;
  readonly entries: number;
  readonly limiting_cycles: number;
  readonly limited: number;
  readonly peak_count: number;
  /** `state cycle (count)`: the first two transitions, and the last two. */
  readonly first: readonly string[];
  readonly last: readonly string[];
}

export interface RecordedLog {
  readonly name: string;
  /** How the reader understands it. */
  readonly understood: string;
  readonly options: LogOptions;
  /** With 100 requests in 60 cycles of 777 ms, as two independent programs found. */
  readonly figures: RecordedFigures;
  /** The text of a log with these counts; undefined for the real file at `path`. */
  readonly text?: string;
  readonly path?: string;
}

const known: readonly (Omit<RecordedLog, 'text' | 'path'> & { readonly real: string; readonly lines?: Lines })[] = [
  {
    name: 'apache',
    real: 'elastic_apache_logs.log',
    understood: 'combined: the bracketed timestamp',
    options: {},
    lines: (unixMs, n, at) =>
      Array.from({ length: n }, (_, k) => {
        const client = `10.0.${((at * 7919 + k) % 1753) >> 8}.${((at * 7919 + k) % 1753) & 255}`;
        return `${client} - - [${clfTime(unixMs)}] "GET /${at}/${k} HTTP/1.1" 200 12 "-" "-"\n`;
      }).join(''),
    figures: {
      ...{ requests: 10_000, entries: 75, limiting_cycles: 285, limited: 388, peak_count: 113 },
      first: ['limiting 1842825169 (101)', 'allowing 1842825171 (96)'],
      last: ['limiting 1843177293 (101)', 'allowing 1843177295 (100)'],
    },
  },
  {
    name: 'nasa',
    real: 'nasa_19950801.tsv',
    understood: 'tsv: column time (unix s)',
    options: {},
    lines: (unixMs, n, at) => `host${at % 2365}\t${unixMs / 1000}\n`.repeat(n),
    figures: {
      ...{ requests: 30_969, entries: 15, limiting_cycles: 104, limited: 167, peak_count: 143 },
      first: ['limiting 1038980406 (101)', 'allowing 1038980407 (99)'],
      last: ['limiting 1038997303 (101)', 'allowing 1038997304 (100)'],
    },
  },
  {
    name: 'azure',
    real: 'azure_llm_code.csv',
    understood: 'csv: column TIMESTAMP (date and time)',
    options: {},
    lines: (unixMs, n) => `${new Date(unixMs).toISOString().replace('T', ' ').replace('Z', '0000')},1\n`.repeat(n),
    figures: {
      ...{ requests: 8819, entries: 16, limiting_cycles: 1929, limited: 6690, peak_count: 599 },
      first: ['limiting 2188106591 (101)', 'allowing 2188106788 (97)'],
      last: ['limiting 2188110744 (101)', 'allowing 2188110807 (95)'],
    },
  },
  {
    name: 'nginx',
    real: 'nginxplus_counts.csv',
    understood: 'csv: column t_ms (unix ms), column n',
    options: {},
    lines: (unixMs, n) => `${unixMs},${n}\n`,
    figures: {
      ...{ requests: 28_384, entries: 1, limiting_cycles: 3327, limited: 28_284, peak_count: 670 },
      first: ['limiting 1861324980 (101)', 'allowing 1861328307 (59)'],
      last: ['limiting 1861324980 (101)', 'allowing 1861328307 (59)'],
    },
  },
  {
    name: 'worldcup',
    real: 'worldcup98_permin_19980430_0501.csv',
    understood: 'csv: column period (date and time), column count',
    options: { spreadMs: 60_000 },
    figures: {
      ...{ requests: 1_256_779, entries: 1, limiting_cycles: 120_503, limited: 1_256_399, peak_count: 1450 },
      first: ['limiting 1150545179 (101)', 'allowing 1150665682 (98)'],
      last: ['limiting 1150545179 (101)', 'allowing 1150665682 (98)'],
    },
  },
];

/** The lines of one cycle. @param unixMs a whole second in it where there is one */
type Lines = (unixMs: number, n: number, at: number) => string;

const heads: Readonly<Record<string, string>> = {
  nasa: 'host\ttime\n',
  azure: 'TIMESTAMP,tokens\n',
  nginx: 't_ms,n\n',
};

const traces = process.env['WEIR_TRACES'] ?? resolve(import.meta.dirname, '../../../../../shared/traces');

export const recordedLogs: readonly RecordedLog[] = known.flatMap(({ real, lines, ...log }) => {
  const path = resolve(traces, real);
  return [
    ...(lines === undefined ? [] : [{ ...log, text: textOf(log.name, lines) }]),
    ...(existsSync(path) ? [{ ...log, name: real, path }] : []),
  ];
});

function textOf(name: string, lines: Lines): string {
  const rows = countsOf(name).map(([cycle, n], at) => {
    const start = startOf(cycle, CYCLE_MS);
    const second = Math.ceil(start / 1000) * 1000;
    return lines(second < start + CYCLE_MS ? second : start, n, at);
  });
  return `${heads[name] ?? ''}${rows.join('')}`;
}

/** Cycle and number of requests, for each cycle with requests. */
function countsOf(name: string): [cycle: number, n: number][] {
  const text = readFileSync(new URL(`counts/${name}.txt`, import.meta.url), 'utf8');
  let cycle = Number(/first cycle (\d+)/.exec(text)?.[1]);
  return text
    .replace(/^#.*\n/gm, '')
    .trim()
    .split(/\s+/)
    .map((token) => {
      const [step = '', n = '1'] = token.split('.');
      cycle += Number.parseInt(step, 36);
      return [cycle, Number.parseInt(n, 36)];
    });
}
