// Lines of any words in which a time stands first or in brackets: each is a request of the first address in it.
//   2015/05/17 10:05:03 [error] 7#7: *1 open() failed, client: 192.0.2.1, server: example.org
//   [Sun May 17 10:05:03.123456 2015] [core:error] [pid 7] [client 192.0.2.1:4711] File does not exist
//   1700000000                       12 2015-05-17T10:05  (a number before the time, as of uniq -c, is a count)
import { isIpLiteral } from '../address.js';
import { type Cutter, type Field, type Layout, mostly } from '../layout.js';
import { isFullDate } from '../time-column.js';
import type { Format } from './format.js';

/** How a line is cut: perhaps a count, then the time, then the rest. */
const SHAPES: readonly RegExp[] = [
  /^\s*(?<time>\d{4}[-/]\d\d[-/]\d\d[ T]\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?(?:Z|UTC|[+-]\d\d:?\d\d))?)(?<rest>(?!\S).*|,.*|\s*)$/s,
  /^\s*\[(?<time>[^\]]{8,40})\](?<rest>.*)$/s,
  /^\s*(?<time>(?:[A-Z][a-z]{2},? )?[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?(?: \d{4})?)(?<rest>(?!\S).*)$/s,
  /^\s*(?<time>\d{1,2}[/-]\w{2,3}[/-]\d{4}[ :T]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: [+-]\d{4})?)(?<rest>(?!\S).*)$/s,
  /^\s*(?<time>\d{10,19}(?:\.\d+)?)(?:[\s,;|]+(?<count>\d{1,9}))?(?<rest>(?!\S).*)$/s,
  /^\s*(?<count>\d{1,9})[\s,;|]+(?<time>\d\S*(?: [\d:.]+)?(?: [+-]\d{4})?)(?<rest>)\s*$/s,
  /^\s*(?<count>\d{1,9})[\s,;|]+\[?(?<time>[^\]]{8,40}?)\]?(?<rest>)\s*$/s,
];

export const timedLines: Format = {
  name: 'lines',
  open: ({ lines }, told) => {
    const shape = SHAPES.find((one) => mostly(lines, (line) => isTimed(line, one)));
    if (shape === undefined && !told) return undefined;
    return layoutOf(shape ?? SHAPES[0]!, lines);
  },
};

function isTimed(line: Buffer, shape: RegExp): boolean {
  const time = shape.exec(line.toString('latin1'))?.groups?.['time'];
  return time !== undefined && isFullDate(Buffer.from(time), true);
}

function layoutOf(shape: RegExp, lines: readonly Buffer[]): Layout {
  const counted = lines.filter((line) => shape.exec(line.toString('latin1'))?.groups?.['count'] !== undefined);
  const hasCount = counted.length * 2 > lines.length;
  return {
    format: 'lines',
    noun: 'field',
    names: ['time', 'client', 'text'],
    lines,
    cutter: (wanted, fields) => new TimedCutter(shape, wanted, fields),
    known: {
      time: 'time',
      timeFrom: 'the time in each line',
      ...(hasCount && { count: 'count' }),
      client: 'client',
      clientFrom: 'the first address in each line',
    },
  };
}

class TimedCutter implements Cutter {
  readonly #shape: RegExp;
  readonly #wanted: readonly string[];
  readonly #fields: readonly Field[];

  constructor(shape: RegExp, wanted: readonly string[], fields: readonly Field[]) {
    this.#shape = shape;
    this.#wanted = wanted;
    this.#fields = fields;
  }

  cut(bytes: Buffer, from: number, to: number): string | undefined {
    const groups = this.#shape.exec(bytes.toString('latin1', from, to))?.groups;
    if (groups === undefined) return 'no time where the other lines have it';
    const rest = groups['rest'] ?? '';
    const restFrom = to - rest.length;
    this.#wanted.forEach((name, i) => {
      const field = this.#fields[i]!;
      if (name === 'client') setFirstAddress(field, bytes, restFrom, to);
      else if (name === 'text') field.set(bytes, restFrom, to);
      else {
        const text = groups[name];
        if (text !== undefined) field.set(Buffer.from(text, 'latin1'), 0, text.length);
      }
    });
    return undefined;
  }
}

/** Sets the first word that is an IP address, without its port and the signs around it. */
export function setFirstAddress(field: Field, bytes: Buffer, from: number, to: number): void {
  for (let at = from; at < to; ) {
    while (at < to && !isAddressByte(bytes[at]!)) at++;
    const start = at;
    while (at < to && isAddressByte(bytes[at]!)) at++;
    let end = at;
    while (end > start && (bytes[end - 1] === DOT || bytes[end - 1] === COLON)) end--;
    const port = bytes.indexOf(COLON, start);
    if (!isIpLiteral(bytes, start, end) && port > start && port < end) end = port;
    if (isIpLiteral(bytes, start, end)) {
      field.set(bytes, start, end);
      return;
    }
    // A letter right before or after belongs to a word, not to an address.
    while (at < to && isWordByte(bytes[at]!)) at++;
  }
}

function isAddressByte(byte: number): boolean {
  const lower = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || byte === DOT || byte === COLON || (lower >= 0x61 && lower <= 0x66);
}

function isWordByte(byte: number): boolean {
  const lower = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x7a);
}

const DOT = 0x2e;
const COLON = 0x3a;
