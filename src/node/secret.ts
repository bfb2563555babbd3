// The secrets of keys and sessions, and the names of keys and owners: random, and the node keeps only hashes of the secrets.
import { randomBytes } from 'node:crypto';
import { sha256Hex } from '../schema/canonical.js';

export interface Secret {
  /** What its owner is given and nobody keeps. */
  readonly text: string;
  /** What is kept: SHA-256, lower-case hex. */
  readonly hash: string;
}

/** A machine key, `weir_` and 43 characters; a session is 43 characters without more. 256 random bits each. */
export function newKey(): Secret {
  return secretOf(`weir_${randomText(32)}`);
}

export function newSession(): Secret {
  return secretOf(randomText(32));
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

export function hashOfSecret(text: string): string {
  return sha256Hex(text);
}

function secretOf(text: string): Secret {
  return { text, hash: hashOfSecret(text) };
}

function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}
