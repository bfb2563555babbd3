// The key of a node: signs and verifies by Ed25519 (RFC 8032). key-ring.ts decides which key to trust; the node stores the private key.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKeyInput,
  type KeyObject,
  sign as signEd25519,
  verify as verifyEd25519,
} from 'node:crypto';
import { canonicalJson } from '../schema/canonical.js';
import { Failure } from '../schema/failure.js';
import type { Checkpoint, Cut, Succession } from './row.js';

export interface Signer {
  /** Ed25519 over the bytes, or over the text in UTF-8; 64 bytes in base64. Deterministic. */
  sign(data: Uint8Array | string): string;
  /** SPKI, as openssl and most libraries read it. */
  readonly publicKeyPem: string;
  /** 32 bytes in base64. */
  readonly publicKey: string;
  readonly fingerprint: string;
}

/** PEM (PKCS#8). */
export function newPrivateKeyPem(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
}

/** Its key exists only in this process. */
export function generateSigner(): Signer {
  return signerFromPem(newPrivateKeyPem());
}

/** @param pem PKCS#8. @throws Failure `invalid_input` unless it is an Ed25519 private key */
export function signerFromPem(pem: string): Signer {
  const privateKey = readKey('private', pem, () => createPrivateKey(pem));
  const publicKey = createPublicKey(privateKey);
  return Object.freeze({
    sign: (data: Uint8Array | string) => signEd25519(null, bytesOf(data), privateKey).toString('base64'),
    publicKeyPem: publicKey.export({ format: 'pem', type: 'spki' }) as string,
    publicKey: rawOf(publicKey),
    fingerprint: fingerprintOf(publicKey),
  });
}

/** @param text PEM (SPKI), or the 32 bytes of the key in base64. @throws Failure `invalid_input` for any other text */
export function publicKeyFrom(text: string): KeyObject {
  return readKey('public', text, () => createPublicKey(rawKey(text.trim()) ?? text));
}

/** 32 bytes in base64, in the canonical form. */
export function isRawKey(text: string): boolean {
  return canonicalBytes(text, 32) !== undefined;
}

/** 32 bytes in base64. */
export function rawOf(publicKey: KeyObject): string {
  return Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');
}

/** What people compare: `SHA256:` and the unpadded base64 digest of the 32 bytes of the key, as in ssh. */
export function fingerprintOf(publicKey: KeyObject): string {
  const digest = createHash('sha256').update(rawOf(publicKey), 'base64').digest('base64');
  return `SHA256:${digest.replace(/=+$/, '')}`;
}

/** `seq` and `hash` are those of the last row, `cycle` is that of the signature. */
export function signCheckpoint(signer: Signer, head: Omit<Checkpoint, 'signature'>): Checkpoint {
  return { ...checkpointBody(head), signature: signer.sign(canonicalJson(checkpointBody(head))) };
}

/** `publicKey` is PEM, base64 or parsed. @throws Failure `invalid_input` if the text is no key */
export function checkpointHolds(checkpoint: Checkpoint, publicKey: KeyObject | string): boolean {
  const key = typeof publicKey === 'string' ? publicKeyFrom(publicKey) : publicKey;
  return signatureHolds(canonicalJson(checkpointBody(checkpoint)), checkpoint.signature, key);
}

/** The first rows of the record were removed; `cycle` is that of the signature. */
export function signCut(signer: Signer, cut: Omit<Cut, 'signature'>): Cut {
  return { ...cutBody(cut), signature: signer.sign(canonicalJson(cutBody(cut))) };
}

export function cutHolds(cut: Cut, publicKey: KeyObject): boolean {
  return signatureHolds(canonicalJson(cutBody(cut)), cut.signature, publicKey);
}

/**
 * The hash of a row, which covers its content with `signed_by`; the manifest of a backup (node/backup-manifest.ts); the nonce of a
 * party that wants a proof of possession of the key. A signature is valid for its text and purpose only.
 */
type Purpose = 'row' | 'backup' | 'node-proof';

export function signText(signer: Signer, purpose: Purpose, text: string): string {
  return signer.sign(textFor(purpose, text));
}

/** @param publicKey 32 bytes in base64 */
export function textHolds(publicKey: string, purpose: Purpose, text: string, signature: string): boolean {
  return isRawKey(publicKey) && signatureHolds(textFor(purpose, text), signature, publicKeyFrom(publicKey));
}

// Checkpoints, cuts and successions are JSON objects: none begins like this, whatever the text is.
function textFor(purpose: Purpose, text: string): string {
  return `weir-${purpose}/1 ${text}`;
}

/** @param next the 32 bytes of the next public key in base64, as `Signer.publicKey` */
export function signSuccession(previous: Signer, next: string, cycle: number): Succession {
  const body = { previous: previous.publicKey, next, cycle };
  return { ...body, signature: previous.sign(canonicalJson(body)) };
}

/** Signed by `previous`. Whether to trust that key is a separate question. */
export function successionHolds({ previous, next, cycle, signature }: Succession): boolean {
  if (!isRawKey(previous) || !isRawKey(next)) return false;
  return signatureHolds(canonicalJson({ previous, next, cycle }), signature, publicKeyFrom(previous));
}

// The fields of succession, checkpoint and cut have different names: a signature of one is never valid for another.
function checkpointBody({ machine, seq, hash, cycle }: Omit<Checkpoint, 'signature'>): Omit<Checkpoint, 'signature'> {
  return { machine, seq, hash, cycle };
}

function cutBody({ machine, removed_to_seq, removed_hash, at, cycle }: Omit<Cut, 'signature'>): Omit<Cut, 'signature'> {
  return { machine, removed_to_seq, removed_hash, at, cycle };
}

function signatureHolds(text: string, signature: string, publicKey: KeyObject): boolean {
  const bytes = canonicalBytes(signature, 64);
  return bytes !== undefined && verifyEd25519(null, bytesOf(text), publicKey, bytes);
}

function rawKey(text: string): JsonWebKeyInput | undefined {
  const x = canonicalBytes(text, 32)?.toString('base64url');
  return x === undefined ? undefined : { format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } };
}

/** Undefined unless `text` is canonical: decoders ignore spare bits of the last character, which could hide a flip. */
function canonicalBytes(text: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined;
}

function bytesOf(data: Uint8Array | string): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
}

function readKey(half: 'private' | 'public', text: string, read: () => KeyObject): KeyObject {
  let key: KeyObject | undefined;
  let cause: unknown;
  try {
    key = read();
  } catch (error) {
    cause = error;
  }
  // `createPublicKey` also accepts a private key. A pin must not contain a secret.
  if (key?.asymmetricKeyType === 'ed25519' && (half === 'private' || !text.includes('PRIVATE'))) return key;
  throw new Failure('invalid_input', {
    what: `The text is not an Ed25519 ${half} key.`,
    why: key === undefined ? 'It cannot be read as a key.' : `It holds a key of another kind.`,
    fix:
      half === 'public'
        ? 'Give the PEM text ("-----BEGIN PUBLIC KEY-----"), or its 32 bytes in base64; GET /api/updates/pubkey has both.'
        : 'Give the PEM text of a PKCS#8 key, as `openssl genpkey -algorithm ed25519` writes it.',
    cause,
  });
}
