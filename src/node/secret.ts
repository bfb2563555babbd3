// Random secrets of keys and sessions, and names of keys and owners. The node stores only hashes of the secrets.
import { randomBytes } from 'node:crypto';
import { sha256Hex } from '../core/schema/canonical.js';

export interface Secret {
  /** For the owner; never stored. */
  readonly text: string;
  /** SHA-256, lower-case hex. */
  readonly hash: string;
}

/** `weir_` and 43 characters, 256 random bits. */
export function newKey(): Secret {
  return secretOf(`weir_${randomText(32)}`);
}

export function newSession(): Secret & { readonly id: string } {
  return { id: newName(SESSION), ...secretOf(randomText(32)) };
}

/** A session is kept as a key. Sent as one, it opens nothing. */
export function isSession(keyId: string): boolean {
  return keyId.startsWith(`${SESSION}_`);
}

export function newName(prefix: string): string {
  return `${prefix}_${randomText(12)}`;
}

export function newOwner(): string {
  return newName(OWNER);
}

export function isMinted(owner: string): boolean {
  return owner.startsWith(`${OWNER}_`);
}

const OWNER = 'owner';
const SESSION = 'session';

export function hashOfSecret(text: string): string {
  return sha256Hex(text);
}

function secretOf(text: string): Secret {
  return { text, hash: hashOfSecret(text) };
}

function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}
