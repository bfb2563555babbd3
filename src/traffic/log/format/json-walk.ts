// Finds the members of JSON objects in bytes, as they are written, without parsing their values.
//
// JSON.parse would turn `1446249504427123456` into the nearest double; a time must keep its digits, so it is read from the bytes.
// Structure is checked (strings, brackets, commas, colons); the spelling of values that nobody asks for is not.

/** Goes through the members of one object, or the elements of one array, without making anything. */
export class JsonWalk {
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #to = 0;
  #close = 0;
  #isFirst = true;
  /** The name, between its quotes and as escaped as it is; empty in an array. */
  nameFrom = 0;
  nameTo = 0;
  /** The value, quotes and brackets included. */
  valueFrom = 0;
  valueTo = 0;
  /** After the last step: where the closing bracket ended, or -1 when the text is not JSON up to there. */
  end = -1;

  /** Begins with the object or array at `from`, blanks before it allowed; false when there is none. */
  enter(bytes: Buffer, from: number, to: number): boolean {
    this.#bytes = bytes;
    this.#to = to;
    this.#at = skipBlanks(bytes, from, to);
    this.#isFirst = true;
    this.end = -1;
    const open = this.#at < to ? bytes[this.#at++] : 0;
    this.#close = open === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    return open === OPEN_BRACE || open === OPEN_BRACKET;
  }

  /** Goes on to the next member or element; false after the last, or when the text is broken: `end` says which. */
  next(): boolean {
    const bytes = this.#bytes;
    const to = this.#to;
    let at = skipBlanks(bytes, this.#at, to);
    if (at < to && bytes[at] === this.#close && (this.#isFirst || bytes[this.#at - 1] !== COMMA)) {
      this.end = at + 1;
      return false;
    }
    this.#isFirst = false;
    if (this.#close === CLOSE_BRACE) {
      if (at >= to || bytes[at] !== QUOTE) return false;
      const nameEnd = stringEnd(bytes, at, to);
      if (nameEnd < 0) return false;
      this.nameFrom = at + 1;
      this.nameTo = nameEnd - 1;
      at = skipBlanks(bytes, nameEnd, to);
      if (at >= to || bytes[at] !== COLON) return false;
      at = skipBlanks(bytes, at + 1, to);
    }
    this.valueFrom = at;
    this.valueTo = valueEnd(bytes, at, to);
    if (this.valueTo < 0) return false;
    at = skipBlanks(bytes, this.valueTo, to);
    if (at >= to || (bytes[at] !== COMMA && bytes[at] !== this.#close)) return false;
    this.#at = bytes[at] === COMMA ? at + 1 : at;
    return true;
  }

  get name(): string {
    return plainText(this.#bytes, this.nameFrom - 1, this.nameTo + 1);
  }
}

/** A field that is looked for, by name: first as one key, dots and all, then as a path through nested objects. */
export class WantedField {
  readonly #name: Buffer;
  #isLiteral = false;
  /** Where its value stands, quotes included; `from` is -1 when it is not there. */
  from = -1;
  to = -1;

  constructor(name: string) {
    this.#name = Buffer.from(name);
  }

  forget(): void {
    this.from = -1;
    this.#isLiteral = false;
  }

  /** Takes the member at which `walk` stands, if it is this field or on the path to it. */
  offer(bytes: Buffer, walk: JsonWalk): void {
    const hit = this.#find(bytes, walk, 0);
    if (hit === undefined) return;
    const isLiteral = hit.pathFrom === 0;
    if (this.#isLiteral && !isLiteral) return;
    this.#isLiteral = isLiteral;
    this.from = hit.from;
    this.to = hit.to;
  }

  #find(bytes: Buffer, walk: JsonWalk, pathFrom: number): Hit | undefined {
    const rest = startOfRest(this.#name, pathFrom, bytes, walk);
    if (rest < 0) return undefined;
    if (rest > this.#name.length) return { from: walk.valueFrom, to: walk.valueTo, pathFrom };
    if (bytes[walk.valueFrom] !== OPEN_BRACE) return undefined;
    const inner = new JsonWalk();
    let best: Hit | undefined;
    inner.enter(bytes, walk.valueFrom, walk.valueTo);
    while (inner.next()) {
      const hit = this.#find(bytes, inner, rest);
      if (hit !== undefined && (best === undefined || hit.pathFrom <= best.pathFrom)) best = hit;
    }
    return best;
  }
}

interface Hit {
  readonly from: number;
  readonly to: number;
  /** How much of the path was gone through in outer objects: the less, the more literal. */
  readonly pathFrom: number;
}

/**
 * Where the path goes on after the member's name and its dot; beyond the path's end when the name is all that is left of it;
 * -1 when the member is not on the path.
 */
function startOfRest(path: Buffer, pathFrom: number, bytes: Buffer, walk: JsonWalk): number {
  const asWritten = endOfPart(path, pathFrom, bytes, walk.nameFrom, walk.nameTo);
  if (asWritten >= 0 || !hasEscape(bytes, walk.nameFrom, walk.nameTo)) return asWritten;
  const name = Buffer.from(walk.name);
  return endOfPart(path, pathFrom, name, 0, name.length);
}

function endOfPart(path: Buffer, pathFrom: number, bytes: Buffer, from: number, to: number): number {
  const end = pathFrom + to - from;
  if (end > path.length || (end < path.length && path[end] !== DOT)) return -1;
  for (let i = from; i < to; i++) if (bytes[i] !== path[pathFrom + i - from]) return -1;
  return end + 1;
}

/** Whether there is a backslash from `from` up to `to`: then the text is not what its bytes say. */
export function hasEscape(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] === BACKSLASH) return true;
  return false;
}

/**
 * Looks for fields in the object from `from` up to `to`. False when the text there is not one JSON object and nothing else.
 * @param walk used for the way, so that it need not be made for each line
 */
export function locate(
  walk: JsonWalk,
  bytes: Buffer,
  from: number,
  to: number,
  fields: readonly WantedField[],
): boolean {
  for (const field of fields) field.forget();
  if (!walk.enter(bytes, from, to) || bytes[skipBlanks(bytes, from, to)] !== OPEN_BRACE) return false;
  while (walk.next()) for (const field of fields) field.offer(bytes, walk);
  return walk.end >= 0 && skipBlanks(bytes, walk.end, to) === to;
}

/** The text of a string, or of anything else as it is written. */
export function plainText(bytes: Buffer, from: number, to: number): string {
  const written = bytes.toString('utf8', from, to);
  if (bytes[from] !== QUOTE) return written;
  if (!written.includes('\\')) return written.slice(1, -1);
  try {
    return JSON.parse(written) as string;
  } catch {
    return written.slice(1, -1);
  }
}

function skipBlanks(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at]! <= SPACE) at++;
  return at;
}

/** Where the string that opens at `at` ends, its quote included; -1 when it does not. */
function stringEnd(bytes: Buffer, at: number, to: number): number {
  for (let i = at + 1; i < to; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) return i + 1;
    if (byte === BACKSLASH) i++;
  }
  return -1;
}

/** Where the value at `at` ends; -1 when there is none, or when its brackets or quotes do not close. */
function valueEnd(bytes: Buffer, at: number, to: number): number {
  if (at >= to) return -1;
  const first = bytes[at];
  if (first === QUOTE) return stringEnd(bytes, at, to);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return nestedEnd(bytes, at, to);
  let end = at;
  while (end < to && !isDelimiter(bytes[end]!)) end++;
  return end > at ? end : -1;
}

function nestedEnd(bytes: Buffer, at: number, to: number): number {
  let depth = 0;
  for (let i = at; i < to; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      i = stringEnd(bytes, i, to) - 1;
      if (i < 0) return -1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return i + 1;
  }
  return -1;
}

function isDelimiter(byte: number): boolean {
  return (
    byte <= SPACE ||
    byte === COMMA ||
    byte === CLOSE_BRACE ||
    byte === CLOSE_BRACKET ||
    byte === COLON ||
    byte === QUOTE
  );
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const DOT = 0x2e;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
