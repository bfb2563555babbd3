// Owns logs with one JSON object a line, and what one object says. Leaves finding its members to json-walk.ts, the choice of fields to columns.ts.
import type { Columns, Sample } from './columns.js';
import { readCount } from './count.js';
import { readInstant } from './instant.js';
import { type Intake, NO_CLIENT } from './intake.js';
import { hasEscape, JsonWalk, locate, plainText, WantedField } from './json-walk.js';
import { LineCutter, type LineReader, type LogReader } from './lines.js';
import { TextPool } from './text-pool.js';

/** Reads one line as one object. */
export function ndjsonReader(intake: Intake, columns: Columns): LogReader {
  const record = new RecordReader(intake, columns);
  const reader: LineReader = { line: (...line) => record.read(...line), end: () => undefined };
  return new LineCutter(reader, intake);
}

/** Whether a line is one JSON object and nothing else. */
export function isJsonObject(bytes: Buffer, from: number, to: number): boolean {
  return locate(new JsonWalk(), bytes, from, to, []);
}

/** Reads a time, a count and a key from one JSON object: a line of NDJSON, an entry of HAR. */
export class RecordReader {
  readonly #intake: Intake;
  readonly #columns: Columns;
  readonly #walk = new JsonWalk();
  readonly #time: WantedField;
  readonly #count: WantedField | undefined;
  readonly #key: WantedField | undefined;
  readonly #wanted: readonly WantedField[];
  readonly #keys = new TextPool();

  constructor(intake: Intake, columns: Columns) {
    this.#intake = intake;
    this.#columns = columns;
    this.#time = new WantedField(columns.time);
    this.#count = columns.count === undefined ? undefined : new WantedField(columns.count);
    this.#key = columns.key === undefined ? undefined : new WantedField(columns.key);
    this.#wanted = [this.#time, this.#count, this.#key].filter((field) => field !== undefined);
  }

  /** @param number of the line or entry, for when it is skipped */
  read(bytes: Buffer, from: number, to: number, number: number): void {
    const reason = this.#request(bytes, from, to);
    if (reason !== undefined) this.#intake.skip(number, reason, bytes, from, to);
  }

  /** Hands over the request, or says why there is none. */
  #request(bytes: Buffer, from: number, to: number): string | undefined {
    if (!locate(this.#walk, bytes, from, to, this.#wanted)) return 'not one JSON object';
    const unixMs = readInstant(...scalar(bytes, this.#time), this.#columns.unit);
    if (Number.isNaN(unixMs)) return `no time in field ${this.#columns.time}`;
    const n = this.#count === undefined ? 1 : readCount(...scalar(bytes, this.#count));
    if (Number.isNaN(n)) return `no whole number in field ${this.#columns.count}`;
    this.#intake.request(unixMs, n, this.#key === undefined ? '' : this.#textOf(bytes, this.#key));
    return undefined;
  }

  /** A string's text, a number as it is written; without a value, as null or nested, the client is not known. */
  #textOf(bytes: Buffer, field: WantedField): string {
    const [data, from, to] = scalar(bytes, field);
    const first = data[from];
    if (from === to || first === OPEN_BRACE || first === OPEN_BRACKET) return NO_CLIENT;
    const text = this.#keys.text(data, from, to);
    return text === 'null' && bytes[field.from] !== QUOTE ? NO_CLIENT : text;
  }
}

const NOTHING = Buffer.alloc(0);

/** The bytes of a field's value, those of a string without quotes and escapes; empty when there is no such field. */
function scalar(bytes: Buffer, field: WantedField): [bytes: Buffer, from: number, to: number] {
  if (field.from < 0) return [NOTHING, 0, 0];
  if (bytes[field.from] !== QUOTE) return [bytes, field.from, field.to];
  if (!hasEscape(bytes, field.from, field.to)) return [bytes, field.from + 1, field.to - 1];
  const plain = Buffer.from(plainText(bytes, field.from, field.to));
  return [plain, 0, plain.length];
}

/** What the first objects have to choose from: `records` are the texts of JSON objects. */
export function recordSample(records: readonly Buffer[]): Sample {
  const walk = new JsonWalk();
  const names = new Set<string>();
  for (const record of records) {
    walk.enter(record, 0, record.length);
    while (walk.next()) names.add(walk.name);
  }
  const values = (name: string): Buffer[] => {
    const field = new WantedField(name);
    return records.flatMap((record) => {
      locate(walk, record, 0, record.length, [field]);
      const [bytes, from, to] = scalar(record, field);
      return field.from < 0 ? [] : [bytes.subarray(from, to)];
    });
  };
  return { noun: 'field', names: [...names], has: (name) => values(name).length > 0, values };
}

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
