// Connects to a node. Before any credential is sent, the node must sign a nonce with the key that it shows: replaying the public key of
// another node gains nothing.
//
//   GET /api/updates/pubkey ─► key ─► as pinned? ─► GET /api/updates/proof?nonce=… ─► signed by that key? ─► credential
//
// This does not detect a man in the middle who relays every message; that takes TLS.
import { randomBytes } from 'node:crypto';
import type { Succession } from '../../core/record/row.js';
import { fingerprintOf, isRawKey, publicKeyFrom, textHolds } from '../../core/record/signing.js';
import { Failure } from '../../core/schema/failure.js';
import { proveKey, publicKey } from '../node.js';
import type { ApiClient, CallOptions, CredentialHeaders } from './api-client.js';
import { baseUrlFrom, insecure, isReadable } from './base-url.js';
import { NodeConnection } from './checked-client.js';

export interface ShownKey {
  readonly public_key: string;
  readonly successions: readonly Succession[];
}

export interface Reached {
  readonly url: string;
  readonly shown: ShownKey;
  readonly anyone: ApiClient;
  /** A client with credentials. Calls throw `insecure_connection` if these could be read on the way. */
  as(credentials: CredentialHeaders): ApiClient;
  /** @throws Failure `insecure_connection` for plain HTTP to another machine, unless allowed */
  refuseInsecure(): void;
  /** @throws Failure `key_unproved` */
  prove(): Promise<void>;
  close(): Promise<void>;
}

/** @throws Failure `wrong_usage`, `node_unreachable`, `answer_unreadable`; the signal's reason if it is aborted */
export async function reach(givenUrl: string, isInsecure = false, options: CallOptions = {}): Promise<Reached> {
  const url = baseUrlFrom(givenUrl);
  const connection = new NodeConnection(url);
  const anyone = connection.client();
  const refuseInsecure = () => {
    if (isReadable(url) && !isInsecure) throw insecure(url);
  };
  try {
    const shown = await anyone.call(publicKey, undefined, options);
    if (!isRawKey(shown.public_key)) throw noKey(url);
    return {
      url,
      shown,
      anyone,
      refuseInsecure,
      as: (credentials) => {
        if (Object.keys(credentials).length === 0) return anyone;
        return connection.client(() => {
          refuseInsecure();
          return credentials;
        });
      },
      prove: () => prove(anyone, shown.public_key, url),
      close: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function prove(anyone: ApiClient, key: string, url: string): Promise<void> {
  const nonce = randomBytes(32).toString('base64url');
  const answer = await anyone.call(proveKey, { query: { nonce } }).catch((error: unknown) => {
    if (error instanceof Failure && error.code === 'route_not_found') return undefined;
    throw error;
  });
  if (answer !== undefined && textHolds(key, 'node-proof', nonce, answer.signature)) return;
  throw new Failure('key_unproved', {
    what: `The node at ${url} did not prove that it has the key that it shows; nothing was sent to it.`,
    why:
      answer === undefined
        ? 'It has no route for that: it is no node.'
        : `It does not sign with ${fingerprintOf(publicKeyFrom(key))}: it shows the key of another node.`,
    fix: 'Check the address, and ask the operator of the node.',
  });
}

/** @throws Failure `wrong_usage` */
export function bearer(key: string): CredentialHeaders {
  if (/^[\x21-\x7e]+$/.test(key)) return { authorization: `Bearer ${key}` };
  throw new Failure('wrong_usage', {
    what: 'A key is one word of printable ASCII.',
    fix: 'Give it as `weir node mint` prints it.',
  });
}

function noKey(url: string): Failure {
  return new Failure('answer_unreadable', {
    what: `The key of ${url} cannot be read.`,
    why: 'Its public_key is not 32 bytes in base64.',
    fix: 'Check that the address is that of a node.',
  });
}
