// Makes requests of the lines of any format: cuts a line into fields, tests the filters, reads time, count and key.
import { narrow } from './address.js';
import type { Columns, Wanted } from './columns.js';
import { type Intake, NO_CLIENT } from './intake.js';
import { type Cutter, Field, type Layout } from './layout.js';
import type { LineReader } from './lines.js';
import { TextPool } from './text-pool.js';
import { TimeReader } from './time-reader.js';
import { readCount } from './unix.js';
import { conditionTest } from './where.js';

/** A field of which the text is wanted. */
interface Part extends Wanted {
  readonly field: Field;
  readonly texts: TextPool;
}

interface Filter extends Part {
  readonly holds: (text: string) => boolean;
}

export class RequestReader implements LineReader {
  readonly time: TimeReader;
  readonly #intake: Intake;
  readonly #cutter: Cutter;
  readonly #fields: readonly Field[];
  /** Undefined where the cutter reads the time. */
  readonly #when: Field | undefined;
  readonly #clock: Field | undefined;
  readonly #count: Field | undefined;
  readonly #key: Part | undefined;
  readonly #filters: readonly Filter[];
  readonly #totals: Totals | undefined;
  readonly #noTime: string;
  readonly #noCount: string;
  readonly #wantsLines: boolean;
  /** A date and a clock time, put together. */
  readonly #joined = Buffer.alloc(128);

  constructor(layout: Layout, columns: Columns, intake: Intake) {
    const { time, count, key, where } = columns;
    const names: string[] = [];
    const fields: Field[] = [];
    const fieldOf = (name: string): Field => {
      names.push(name);
      fields.push(new Field());
      return fields.at(-1)!;
    };
    this.time = new TimeReader(time.style);
    this.#intake = intake;
    const isReadByCutter = layout.readsTime === true && time.names[0] === layout.known?.time;
    this.#when = isReadByCutter ? undefined : fieldOf(time.names[0]!);
    this.#clock = time.names[1] === undefined ? undefined : fieldOf(time.names[1]);
    this.#count = count === undefined ? undefined : fieldOf(count);
    this.#key = key && { ...key, field: fieldOf(key.name), texts: new TextPool() };
    this.#filters = where.map(({ condition, ...field }) => ({
      ...field,
      field: fieldOf(field.name),
      texts: new TextPool(),
      holds: conditionTest(condition),
    }));
    const { totals } = layout.known ?? {};
    this.#totals =
      totals === undefined || count !== layout.known?.count
        ? undefined
        : new Totals(fieldOf(totals.series), key === undefined, totals.all);
    this.#fields = fields;
    this.#cutter = layout.cutter(names, fields);
    this.#noTime = `no time in ${layout.noun} ${time.names.join(' and ')}`;
    this.#noCount = `no whole number in ${layout.noun} ${count}`;
    this.#wantsLines = intake.wantsLines;
  }

  /** What the lines of the log are given to. */
  lineReader(layout: Layout): LineReader {
    return layout.rowReader?.(this.#cutter, this) ?? this;
  }

  line(bytes: Buffer, from: number, to: number, number: number): void {
    const reason = this.#read(bytes, from, to, number);
    if (reason !== undefined && reason !== '') this.#intake.skip(number, reason, bytes, from, to);
  }

  end(): void {}

  /** Hands over the request, or says why there is none. */
  #read(bytes: Buffer, from: number, to: number, number: number): string | undefined {
    const fields = this.#fields;
    for (let i = 0; i < fields.length; i++) fields[i]!.from = fields[i]!.to = 0;
    const reason = this.#cutter.cut(bytes, from, to);
    if (reason !== undefined) return reason;
    for (const filter of this.#filters) {
      if (filter.holds(this.#text(filter))) continue;
      this.#intake.filtered++;
      return undefined;
    }
    const unixMs = this.#when === undefined ? this.#cutter.unixMs! : this.#readTime(this.#when);
    if (Number.isNaN(unixMs)) return this.#noTime;
    const n = this.#count === undefined ? 1 : this.#readCount(this.#count);
    if (Number.isNaN(n)) return this.#noCount;
    if (this.#wantsLines) this.#intake.line(number, bytes, from, to);
    this.#intake.request(unixMs, n, this.#key === undefined ? '' : this.#text(this.#key) || NO_CLIENT);
    return undefined;
  }

  #readTime({ bytes, from, to }: Field): number {
    if (this.#clock === undefined) return this.time.read(bytes, from, to);
    const clock = this.#clock;
    if (to - from + clock.to - clock.from > 120) return Number.NaN;
    let length = bytes.copy(this.#joined, 0, from, to);
    this.#joined[length++] = SPACE;
    length += clock.bytes.copy(this.#joined, length, clock.from, clock.to);
    return this.time.read(this.#joined, 0, length);
  }

  #readCount(field: Field): number {
    const n = readCount(field.bytes, field.from, field.to);
    return this.#totals === undefined ? n : this.#totals.added(n);
  }

  #text({ field, part, texts }: Part): string {
    if (field.from === field.to) return '';
    narrow(field, part);
    const { bytes } = field;
    let { from, to } = field;
    while (from < to && bytes[from]! <= SPACE) from++;
    while (from < to && bytes[to - 1]! <= SPACE) to--;
    return texts.text(bytes, from, to);
  }
}

/**
 * Rows that give the total since the start for each series, and one series for all of them together: what a row adds.
 *
 *   a 3, b 1, all 4      a 5, b 1, all 6      by series: 3 of a, 1 of b, then 2 of a. Else: 4, then 2
 */
class Totals {
  readonly #series: Field;
  readonly #isWhole: boolean;
  readonly #all: string;
  readonly #seen = new Map<string, number>();

  constructor(series: Field, isWhole: boolean, all: string) {
    this.#series = series;
    this.#isWhole = isWhole;
    this.#all = all;
  }

  /** A total smaller than the one before began again at 0. */
  added(total: number): number {
    const series = this.#series.text();
    if ((series === this.#all) !== this.#isWhole) return 0;
    if (Number.isNaN(total)) return total;
    const before = this.#seen.get(series) ?? 0;
    this.#seen.set(series, total);
    return total >= before ? total - before : total;
  }
}

const SPACE = 0x20;
