// Parses one event from the bytes of a line: common forms by hand, all others by JSON.parse and the schema.
//
//   {"type":"request"}   {"type":"request","count":3,"cycle":2345678901,"contract_id":"0123456789abcdef"}
import { isUtf8 } from 'node:buffer';
import { EventShape } from '../api/events.js';
import { compileSchema } from '../schema/compile-schema.js';
import { Failure } from '../schema/failure.js';
import { NOT_UTF8 } from './json-body.js';
import { refusal } from './problem.js';

const compiled = compileSchema(EventShape);

/** Holds the last event. A string is made only if it differs from that of the event before. */
export class EventLine {
  type = '';
  count = 1;
  cycle: number | undefined;
  contractId: string | undefined;
  key: string | undefined;
  /** The last type parsed by hand: it has no escapes, so equal bytes are the same type. */
  #plainType = '';

  /** @throws Failure `invalid_json`, `invalid_input` */
  read(bytes: Buffer, from: number, to: number): void {
    if (!this.#readCommon(bytes, from, to)) this.take(parse(bytes.subarray(from, to)));
  }

  /** @throws Failure `invalid_input` */
  take(value: unknown): void {
    if (!compiled.fits(value)) throw refusal('event', EventShape, compiled.errors(value));
    this.type = value.type;
    this.count = value.count ?? 1;
    this.cycle = value.cycle;
    this.contractId = value.contract_id;
    this.key = value.key;
  }

  /** Parses `{"name":value,…}` with plain strings and integers; false for any other form or a value out of range. */
  #readCommon(bytes: Buffer, from: number, to: number): boolean {
    let hasType = false;
    this.count = 1;
    this.cycle = undefined;
    let keyFrom = -1;
    let keyTo = -1;
    let contractFrom = -1;
    let contractTo = -1;
    if (bytes[from] !== OPEN_BRACE) return false;
    let at = from + 1;
    for (;;) {
      const name = nameAt(bytes, at);
      if (!isQuoted(bytes, at, to, name)) return false;
      at += name.length + 2;
      if (bytes[at] !== COLON) return false;
      at += bytes[at + 1] === SPACE ? 2 : 1;
      if (name === TYPE) {
        if (this.#plainType === '' || !isQuoted(bytes, at, to, this.#plainType)) {
          const end = plainStringEnd(bytes, at, to);
          if (end - at < 2 || end - at > 65) return false;
          this.#plainType = bytes.toString('latin1', at + 1, end);
        }
        this.type = this.#plainType;
        hasType = true;
        at += this.type.length + 2;
      } else if (name === CONTRACT_ID) {
        contractFrom = at + 1;
        contractTo = plainStringEnd(bytes, at, to);
        if (contractTo - contractFrom < 1 || contractTo - contractFrom > 64) return false;
        at = contractTo + 1;
      } else if (name === KEY) {
        keyFrom = at + 1;
        keyTo = plainStringEnd(bytes, at, to);
        if (keyTo - keyFrom < 1 || keyTo - keyFrom > 256) return false;
        at = keyTo + 1;
      } else {
        const end = digitsEnd(bytes, at, to);
        const value = end < 0 ? -1 : numberIn(bytes, at, end);
        if (name === CYCLE && value >= 0) this.cycle = value;
        else if (name === COUNT && value >= 1 && value <= MAX_COUNT) this.count = value;
        else return false;
        at = end;
      }
      const next = at < to ? bytes[at] : 0;
      if (next === CLOSE_BRACE) break;
      if (next !== COMMA) return false;
      at = bytes[at + 1] === SPACE ? at + 2 : at + 1;
    }
    if (!hasType || at + 1 !== to) return false;
    if (keyFrom < 0) this.key = undefined;
    else if (this.key === undefined || !isText(bytes, keyFrom, keyTo, this.key)) {
      this.key = bytes.toString('latin1', keyFrom, keyTo);
    }
    if (contractFrom < 0) this.contractId = undefined;
    else if (this.contractId === undefined || !isText(bytes, contractFrom, contractTo, this.contractId)) {
      this.contractId = bytes.toString('latin1', contractFrom, contractTo);
    }
    return true;
  }
}

function parse(bytes: Buffer): unknown {
  let why = NOT_UTF8;
  try {
    if (isUtf8(bytes)) return JSON.parse(bytes.toString());
  } catch (error) {
    why = `It is not JSON: ${(error as Error).message}.`;
  }
  const fix = 'Write one event a line, for example {"type":"request"}.';
  throw new Failure('invalid_json', { what: 'The line was not counted.', why, fix });
}

function nameAt(bytes: Buffer, at: number): string {
  switch (bytes[at + 1]) {
    case LETTER_T:
      return TYPE;
    case LETTER_K:
      return KEY;
    default:
      return bytes[at + 2] === LETTER_Y ? CYCLE : bytes[at + 3] === LETTER_U ? COUNT : CONTRACT_ID;
  }
}

function isQuoted(bytes: Buffer, at: number, to: number, text: string): boolean {
  const end = at + 1 + text.length;
  return end < to && bytes[at] === QUOTE && bytes[end] === QUOTE && isText(bytes, at + 1, end, text);
}

/** Index of the closing quote of the string at `at`; -1 without one, or for escapes, controls and non-ASCII. */
function plainStringEnd(bytes: Buffer, at: number, to: number): number {
  if (at >= to || bytes[at] !== QUOTE) return -1;
  for (let end = at + 1; end < to; end += 1) {
    const byte = bytes[end]!;
    if (byte === QUOTE) return end;
    if (byte === BACKSLASH || byte < SPACE || byte > TILDE) return -1;
  }
  return -1;
}

/** Index after the digits at `at`; -1 unless there are 1 to 15 without a leading zero. */
function digitsEnd(bytes: Buffer, at: number, to: number): number {
  let end = at;
  while (end < to && bytes[end]! >= ZERO && bytes[end]! <= NINE) end += 1;
  if (end === at || end - at > 15) return -1;
  return bytes[at] === ZERO && end - at > 1 ? -1 : end;
}

function numberIn(bytes: Buffer, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) value = value * 10 + (bytes[at]! - ZERO);
  return value;
}

function isText(bytes: Buffer, from: number, to: number, text: string): boolean {
  if (to - from !== text.length) return false;
  for (let index = 0; index < text.length; index += 1) if (bytes[from + index] !== text.charCodeAt(index)) return false;
  return true;
}

const TYPE = 'type';
const COUNT = 'count';
const CYCLE = 'cycle';
const CONTRACT_ID = 'contract_id';
const KEY = 'key';
const MAX_COUNT = 1_000_000_000;

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const SPACE = 0x20;
const TILDE = 0x7e;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_K = 0x6b;
const LETTER_T = 0x74;
const LETTER_U = 0x75;
const LETTER_Y = 0x79;
