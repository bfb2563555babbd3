// Owns HAR, the archive that browsers and proxies write: one JSON text with an array of entries. Leaves an entry to ndjson.ts.
import { Failure } from '../../schema/failure.js';
import { type Columns, chooseColumns } from './columns.js';
import type { Intake } from './intake.js';
import { JsonWalk, locate, WantedField } from './json-walk.js';
import { type LogReader, startsWithMark } from './lines.js';
import { RecordReader, recordSample } from './ndjson.js';
import type { TableOptions } from './options.js';

/** An archive is one JSON text and has to be held as a whole: this much of it. */
export const MAX_HAR_BYTES = 1 << 28;

const SAMPLED_ENTRIES = 200;

/** `lines` are the entries. */
export class HarReader implements LogReader {
  lines = 0;
  /** Which fields are read; known at the end. */
  columns: Columns | undefined;
  readonly #intake: Intake;
  readonly #options: TableOptions;
  readonly #path: string;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(intake: Intake, options: TableOptions, path: string) {
    this.#intake = intake;
    this.#options = options;
    this.#path = path;
  }

  /** @throws Failure `unreadable_file` when it grows beyond MAX_HAR_BYTES */
  push(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > MAX_HAR_BYTES) {
      throw new Failure('unreadable_file', {
        what: `${this.#path} cannot be read.`,
        why: 'A HAR file has to be held in memory as a whole, and it is larger than 256 MiB.',
        fix: "Make it one entry a line with `jq -c '.log.entries[]'` and read that as ndjson.",
      });
    }
    this.#chunks.push(Buffer.from(chunk));
  }

  /** @throws Failure `unknown_format` when it is not JSON with `log.entries`; as `chooseColumns` */
  end(): void {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks.length = 0;
    const entries = this.#entriesIn(bytes);
    const records = entries.slice(0, SAMPLED_ENTRIES).map(([from, to]) => bytes.subarray(from, to));
    if (records.length === 0) return;
    this.columns = chooseColumns(recordSample(records), this.#options, this.#path);
    const record = new RecordReader(this.#intake, this.columns);
    for (const [from, to] of entries) record.read(bytes, from, to, ++this.lines);
  }

  #entriesIn(bytes: Buffer): (readonly [from: number, to: number])[] {
    const field = new WantedField('log.entries');
    const walk = new JsonWalk();
    const start = startsWithMark(bytes, 0, bytes.length) ? 3 : 0;
    if (!locate(walk, bytes, start, bytes.length, [field])) throw this.#notHar('It is not one whole JSON object.');
    if (field.from < 0 || bytes[field.from] !== OPEN_BRACKET) throw this.#notHar('It has no array at log.entries.');
    const entries: (readonly [number, number])[] = [];
    walk.enter(bytes, field.from, field.to);
    while (walk.next()) entries.push([walk.valueFrom, walk.valueTo]);
    if (walk.end < 0) throw this.#notHar(`Its entries cannot be read after the first ${entries.length}.`);
    return entries;
  }

  #notHar(why: string): Failure {
    return new Failure('unknown_format', {
      what: `${this.#path} cannot be read as HAR.`,
      why,
      fix: 'Export it again.',
    });
  }
}

const OPEN_BRACKET = 0x5b;
