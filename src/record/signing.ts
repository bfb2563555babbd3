// The key of a node: signs, and checks signatures, by Ed25519 (RFC 8032). key-ring.ts decides which key to trust; the node stores
// the private key.
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
  /** Ed25519 over the bytes, or over the text in UTF-8; 64 bytes in base64. The same data gives the same signature. */
  sign(data: Uint8Array | string): string;
  /** SPKI, as openssl and most libraries read it. */
  readonly publicKeyPem: string;
  /** The 32 bytes of the key in base64. */
  readonly publicKey: string;
  readonly fingerprint: string;
}

/** A new private key as PEM (PKCS#8), to be stored by a node. */
export function newPrivateKeyPem(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
}

/** A signer whose key exists only in this process. */
export function generateSigner(): Signer {
  return signerFromPem(newPrivateKeyPem());
}

/**
 * @param pem an Ed25519 private key, PKCS#8
 * @throws Failure `invalid_input` when the text is anything else
 */
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

/**
 * Reads a public key.
 * @param text PEM (SPKI), or the 32 bytes of the key in base64
 * @throws Failure `invalid_input` when the text is neither
 */
export function publicKeyFrom(text: string): KeyObject {
  return readKey('public', text, () => createPublicKey(rawKey(text.trim()) ?? text));
}

/** Whether the text is 32 bytes in base64, written in the one canonical way. */
export function isRawKey(text: string): boolean {
  return canonicalBytes(text, 32) !== undefined;
}

/** The 32 bytes of a public key in base64. */
export function rawOf(publicKey: KeyObject): string {
  return Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');
}

/** What people compare: `SHA256:` and the digest of the 32 bytes of the key in base64 without padding, in the format of ssh. */
export function fingerprintOf(publicKey: KeyObject): string {
  const digest = createHash('sha256').update(rawOf(publicKey), 'base64').digest('base64');
  return `SHA256:${digest.replace(/=+$/, '')}`;
}

/** Signs the end of a record: `seq` and `hash` are those of its last row, `cycle` is the cycle of the signature. */
export function signCheckpoint(signer: Signer, head: Omit<Checkpoint, 'signature'>): Checkpoint {
  return { ...checkpointBody(head), signature: signer.sign(canonicalJson(checkpointBody(head))) };
}

/** Whether this key (PEM, base64 or parsed) signed the checkpoint. @throws Failure `invalid_input` when the text is no key */
export function checkpointHolds(checkpoint: Checkpoint, publicKey: KeyObject | string): boolean {
  const key = typeof publicKey === 'string' ? publicKeyFrom(publicKey) : publicKey;
  return signatureHolds(canonicalJson(checkpointBody(checkpoint)), checkpoint.signature, key);
}

/** Signs that the first rows of a record were removed: `cycle` is the cycle of the signature. */
export function signCut(signer: Signer, cut: Omit<Cut, 'signature'>): Cut {
  return { ...cutBody(cut), signature: signer.sign(canonicalJson(cutBody(cut))) };
}

export function cutHolds(cut: Cut, publicKey: KeyObject): boolean {
  return signatureHolds(canonicalJson(cutBody(cut)), cut.signature, publicKey);
}

/** Signs a row by its hash, which is that of its content with `signed_by`. */
export function signRow(signer: Signer, hash: string): string {
  return signer.sign(rowText(hash));
}

export function rowSignatureHolds(publicKey: string, hash: string, signature: string): boolean {
  return isRawKey(publicKey) && signatureHolds(rowText(hash), signature, publicKeyFrom(publicKey));
}

// As with proofs: no JSON begins like this.
function rowText(hash: string): string {
  return `weir-row/1 ${hash}`;
}

/** Signs what a backup holds; see store/sqlite-seal.ts. */
export function signBackup(signer: Signer, contents: string): string {
  return signer.sign(backupText(contents));
}

export function backupHolds(publicKey: string, contents: string, signature: string): boolean {
  return isRawKey(publicKey) && signatureHolds(backupText(contents), signature, publicKeyFrom(publicKey));
}

// As with rows: no JSON begins like this.
function backupText(contents: string): string {
  return `weir-backup/1 ${contents}`;
}

/**
 * Names the next key of a node.
 * @param next the 32 bytes of the next public key in base64, as `Signer.publicKey` gives them
 */
export function signSuccession(previous: Signer, next: string, cycle: number): Succession {
  const body = { previous: previous.publicKey, next, cycle };
  return { ...body, signature: previous.sign(canonicalJson(body)) };
}

/** Whether the key `previous` signed the succession. Whether to trust that key is a separate question. */
export function successionHolds({ previous, next, cycle, signature }: Succession): boolean {
  if (!isRawKey(previous) || !isRawKey(next)) return false;
  return signatureHolds(canonicalJson({ previous, next, cycle }), signature, publicKeyFrom(previous));
}

/** Proves to the party that chose the nonce that the node holds its key; valid for this nonce only. */
export function signProof(signer: Signer, nonce: string): string {
  return signer.sign(proofText(nonce));
}

/** @param publicKey the 32 bytes of the key in base64 */
export function proofHolds(publicKey: string, nonce: string, signature: string): boolean {
  return isRawKey(publicKey) && signatureHolds(proofText(nonce), signature, publicKeyFrom(publicKey));
}

// Checkpoints and successions are JSON objects: no text that begins like this one is either, whatever the nonce is.
function proofText(nonce: string): string {
  return `weir-node-proof/1 ${nonce}`;
}

// The fields of a succession, a checkpoint and a cut have different names: a signature of one is never valid for another.
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

/**
 * The bytes of a base64 text, or undefined unless there are `length` of them and the text is their canonical form: decoders ignore
 * the spare bits of the last character, so a flipped bit could go unnoticed in a record.
 */
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
