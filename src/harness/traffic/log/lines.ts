// Cuts a stream of bytes into lines.
import type { Intake } from './intake.js';

/** The bytes are valid only during the call. */
export interface LineReader {
  /** A line that is not blank, without its terminator. `number` counts from 1. */
  line(bytes: Buffer, from: number, to: number, number: number): void;
  end(): void;
}

export interface LogReader {
  readonly lines: number;
  /** The bytes are valid only during the call. */
  push(chunk: Buffer): void;
  end(): void;
}

export const MAX_LINE_BYTES = 1 << 20;

const TOO_LONG = `longer than ${MAX_LINE_BYTES >> 20} MiB`;

/**
 * A line ends with LF, CRLF or the end of the log; a byte order mark before the first line is dropped. Blank lines, also of
 * NULs (left by log rotation), are neither passed on nor counted as skipped.
 */
export class LineCutter implements LogReader {
  lines = 0;
  readonly #reader: LineReader;
  readonly #skip: Intake['skip'];
  #held = Buffer.alloc(4096);
  #heldBytes = 0;
  /** Text of the held line that was not kept: the line is too long, whatever is held of it. */
  #hasMore = false;

  constructor(reader: LineReader, intake: Pick<Intake, 'skip'>) {
    this.#reader = reader;
    this.#skip = intake.skip.bind(intake);
  }

  push(chunk: Buffer): void {
    let start = 0;
    let end = chunk.indexOf(LF);
    if (this.#heldBytes > 0 && end >= 0) {
      this.#hold(chunk, 0, end);
      this.#release();
      start = end + 1;
      end = chunk.indexOf(LF, start);
    }
    while (end >= 0) {
      this.#line(chunk, start, end);
      start = end + 1;
      end = chunk.indexOf(LF, start);
    }
    if (start < chunk.length) this.#hold(chunk, start, chunk.length);
  }

  end(): void {
    if (this.#heldBytes > 0) this.#release();
    this.#reader.end();
  }

  #line(bytes: Buffer, from: number, to: number, hasMore = false): void {
    const number = ++this.lines;
    let start = from;
    let end = to;
    if (end > start && bytes[end - 1] === CR) end--;
    if (number === 1 && startsWithMark(bytes, start, end)) start += 3;
    if (number === 1 && end - start === 5 && SEPARATOR.test(bytes.toString('latin1', start, end))) return;
    if (isBlank(bytes, start, end) && !hasMore) return;
    if (end - start > MAX_LINE_BYTES || hasMore) this.#skip(number, TOO_LONG, bytes, start, end);
    else this.#reader.line(bytes, start, end, number);
  }

  #hold(chunk: Buffer, from: number, to: number): void {
    const wanted = Math.min(this.#heldBytes + to - from, MAX_LINE_BYTES + 5);
    if (wanted > this.#held.length) {
      const grown = Buffer.alloc(Math.max(wanted, 2 * this.#held.length));
      this.#held.copy(grown, 0, 0, this.#heldBytes);
      this.#held = grown;
    }
    if (wanted > this.#heldBytes) chunk.copy(this.#held, this.#heldBytes, from, from + wanted - this.#heldBytes);
    this.#hasMore ||= !isBlank(chunk, from + wanted - this.#heldBytes, to);
    this.#heldBytes = wanted;
  }

  #release(): void {
    const [length, hasMore] = [this.#heldBytes, this.#hasMore];
    this.#heldBytes = 0;
    this.#hasMore = false;
    this.#line(this.#held, 0, length, hasMore);
  }
}

export function startsWithMark(bytes: Uint8Array, from: number, to: number): boolean {
  return to - from >= 3 && bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf;
}

function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  while (at < to && bytes[at]! <= SPACE) at++;
  return at === to;
}

/** With which Excel begins a table. */
const SEPARATOR = /^sep=[,;|\t]$/;

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
