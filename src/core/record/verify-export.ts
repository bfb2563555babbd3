// Verifies an exported record from its bytes, as they arrive from a file or a socket. verify-record.ts verifies the rows.
import { isUtf8 } from 'node:buffer';
import type { KeyObject } from 'node:crypto';
import { Failure, unreachable } from '../schema/failure.js';
import { isSpeltCanonically, type ParsedClosing, parseLine } from './export.js';
import { KeyRing } from './key-ring.js';
import type { Succession } from './row.js';
import { readSuccession } from './shape.js';
import { fingerprintOf, isRawKey, publicKeyFrom, rawOf } from './signing.js';
import { type Check, pinnedOnly, type Verification } from './verification.js';
import { RecordVerifier } from './verify-record.js';

/** Longer lines are refused unread: a row has a few hundred bytes, at most a few ten thousand. */
export const MAX_LINE_BYTES = 1 << 18;

const LINE_FEED = 10;

export interface VerifyExportOptions {
  /** Trusted by the reader. Without it, the key that the export names is: this detects damage but not forgery. */
  readonly pinned?: KeyObject | undefined;
  /** Instead of a key: the record must contain the key. */
  readonly fingerprint?: string | undefined;
  /** Further trusted keys or fingerprints, for a record that several nodes sign. */
  readonly nodes?: readonly string[];
  /** Successions of the pinned key known to the reader: see `KeyRing.read`. */
  readonly known?: readonly Succession[];
}

interface VerifyRecordOptions {
  /** An unpinned record may be valid. Default: false. */
  readonly allowUnpinned?: boolean;
  /** A signed head saved earlier, as `weir verify --out` writes it: detects a rollback and a fork. */
  readonly checkpoint?: string;
}

/**
 * Verifies an exported record: every row, every proof, every signature.
 * @param record the export, at once or in pieces of any size, for example `createReadStream('edge.ndjson')`
 * @param key the trusted key: PEM, the 32 bytes in base64, or a fingerprint (`SHA256:…`). Without one a record is not valid unless
 *   `allowUnpinned` is set: a forger signs with a key of their own.
 * @throws Failure `invalid_input` for a key or a checkpoint that cannot be read
 */
export async function verifyRecord(
  record: string | Uint8Array | AsyncIterable<string | Uint8Array>,
  key?: string | KeyObject,
  { allowUnpinned = false, checkpoint }: VerifyRecordOptions = {},
): Promise<Verification> {
  const verifier = new ExportVerifier(typeof key === 'string' ? trustIn(key) : { pinned: key });
  if (checkpoint !== undefined) verifier.expect(checkpoint);
  if (typeof record === 'string' || record instanceof Uint8Array) verifier.bytes(Buffer.from(record));
  else for await (const chunk of record) if (!verifier.bytes(Buffer.from(chunk))) break;
  return allowUnpinned ? verifier.end() : pinnedOnly(verifier.end());
}

/** @throws Failure `invalid_input` */
export function trustIn(key: string): Pick<VerifyExportOptions, 'pinned' | 'fingerprint' | 'nodes'> {
  return isFingerprint(key) ? { fingerprint: key } : { pinned: publicKeyFrom(key) };
}

export function isFingerprint(text: string): boolean {
  return /^SHA256:[A-Za-z0-9+/]{43}$/.test(text);
}

/** Takes chunks of any size. Keeps one line, and the state of a RecordVerifier. */
export class ExportVerifier {
  readonly #pinned: KeyObject | undefined;
  readonly #fingerprint: string | undefined;
  readonly #known: readonly Succession[];
  readonly #nodes: readonly string[];
  /** The key of a saved checkpoint: without a pin, a record must continue with it or with its successors. */
  #saved: string | undefined;
  readonly #record = new RecordVerifier();
  #partialLine = Buffer.alloc(0);
  #line = 0;
  #closing: ParsedClosing | undefined;

  constructor({ pinned, fingerprint, nodes = [], known = [] }: VerifyExportOptions = {}) {
    this.#pinned = pinned;
    this.#nodes = nodes;
    this.#fingerprint = fingerprint;
    this.#known = known;
  }

  /** A signed head, to be saved as a checkpoint. Undefined until it has been read. */
  get closing(): ParsedClosing | undefined {
    return this.#closing;
  }

  /**
   * A signed head saved earlier, whose row the record must have. Call it before the first byte.
   * @param text a closing line, or a whole earlier export
   * @param goesOn the record up to it was verified then, and is skipped: see `RecordVerifier.resumeAfter`
   * @throws Failure `invalid_input`
   */
  expect(text: string, goesOn = false): void {
    const line = parseLine(text.trimEnd().split('\n').at(-1) ?? '');
    if (line.kind !== 'closing') {
      throw new Failure('invalid_input', {
        what: 'The checkpoint cannot be read.',
        why: line.kind === 'fault' ? line.reason : 'It does not end with the closing line of a record.',
        fix: 'Give a file that `weir verify --out` wrote, or an earlier export.',
      });
    }
    const read = this.#ringOf(line.value);
    this.#saved = line.value.public_key;
    if ('fault' in read) this.#record.refuse(['key', `The saved checkpoint: ${read.fault}`], 0);
    else if (this.#record.checkpoint(line.value.checkpoint, 0, read.ring) && goesOn) {
      this.#record.resumeAfter(line.value.checkpoint.seq);
    }
  }

  /** Whether everything has held so far; after the first `false` the rest is ignored. */
  bytes(chunk: Uint8Array): boolean {
    const bytes = Buffer.concat([this.#partialLine, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      if (!this.#takeLine(bytes.subarray(start, end))) return false;
      start = end + 1;
    }
    this.#partialLine = Buffer.from(bytes.subarray(start));
    return this.#partialLine.length <= MAX_LINE_BYTES || this.#takeLine(this.#partialLine);
  }

  end(): Verification {
    if (this.#partialLine.length > 0) this.#takeLine(this.#partialLine);
    if (this.#closing === undefined)
      this.#refuse('tail', 'The export ends without its closing line: it was cut off.', this.#line + 1);
    return this.#record.end();
  }

  #takeLine(bytes: Buffer): boolean {
    if (!this.#record.holds) return false;
    this.#line += 1;
    if (bytes.length > MAX_LINE_BYTES) return this.#refuse('text', `The line is longer than ${MAX_LINE_BYTES} bytes.`);
    if (!isUtf8(bytes)) return this.#refuse('text', 'The line is not UTF-8.');
    const text = bytes.toString('utf8');
    if (this.#closing !== undefined)
      return text.trim() === '' || this.#refuse('text', 'The record goes on behind its closing line.');
    const line = parseLine(text);
    switch (line.kind) {
      case 'fault':
        return this.#refuse('text', line.reason);
      case 'row':
        if (!this.#record.row(line.value, this.#line)) return false;
        return this.#record.isEarlier || this.#checkSpelling(text, line.value, this.#record.head.seq);
      case 'opening':
        return this.#record.cut(line.value.cut, this.#line) && this.#checkSpelling(text, line.value);
      case 'closing':
        return this.#close(line.value) && this.#checkSpelling(text, line.value);
      default:
        return unreachable(line);
    }
  }

  #close(closing: ParsedClosing): boolean {
    this.#closing = closing;
    const read = this.#ringOf(closing);
    if ('fault' in read) return this.#record.refuse(['key', read.fault], this.#line);
    const { ring } = read;
    return (
      this.#record.signedCut(ring) &&
      this.#record.checkpoint(closing.checkpoint, this.#line, ring) &&
      // Without a pin any signer is trusted, as the closing line is.
      (!ring.pinned ||
        this.#record.trusting((key) => ring.has(key) || this.#isNode(key) || this.#isPinned(key), this.#line)) &&
      this.#record.complete()
    );
  }

  #isPinned(raw: string): boolean {
    if (this.#pinned !== undefined) return rawOf(this.#pinned) === raw;
    return this.#fingerprint !== undefined && nameOf(raw) === this.#fingerprint;
  }

  #isNode(raw: string): boolean {
    return this.#nodes.some((node) =>
      isFingerprint(node) ? nameOf(raw) === node : rawOf(publicKeyFrom(node)) === raw,
    );
  }

  #ringOf({ public_key: named, successions = [] }: ParsedClosing): ReturnType<typeof KeyRing.read> {
    if (this.#isNode(named)) return { ring: KeyRing.ofNodes([publicKeyFrom(named)], true) };
    const pinned = pinnedIn({ pinned: this.#pinned, fingerprint: this.#fingerprint }, named, successions);
    if (this.#nodes.length > 0)
      return { fault: `The record is signed by ${nameOf(named)}, which is none of the trusted keys.` };
    if (pinned === undefined && this.#fingerprint !== undefined)
      return { fault: `The record is signed by ${nameOf(named)}, which ${this.#fingerprint} has not named.` };
    if (pinned === undefined && this.#saved !== undefined) {
      const continued = KeyRing.read({ pinned: publicKeyFrom(this.#saved), named, successions });
      if ('fault' in continued) return continued;
    }
    return KeyRing.read({ pinned, named, successions, known: this.#known });
  }

  /** Last: the content of a line matters more than its notation. */
  #checkSpelling(text: string, value: unknown, seq?: number): boolean {
    if (isSpeltCanonically(text, value)) return true;
    return this.#record.refuse(['text', 'A number or a string is not spelt as RFC 8785 spells it.'], this.#line, seq);
  }

  #refuse(check: Check, reason: string, line = this.#line): false {
    return this.#record.refuse([check, reason], line, this.#record.head.seq + 1);
  }
}

/** A fingerprint is looked up among the keys that a record names. */
function pinnedIn(
  { pinned, fingerprint }: Pick<VerifyExportOptions, 'pinned' | 'fingerprint'>,
  named: string,
  successions: readonly unknown[],
): KeyObject | undefined {
  if (fingerprint === undefined) return pinned;
  const earlier = successions.map(readSuccession).flatMap((read) => ('value' in read ? [read.value.previous] : []));
  const raw = [...earlier, named].find((one) => nameOf(one) === fingerprint);
  return raw === undefined ? undefined : publicKeyFrom(raw);
}

function nameOf(raw: string): string {
  return isRawKey(raw) ? fingerprintOf(publicKeyFrom(raw)) : 'a key that cannot be read';
}
