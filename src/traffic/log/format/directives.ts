// Logs that name their fields in a comment: W3C extended (IIS, CloudFront) and Zeek. The comment may come again with other names.
//   #Fields: date time c-ip cs-method cs-uri-stem sc-status
//   2015-05-17 10:05:03 192.0.2.1 GET /a 200
//   #fields	ts	uid	id.orig_h	id.orig_p
//   1431857103.123456	CXWv6p3arKYeMETxOg	192.0.2.1	4711
import type { Cutter, Field, Layout } from '../layout.js';
import type { Format } from './format.js';

const FIELDS = /^#(fields\t|Fields:\s*)(.*)$/i;

export const w3c: Format = directives('w3c', 'Fields:');
export const zeek: Format = directives('zeek', 'fields\t');

function directives(format: string, directive: string): Format {
  return {
    name: format,
    open: ({ lines }) => {
      const fields = lines.map((line) => namesIn(line)).find((names) => names !== undefined);
      const isThis = lines.some((line) => line.toString('latin1', 1, 1 + directive.length) === directive);
      return fields === undefined || !isThis ? undefined : layoutOf(format, lines);
    },
  };
}

/** The names in a directive, undefined for any other line. */
function namesIn(line: Buffer): readonly string[] | undefined {
  if (line[0] !== HASH) return undefined;
  const [, , list = ''] = FIELDS.exec(line.toString('utf8')) ?? [];
  return list.trim() === '' ? undefined : list.trim().split(/[ \t]+/);
}

function layoutOf(format: string, lines: readonly Buffer[]): Layout {
  const names = lines.flatMap((line) => namesIn(line) ?? []);
  return {
    format,
    noun: 'field',
    names: [...new Set(names)],
    lines,
    cutter: (wanted, fields) => new DirectiveCutter(format, wanted, fields, lines),
  };
}

class DirectiveCutter implements Cutter {
  readonly #wanted: readonly string[];
  readonly #fields: readonly Field[];
  readonly #reason: string;
  /** In which place of a line each wanted field stands, -1 for none. */
  #places: readonly number[];
  #columns: number;

  constructor(format: string, wanted: readonly string[], fields: readonly Field[], lines: readonly Buffer[]) {
    this.#wanted = wanted;
    this.#fields = fields;
    this.#reason = `not a line of the format ${format}`;
    const first = lines.map(namesIn).find((names) => names !== undefined) ?? [];
    this.#places = wanted.map((name) => first.indexOf(name));
    this.#columns = first.length;
  }

  cut(bytes: Buffer, from: number, to: number): string | undefined {
    if (bytes[from] === HASH) {
      const names = namesIn(bytes.subarray(from, to));
      if (names !== undefined) {
        this.#places = this.#wanted.map((name) => names.indexOf(name));
        this.#columns = names.length;
      }
      return '';
    }
    const separator = hasTab(bytes, from, to) ? TAB : SPACE;
    let place = 0;
    for (let at = from; at <= to; place++) {
      let end = at;
      if (bytes[end] === QUOTE && end < to) {
        end++;
        while (end < to && bytes[end] !== QUOTE) end++;
      }
      while (end < to && bytes[end] !== separator) end++;
      for (let i = 0; i < this.#places.length; i++) {
        // `-` stands for nothing.
        if (this.#places[i] === place && !(end === at + 1 && bytes[at] === MINUS)) this.#fields[i]!.set(bytes, at, end);
      }
      at = end + 1;
      if (separator === SPACE) while (at < to && bytes[at] === SPACE) at++;
    }
    return place * 2 < this.#columns ? this.#reason : undefined;
  }
}

function hasTab(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] === TAB) return true;
  return false;
}

const TAB = 0x09;
const SPACE = 0x20;
const QUOTE = 0x22;
const HASH = 0x23;
const MINUS = 0x2d;
