// A number of requests a line and no time: the first line is the second 0 of the log, or the first interval that --spread gives.
//   12
//   15
import { type Cutter, type Field, type Layout, mostly } from '../layout.js';
import { readCount, unitOfDate } from '../unix.js';
import type { Format } from './format.js';

const SECOND_MS = 1000;

export const counts: Format = {
  name: 'counts',
  open: ({ lines, options }, told) => {
    const isCount = (line: Buffer) => !Number.isNaN(readCount(line, 0, line.length));
    const isDate = (line: Buffer) => unitOfDate(Number(line.toString('latin1'))) !== undefined;
    // A first line may be the name of the column.
    const rest = lines.slice(1);
    const areCounts = rest.length === 0 ? mostly(lines, isCount) : mostly(rest, isCount);
    if (!told && (!areCounts || mostly(lines, isDate))) return undefined;
    const intervalMs = (options.spreadMs ?? 0) > 0 ? options.spreadMs! : SECOND_MS;
    return layoutOf(lines, intervalMs);
  },
};

function layoutOf(lines: readonly Buffer[], intervalMs: number): Layout {
  return {
    format: 'counts',
    noun: 'field',
    names: ['line', 'count'],
    lines,
    readsTime: true,
    cutter: (wanted, fields) => new CountCutter(wanted, fields, intervalMs),
    known: {
      time: 'line',
      timeFrom: `the number of the line, ${intervalMs / 1000} s each`,
      count: 'count',
      warning: {
        code: 'no_time',
        what: `The log has no times: each line counts the requests of ${intervalMs / 1000} s. Give the length with --spread.`,
      },
    },
  };
}

class CountCutter implements Cutter {
  unixMs: number;
  readonly #count: readonly Field[];
  readonly #intervalMs: number;

  constructor(wanted: readonly string[], fields: readonly Field[], intervalMs: number) {
    this.#count = fields.filter((_, i) => wanted[i] === 'count');
    this.#intervalMs = intervalMs;
    this.unixMs = -intervalMs;
  }

  cut(bytes: Buffer, from: number, to: number): string | undefined {
    if (this.unixMs < 0 && Number.isNaN(readCount(bytes, from, to))) return '';
    this.unixMs += this.#intervalMs;
    for (const field of this.#count) field.set(bytes, from, to);
    return undefined;
  }
}
