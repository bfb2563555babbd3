// logfmt: words of a name and a value.
//   time=2015-05-17T10:05:03Z level=info method=GET path="/a b" fwd="192.0.2.1" status=200
import { type Cutter, type Field, type Layout, mostly } from '../layout.js';
import { findTime } from '../time-column.js';
import type { Format } from './format.js';

const PAIR = /([A-Za-z_][\w.@-]*)=("(?:[^"\\]|\\.)*"|[^\s"]*)(?=\s|$)/g;

/** A line is recognised by this many pairs. */
const FEWEST_PAIRS = 3;

export const logfmt: Format = {
  name: 'logfmt',
  open: ({ lines, options }, told) => {
    const layout = logfmtLayout(lines);
    if (!told && !mostly(lines, isLogfmt)) return undefined;
    return told || findTime(layout, options.timeColumn) !== undefined ? layout : undefined;
  },
};

/** logfmt whose time is in an envelope. */
export const timelessLogfmt: Format = {
  name: 'logfmt',
  open: ({ lines }) => (mostly(lines, isLogfmt) ? logfmtLayout(lines) : undefined),
};

function isLogfmt(line: Buffer): boolean {
  return [...line.toString('latin1').matchAll(PAIR)].length >= FEWEST_PAIRS;
}

function logfmtLayout(lines: readonly Buffer[]): Layout {
  const names = new Set(lines.flatMap((line) => [...line.toString('utf8').matchAll(PAIR)].map(([, name]) => name!)));
  return {
    format: 'logfmt',
    noun: 'field',
    names: [...names],
    lines,
    cutter: (wanted, fields) => new LogfmtCutter(wanted, fields),
  };
}

class LogfmtCutter implements Cutter {
  readonly #wanted: readonly string[];
  readonly #fields: readonly Field[];

  constructor(wanted: readonly string[], fields: readonly Field[]) {
    this.#wanted = wanted;
    this.#fields = fields;
  }

  cut(bytes: Buffer, from: number, to: number): string | undefined {
    let pairs = 0;
    for (const [, name = '', written = ''] of bytes.toString('utf8', from, to).matchAll(PAIR)) {
      pairs++;
      const place = this.#wanted.indexOf(name);
      if (place < 0) continue;
      const text = written.startsWith('"') ? written.slice(1, -1).replace(/\\(.)/g, '$1') : written;
      const value = Buffer.from(text);
      this.#wanted.forEach((other, i) => {
        if (other === name) this.#fields[i]!.set(value, 0, value.length);
      });
    }
    return pairs === 0 ? 'no name=value in it' : undefined;
  }
}
