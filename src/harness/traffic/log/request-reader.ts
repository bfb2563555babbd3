// Turns lines of any format into requests: cuts a line into fields, filters, reads time, count and key.
import { getOrInsert } from '../../../core/math/get-or-insert.js';
import { type Columns, columnWords, type Wanted } from './columns.js';
import { TimeReader } from './instant.js';
import { type Intake, NO_CLIENT } from './intake.js';
import { type Cutter, Field, type Layout } from './layout.js';
import type { LineReader } from './lines.js';
import { conditionTest } from './log-options.js';
import { readCount } from './unix.js';

export class RequestReader implements LineReader {
  readonly time: TimeReader;
  readonly #intake: Intake;
  readonly #cutter: Cutter;
  readonly #fields: readonly Field[];
  readonly #when: Field | undefined;
  readonly #clock: Field | undefined;
  readonly #count: Field | undefined;
  readonly #costs: readonly Field[];
  readonly #key: FieldText | undefined;
  readonly #also: readonly (FieldText | undefined)[];
  readonly #alsoTexts: (string | undefined)[];
  readonly #filters: readonly { readonly value: FieldText; readonly holds: (text: string) => boolean }[];
  /** The first filters choose the requests among other objects of the format. */
  readonly #ofFormat: number;
  readonly #added: ((total: number) => number) | undefined;
  readonly #noTime: string;
  readonly #noCount: string;
  readonly #noCost: string;
  readonly #wantsLines: boolean;
  readonly #joined = Buffer.alloc(128);

  constructor(layout: Layout, { time, count, cost, key, also, where }: Columns, intake: Intake) {
    const fields = new Map<string, Field>();
    const fieldOf = (name: string): Field => getOrInsert(fields, name, () => new Field());
    const wantedText = ({ name, extract }: Wanted) => textOf(fieldOf(name), extract);
    const { known } = layout;
    this.time = new TimeReader(time.style);
    this.#intake = intake;
    this.#when = layout.readsTime === true && time.names[0] === known?.time ? undefined : fieldOf(time.names[0]!);
    this.#clock = time.names[1] === undefined ? undefined : fieldOf(time.names[1]);
    this.#count = count === undefined ? undefined : fieldOf(count);
    this.#costs = cost.map(fieldOf);
    this.#key = key && wantedText(key);
    this.#also = also.map((one) => one && wantedText(one));
    this.#alsoTexts = also.map(() => '');
    this.#filters = where.map((one) => ({ value: wantedText(one), holds: conditionTest(one.condition) }));
    this.#ofFormat = known?.where?.length ?? 0;
    if (known?.totals !== undefined && count === known.count) {
      this.#added = addedBy(fieldOf(known.totals.series), key === undefined, known.totals.all);
    }
    this.#cutter = layout.cutter(fields);
    this.#fields = [...fields.values()];
    this.#noTime = `no time in ${layout.noun} ${time.names.join(' and ')}`;
    this.#noCount = `no whole number in ${columnWords(layout, count ?? '')}`;
    this.#noCost = `no whole number in ${cost.map((name) => columnWords(layout, name)).join(' or ')}`;
    this.#wantsLines = intake.sink.line !== undefined;
  }

  lineReader(): LineReader {
    return this.#cutter.joinLines?.(this) ?? this;
  }

  line(bytes: Buffer, from: number, to: number, number: number): void {
    const reason = this.#read(bytes, from, to, number);
    if (reason !== undefined && reason !== '') this.#intake.skip(number, reason, bytes, from, to);
  }

  end(): void {}

  #read(bytes: Buffer, from: number, to: number, number: number): string | undefined {
    const fields = this.#fields;
    for (let i = 0; i < fields.length; i++) fields[i]!.from = fields[i]!.to = 0;
    const reason = this.#cutter.cut(bytes, from, to);
    if (reason !== undefined) return reason;
    const failed = this.#filters.findIndex(({ value, holds }) => !holds(value()));
    if (failed >= this.#ofFormat) this.#intake.filtered++;
    if (failed >= 0) return undefined;
    const unixMs = this.#when === undefined ? this.#cutter.unixMs! : this.#readTime(this.#when);
    if (Number.isNaN(unixMs)) return this.#noTime;
    const n = this.#count === undefined ? 1 : this.#readCount(this.#count);
    if (Number.isNaN(n)) return this.#noCount;
    const cost = this.#costs.length === 0 ? undefined : costIn(this.#costs);
    if (Number.isNaN(cost)) return this.#noCost;
    if (this.#wantsLines) this.#intake.sink.line!(number, bytes, from, to);
    if (this.#also.length > 0) {
      for (let i = 0; i < this.#also.length; i++) this.#alsoTexts[i] = this.#also[i]?.();
      this.#intake.sink.also?.(this.#alsoTexts);
    }
    this.#intake.request(unixMs, n, this.#key === undefined ? '' : this.#key() || NO_CLIENT, cost);
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
    return this.#added === undefined ? n : this.#added(n);
  }
}

/** Empty fields and `-` add nothing; a request costs at least 1. NaN if a field is not a whole number. */
function costIn(fields: readonly Field[]): number {
  let cost = 0;
  for (const { bytes, from, to } of fields) {
    const isNone = from === to || (to - from === 1 && bytes[from] === DASH);
    if (!isNone) cost += readCount(bytes, from, to);
  }
  return Math.max(1, cost);
}

type FieldText = () => string;

/** The trimmed text of a field. */
function textOf(field: Field, extract: Wanted['extract']): FieldText {
  return () => {
    const { bytes } = field;
    let { from, to } = field;
    while (from < to && bytes[from]! <= SPACE) from++;
    while (from < to && bytes[to - 1]! <= SPACE) to--;
    if (from === to) return '';
    const text = bytes.toString('utf8', from, to);
    return extract === undefined ? text : extract(text);
  };
}

/**
 * What each row adds, for rows with running totals per series and one series for their sum.
 *
 *   a 3, b 1, all 4      a 5, b 1, all 6      by series: 3 of a, 1 of b, then 2 of a. Else: 4, then 2
 */
function addedBy(field: Field, isWhole: boolean, all: string): (total: number) => number {
  const seen = new Map<string, number>();
  return (total) => {
    const series = field.text();
    if ((series === all) !== isWhole) return 0;
    if (Number.isNaN(total)) return total;
    const before = seen.get(series) ?? 0;
    seen.set(series, total);
    return total >= before ? total - before : total;
  };
}

const SPACE = 0x20;
const DASH = 0x2d;
