// `weir verify`: checks an exported record from a file or standard input, offline.

import type { KeyObject } from 'node:crypto';
import * as fs from 'node:fs';
import type { Argv } from 'yargs';
import { baseUrlFrom, DEFAULT_URL } from '../client/base-url.js';
import { NodeFolder, type Pin } from '../client/nodes-folder.js';
import { rootKeyOf } from '../client/pin.js';
import { parseLine } from '../record/export.js';
import { KeyRing } from '../record/key-ring.js';
import { readSuccession } from '../record/shape.js';
import { fingerprintOf, isRawKey, publicKeyFrom } from '../record/signing.js';
import type { Verification } from '../record/verification.js';
import { ExportVerifier, MAX_LINE_BYTES } from '../record/verify-export.js';
import { Failure } from '../schema/failure.js';
import type { GivenTo } from './command.js';
import { showDash } from './dash.js';
import { usageFailure } from './ending.js';
import { tell } from './node-command.js';
import { jsonOption } from './options.js';
import { NOT_HELD, type Verdict, verdictOf, wordsOf } from './verdict.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('record', {
      type: 'string',
      demandOption: true,
      coerce: showDash,
      describe: 'exported file; - for standard input',
    })
    .option('key', {
      type: 'string',
      requiresArg: true,
      describe: 'public key of the node: a PEM file, base64, or a fingerprint (default: the pinned one)',
    })
    .option('url', {
      type: 'string',
      requiresArg: true,
      describe: `the node whose pinned key is taken (default: WEIR_URL, or ${DEFAULT_URL})`,
    })
    .option('json', jsonOption)
    .example('$0 verify edge.ndjson', 'against the key that was pinned on first use')
    .example('$0 verify edge.ndjson --key SHA256:…', 'against a fingerprint')
    .example('$0 record edge-gateway | $0 verify -', 'without a file');

type Given = GivenTo<typeof options>;

/** Whom the reader trusts. */
type Trusted =
  | { readonly kind: 'key'; readonly key: KeyObject }
  | { readonly kind: 'fingerprint'; readonly fingerprint: string }
  | { readonly kind: 'pin'; readonly pin: Pin }
  | { readonly kind: 'nobody' };

/** @throws Failure `unreadable_file`, `wrong_usage`, `invalid_input` for a key that is none */
export async function run(given: Given): Promise<void> {
  const { record, key, url, json } = given;
  const trusted = key === undefined ? pinnedFor(url ?? (process.env['WEIR_URL'] || DEFAULT_URL)) : trustedFrom(key);
  const { found, lastLine } = await walk(record, trusted);
  const verdict = judged(found, trusted, lastLine);
  tell({ answer: verdict, words: wordsOf(verdict), exit: verdict.valid ? 0 : NOT_HELD }, json);
}

function pinnedFor(url: string): Trusted {
  const pin = new NodeFolder(baseUrlFrom(url)).pin.read();
  return pin === undefined ? { kind: 'nobody' } : { kind: 'pin', pin };
}

/** PEM, its base64 or its fingerprint as they are, or a file with one of them. */
function trustedFrom(text: string): Trusted {
  const given = text.includes('BEGIN') || isRawKey(text) || isFingerprint(text) ? text : contentOf(text);
  if (isFingerprint(given)) return { kind: 'fingerprint', fingerprint: given };
  return { kind: 'key', key: publicKeyFrom(given) };
}

function isFingerprint(text: string): boolean {
  return /^SHA256:[A-Za-z0-9+/]{43}$/.test(text);
}

function contentOf(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw usageFailure(
      `--key takes a PEM file, a key in base64 or a fingerprint (SHA256:…), and ${path} cannot be read as a file: ${(error as Error).message}.`,
    );
  }
}

async function walk(record: string, trusted: Trusted): Promise<{ found: Verification; lastLine: string }> {
  const pinned = trusted.kind === 'key' ? trusted.key : trusted.kind === 'pin' ? rootKeyOf(trusted.pin) : undefined;
  const verifier = new ExportVerifier({ pinned });
  let tail = Buffer.alloc(0);
  try {
    for await (const chunk of isStandardInput(record) ? process.stdin : fs.createReadStream(record)) {
      const bytes = chunk as Buffer;
      if (!verifier.bytes(bytes)) break;
      tail = Buffer.concat([tail, bytes]).subarray(-MAX_LINE_BYTES);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Failure('unreadable_file', {
      what: `The record ${record} cannot be read.`,
      why: code === 'ENOENT' ? 'There is no such file.' : `${message}.`,
      fix: 'Give a file that `weir record` wrote, or - for standard input.',
      cause: error,
    });
  }
  const lines = tail.toString('utf8').trimEnd().split('\n');
  return { found: verifier.end(), lastLine: lines.at(-1) ?? '' };
}

function isStandardInput(record: string): boolean {
  return record === '-';
}

function judged(found: Verification, trusted: Trusted, lastLine: string): Verdict {
  switch (trusted.kind) {
    case 'pin':
      return verdictOf(found, trusted.pin);
    case 'fingerprint':
      return verdictOf(found.valid ? heldAgainst(trusted.fingerprint, found, lastLine) : found);
    case 'key':
    case 'nobody':
      return verdictOf(found);
  }
}

/**
 * A fingerprint is no key to verify with; the closing line of a record that holds has the keys, and the one with that fingerprint
 * is pinned after the fact.
 */
function heldAgainst(fingerprint: string, found: Verification, lastLine: string): Verification {
  const closing = parseLine(lastLine);
  if (closing.kind !== 'closing' || found.checkpoint === null) return found;
  const { public_key: named, successions = [], checkpoint } = closing.value;
  const earlier = successions.map(readSuccession).flatMap((read) => ('value' in read ? [read.value.previous] : []));
  const raw = [...earlier, named].find((one) => isRawKey(one) && fingerprintOf(publicKeyFrom(one)) === fingerprint);
  const read = raw === undefined ? undefined : KeyRing.read({ pinned: publicKeyFrom(raw), named, successions });
  if (read !== undefined && 'ring' in read && read.ring.signerOf(checkpoint) !== undefined) {
    return { ...found, checkpoint: { ...found.checkpoint, pinned: true } };
  }
  const reason = `The record is signed by ${found.checkpoint.signed_by}, which ${fingerprint} has not named.`;
  return { ...found, valid: false, checkpoint: null, first_broken: { line: found.rows + 1, check: 'key', reason } };
}
