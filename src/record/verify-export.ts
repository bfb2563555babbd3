// Owns the verification of an exported record from its bytes, as they come from a file or a socket. Leaves the format to
// export.ts, the rows to verify.ts.
import { isUtf8 } from 'node:buffer';
import type { KeyObject } from 'node:crypto';
import { unreachable } from '../schema/failure.js';
import { isSpeltCanonically, type ParsedClosing, parseLine } from './export.js';
import { KeyRing } from './key-ring.js';
import type { Check, Verification } from './verification.js';
import { RecordVerifier } from './verify.js';

/** Longer lines are refused unread: a row has a few hundred bytes, at most a few ten thousand. */
export const MAX_LINE_BYTES = 1 << 18;

const LINE_FEED = 10;

export interface VerifyExportOptions {
  /** The key the reader trusts. Without it the export is trusted to name its own, which shows damage but no forgery. */
  readonly pinned?: KeyObject | undefined;
  /** Checkpoints of this record that the reader knows from elsewhere. */
  readonly checkpoints?: readonly unknown[];
}

/** Checks a whole export at once. */
export function verifyExport(text: string | Uint8Array, options: VerifyExportOptions = {}): Verification {
  const verifier = new ExportVerifier(options);
  verifier.bytes(Buffer.from(text));
  return verifier.end();
}

/** Takes an export in chunks of any size. Holds one line, and what a RecordVerifier holds. */
export class ExportVerifier {
  readonly #pinned: KeyObject | undefined;
  readonly #record: RecordVerifier;
  #rest = Buffer.alloc(0);
  #line = 0;
  #closed = false;

  constructor({ pinned, checkpoints = [] }: VerifyExportOptions = {}) {
    this.#pinned = pinned;
    this.#record = new RecordVerifier({ keys: pinned && KeyRing.pinning(pinned), checkpoints });
  }

  /** Answers whether all has held so far; after the first `false` nothing more is looked at. */
  bytes(chunk: Uint8Array): boolean {
    const bytes = Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      if (!this.#takeLine(bytes.subarray(start, end))) return false;
      start = end + 1;
    }
    this.#rest = Buffer.from(bytes.subarray(start));
    return this.#rest.length <= MAX_LINE_BYTES || this.#takeLine(this.#rest);
  }

  /** No more bytes. */
  end(): Verification {
    if (this.#rest.length > 0) this.#takeLine(this.#rest);
    if (!this.#closed)
      this.#refuse('tail', 'The export ends without its closing line: it was cut off.', this.#line + 1);
    return this.#record.end();
  }

  #takeLine(bytes: Buffer): boolean {
    if (!this.#record.holds) return false;
    this.#line += 1;
    if (bytes.length > MAX_LINE_BYTES) return this.#refuse('text', `The line is longer than ${MAX_LINE_BYTES} bytes.`);
    if (!isUtf8(bytes)) return this.#refuse('text', 'The line is not UTF-8.');
    const text = bytes.toString('utf8');
    if (this.#closed) return text.trim() === '' || this.#refuse('text', 'The record goes on behind its closing line.');
    const line = parseLine(text);
    switch (line.kind) {
      case 'fault':
        return this.#refuse('text', line.reason);
      case 'row':
        return this.#record.row(line.value, this.#line) && this.#checkSpelling(text, line.value, this.#record.head.seq);
      case 'closing':
        return this.#close(line.value) && this.#checkSpelling(text, line.value);
      default:
        return unreachable(line);
    }
  }

  #close({ checkpoint, public_key: named, successions = [] }: ParsedClosing): boolean {
    this.#closed = true;
    const read = KeyRing.read({ pinned: this.#pinned, named, successions });
    if ('fault' in read) return this.#record.refuse(['key', read.fault], this.#line);
    return this.#record.checkpoint(checkpoint, this.#line, read.ring) && this.#record.complete();
  }

  /** Asked last: what a line says matters more than how it says it. */
  #checkSpelling(text: string, value: unknown, seq?: number): boolean {
    if (isSpeltCanonically(text, value)) return true;
    return this.#record.refuse(['text', 'A number or a string is not spelt as RFC 8785 spells it.'], this.#line, seq);
  }

  #refuse(check: Check, reason: string, line = this.#line): false {
    return this.#record.refuse([check, reason], line, this.#record.head.seq + 1);
  }
}
