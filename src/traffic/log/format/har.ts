// One JSON text with an array of objects: HAR, the archive of browsers and proxies, an array alone, or one in an object.
//   {"log":{"version":"1.2","entries":[{"startedDateTime":"2015-05-17T10:05:03.123Z",...}]}}
//   [{"time":1431857103},{"time":1431857104}]        {"Records":[{"eventTime":"2015-05-17T10:05:03Z",...}]}
import { Failure } from '../../../schema/failure.js';
import type { LogReader } from '../lines.js';
import { startsWithMark } from '../lines.js';
import { JsonWalk, locate, WantedField } from './json-walk.js';

/** Such a text has to be held as a whole: this much of it. */
const MAX_BYTES = 1 << 28;

/** Takes one object after the other, as lines are taken. */
export interface ObjectReader {
  line(bytes: Buffer, from: number, to: number, number: number): void;
}

/** `lines` are the objects. */
export class ArrayReader implements LogReader {
  lines = 0;
  readonly #path: string;
  readonly #open: (objects: readonly Buffer[]) => ObjectReader;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  /** @param open is given the first objects, when all is read and there is one */
  constructor(path: string, open: (objects: readonly Buffer[]) => ObjectReader) {
    this.#path = path;
    this.#open = open;
  }

  /** @throws Failure `unreadable_file` when it grows beyond MAX_BYTES */
  push(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > MAX_BYTES) {
      throw new Failure('unreadable_file', {
        what: `${this.#path} cannot be read.`,
        why: 'A HAR file, or another JSON text, has to be held in memory as a whole, and it is larger than 256 MiB.',
        fix: "Make it one object a line with `jq -c '.log.entries[]'` or `jq -c '.[]'` and read that as ndjson.",
      });
    }
    this.#chunks.push(Buffer.from(chunk));
  }

  /** @throws Failure `unknown_format` when there is no array of objects in it; as `chooseColumns` */
  end(): void {
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks.length = 0;
    const objects = this.#objectsIn(bytes);
    if (objects.length === 0) return;
    const reader = this.#open(objects.slice(0, SAMPLED_OBJECTS).map(([from, to]) => bytes.subarray(from, to)));
    for (const [from, to] of objects) reader.line(bytes, from, to, ++this.lines);
  }

  #objectsIn(bytes: Buffer): readonly Range[] {
    const start = startsWithMark(bytes, 0, bytes.length) ? 3 : 0;
    const walk = new JsonWalk();
    const isObject =
      walk.enter(bytes, start, bytes.length) && bytes.indexOf(OPEN_BRACE, start) < bracketAt(bytes, start);
    if (isObject && !locate(walk, bytes, start, bytes.length, [])) throw this.#not('It is not one whole JSON object.');
    const at = isObject ? arrayIn(bytes, start) : start;
    if (at === undefined) throw this.#not('It has no array at log.entries, and none of objects elsewhere.');
    const objects: Range[] = [];
    walk.enter(bytes, at, bytes.length);
    while (walk.next()) objects.push([walk.valueFrom, walk.valueTo]);
    if (walk.end < 0) throw this.#not(`Its entries cannot be read after the first ${objects.length}.`);
    return objects;
  }

  #not(why: string): Failure {
    return new Failure('unknown_format', {
      what: `${this.#path} cannot be read as HAR or as an array of JSON objects.`,
      why,
      fix: 'Export it again, or make it one object a line with `jq -c`.',
    });
  }
}

type Range = readonly [from: number, to: number];

const SAMPLED_OBJECTS = 200;

function bracketAt(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(OPEN_BRACKET, from);
  return at < 0 ? bytes.length : at;
}

/** Where the array of a HAR begins, or else the first array of objects, in the object or in one of its members. */
function arrayIn(bytes: Buffer, from: number): number | undefined {
  const entries = new WantedField('log.entries');
  locate(new JsonWalk(), bytes, from, bytes.length, [entries]);
  if (entries.from >= 0 && bytes[entries.from] === OPEN_BRACKET) return entries.from;
  return firstArray(bytes, from, bytes.length, 2);
}

function firstArray(bytes: Buffer, from: number, to: number, depth: number): number | undefined {
  const walk = new JsonWalk();
  walk.enter(bytes, from, to);
  while (walk.next()) {
    const first = bytes[walk.valueFrom];
    if (first === OPEN_BRACKET) {
      const inner = new JsonWalk();
      inner.enter(bytes, walk.valueFrom, walk.valueTo);
      if (inner.next() && bytes[inner.valueFrom] === OPEN_BRACE) return walk.valueFrom;
    } else if (first === OPEN_BRACE && depth > 0) {
      const found = firstArray(bytes, walk.valueFrom, walk.valueTo, depth - 1);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
