// One JSON object a line, and the objects of one JSON text. Members of nested objects are named by their path.
//   {"ts":1446249504.427,"request":{"remote_ip":"192.0.2.1"}}          fields ts, request, request.remote_ip
import { type Cutter, Field, type Known, type Layout, mostly } from '../layout.js';
import type { Format, Head } from './format.js';
import { hasEscape, JsonWalk, locate, plainText, WantedField } from './json-walk.js';

export const ndjson: Format = {
  name: 'ndjson',
  open: ({ lines }, told) => {
    const objects = lines.filter(isObject);
    return told || mostly(lines, isObject) ? jsonLayout('ndjson', objects) : undefined;
  },
};

/** Whether a line is one JSON object and nothing else. */
export function isObject(line: Buffer): boolean {
  return locate(new JsonWalk(), line, 0, line.length, []);
}

/** @param objects texts of JSON objects from the start of the log */
export function jsonLayout(format: string, objects: readonly Buffer[], known: Known = {}): Layout {
  return {
    format,
    noun: 'field',
    names: namesIn(objects),
    lines: objects,
    cutter: (names, fields) => new JsonCutter(names, fields),
    known,
  };
}

class JsonCutter implements Cutter {
  readonly #walk = new JsonWalk();
  readonly #wanted: readonly WantedField[];
  readonly #fields: readonly Field[];

  constructor(names: readonly string[], fields: readonly Field[]) {
    this.#wanted = names.map((name) => new WantedField(name));
    this.#fields = fields;
  }

  cut(bytes: Buffer, from: number, to: number): string | undefined {
    if (!locate(this.#walk, bytes, from, to, this.#wanted)) return 'not one JSON object';
    for (let i = 0; i < this.#wanted.length; i++) setScalar(this.#fields[i]!, bytes, this.#wanted[i]!);
    return undefined;
  }
}

/** The value of a string without quotes and escapes, a number as it is written; nothing for null, objects, arrays. */
function setScalar(field: Field, bytes: Buffer, { from, to }: WantedField): void {
  if (from < 0) return;
  const first = bytes[from]!;
  if (first === QUOTE && hasEscape(bytes, from, to)) {
    const plain = Buffer.from(plainText(bytes, from, to));
    field.set(plain, 0, plain.length);
  } else if (first === QUOTE) field.set(bytes, from + 1, to - 1);
  else if (first === OPEN_BRACKET || first === OPEN_BRACE || first === LETTER_N) field.set(bytes, from, from);
  else field.set(bytes, from, to);
}

/** How deep and how many names are looked for. */
const MAX_DEPTH = 4;
const MAX_NAMES = 500;

function namesIn(objects: readonly Buffer[]): string[] {
  const names = new Set<string>();
  const inner: string[] = [];
  const collect = (bytes: Buffer, from: number, to: number, path: string, depth: number): void => {
    const walk = new JsonWalk();
    walk.enter(bytes, from, to);
    while (walk.next() && names.size < MAX_NAMES) {
      const name = `${path}${walk.name}`;
      if (depth === 0) names.add(name);
      else inner.push(name);
      if (bytes[walk.valueFrom] === OPEN_BRACE && depth < MAX_DEPTH) {
        collect(bytes, walk.valueFrom, walk.valueTo, `${name}.`, depth + 1);
      }
    }
  };
  for (const object of objects.slice(0, SAMPLED)) {
    collect(object, 0, object.length, '', 0);
    for (const name of inner.splice(0, inner.length)) names.add(name);
  }
  const all = [...names];
  // Names of the object itself come first: a nested `time` is only the time where there is no other.
  return [...all.filter((name) => !name.includes('.')), ...all.filter((name) => name.includes('.'))];
}

const SAMPLED = 200;

/** The values of a field as text, of an object that is a line. */
export function textIn(line: Buffer, name: string): string | undefined {
  const field = new Field();
  const wanted = new WantedField(name);
  if (!locate(new JsonWalk(), line, 0, line.length, [wanted]) || wanted.from < 0) return undefined;
  setScalar(field, line, wanted);
  return field.text();
}

/** The head of a format that is a kind of NDJSON: most lines are objects in which the field has one of the values. */
export function jsonWith({ lines }: Head, field: string, values: readonly string[]): readonly Buffer[] | undefined {
  const objects = lines.filter(isObject);
  const has = (line: Buffer) => values.includes(textIn(line, field) ?? '');
  return mostly(objects, has) ? objects : undefined;
}

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const LETTER_N = 0x6e;
const OPEN_BRACE = 0x7b;
