// Browser substitutes for `node:crypto`, `node:buffer` and `Buffer`, inserted by the bundler, so that the code of `weir verify` runs in a
// page.
//
// WebCrypto is asynchronous, the verifier is not: an unanswered signature check is noted and returns false. `answered` resolves all noted
// checks; the verifier then runs again and finds their results.
import { sha256Plain } from '../../core/schema/sha256.js';

/** Without the static constructors, which Buffer defines differently. */
const Bytes = Uint8Array as unknown as new (from: number | ArrayLike<number>) => Uint8Array<ArrayBuffer>;

export class Buffer extends Bytes {
  static from(value: string | Uint8Array, encoding?: string): Buffer {
    if (typeof value !== 'string') return new Buffer(value);
    if (encoding === undefined || encoding === 'utf8') return new Buffer(new TextEncoder().encode(value));
    try {
      const plain = atob(value.replaceAll('-', '+').replaceAll('_', '/'));
      return new Buffer(Uint8Array.from(plain, (character) => character.charCodeAt(0)));
    } catch {
      return new Buffer(0);
    }
  }

  static alloc(length: number): Buffer {
    return new Buffer(length);
  }

  static concat(parts: readonly Uint8Array[]): Buffer {
    const all = new Buffer(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  override toString(encoding = 'utf8'): string {
    if (encoding === 'utf8') return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this);
    const text = btoa(String.fromCharCode(...this));
    return encoding === 'base64' ? text : text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  }
}

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

export function createHash(_algorithm: 'sha256') {
  let bytes: Uint8Array = new Uint8Array(0);
  const hash = {
    update(data: string, encoding: string) {
      bytes = Buffer.from(data, encoding);
      return hash;
    },
    digest: (encoding: string) => new Buffer(sha256Plain(bytes)).toString(encoding),
  };
  return hash;
}

interface PublicKey {
  readonly asymmetricKeyType: 'ed25519';
  export(): { readonly x: string };
}

/** @param given a key as JWK; PEM is not supported */
export function createPublicKey(given: { readonly key: { readonly x: string } } | string): PublicKey {
  if (typeof given === 'string') throw new Error('It is no key in base64.');
  const { x } = given.key;
  return { asymmetricKeyType: 'ed25519', export: () => ({ x }) };
}

const answers = new Map<string, boolean>();
const questions = new Map<string, () => Promise<boolean>>();

export function verify(_algorithm: null, data: Uint8Array, key: PublicKey, signature: Uint8Array): boolean {
  const { x } = key.export();
  const question = [x, Buffer.from(data).toString('base64'), Buffer.from(signature).toString('base64')].join(' ');
  const answer = answers.get(question);
  if (answer === undefined)
    questions.set(question, async () => {
      const jwk = { kty: 'OKP', crv: 'Ed25519', x };
      const imported = await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify']);
      return crypto.subtle.verify('Ed25519', imported, new Uint8Array(signature), new Uint8Array(data));
    });
  return answer ?? false;
}

/** Resolves all open signature checks. @returns whether there were any */
export async function answered(): Promise<boolean> {
  const open = [...questions];
  questions.clear();
  await Promise.all(open.map(async ([question, ask]) => answers.set(question, await ask())));
  return open.length > 0;
}

function nodeAlone(): never {
  throw new Error('Only a node signs.');
}

export const [createPrivateKey, generateKeyPairSync, sign, randomBytes] = [nodeAlone, nodeAlone, nodeAlone, nodeAlone];
