// Connects to a node. Before any credential is sent, the node must sign a nonce with the key that it shows: replaying the public key of
// another node gains nothing.
//
//   GET /api/updates/pubkey ─► key ─► as pinned? ─► GET /api/updates/proof?nonce=… ─► signed by that key? ─► credential
//
// This does not detect a man in the middle who relays every message; that takes TLS.
import { randomBytes } from 'node:crypto';
import { proveKey, publicKey } from '../api/node.js';
import { KeyRing } from '../record/key-ring.js';
import type { Succession } from '../record/row.js';
import { fingerprintOf, isRawKey, proofHolds, publicKeyFrom } from '../record/signing.js';
import { pinnedIn, trustIn } from '../record/verify-export.js';
import { Failure } from '../schema/failure.js';
import type { ApiClient, CallOptions, CredentialHeaders } from './api-client.js';
import { baseUrlFrom, insecure, isReadable } from './base-url.js';
import { NodeConnection } from './checked-client.js';
import { follow, type StreamMessage } from './event-stream.js';

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
  if (answer !== undefined && proofHolds(key, nonce, answer.signature)) return;
  throw new Failure('key_unproved', {
    what: `The node at ${url} did not prove that it has the key that it shows; nothing was sent to it.`,
    why:
      answer === undefined
        ? 'It has no route for that: it is older than this program, or it is no node.'
        : `It does not sign with ${fingerprintOf(publicKeyFrom(key))}: it shows the key of another node.`,
    fix: 'Check the address, and ask the operator of the node; a node of an earlier version has to be updated.',
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

export interface ConnectOptions {
  /** API key. Default: public routes only. */
  readonly credential?: string | undefined;
  /** The node's key: PEM, base64 or `SHA256:…`. Signed successors are accepted. Default: any key the node proves. */
  readonly pin?: string | undefined;
  /** Whether the credential may be sent by plain http to another machine. Default: false. */
  readonly insecure?: boolean | undefined;
}

export interface FollowOptions {
  /** The last known row of the record. Default: 0, everything. */
  readonly afterSeq?: number;
  readonly signal?: AbortSignal;
}

export interface ConnectedNode {
  readonly url: string;
  /** `SHA256:…` of the proven key. */
  readonly fingerprint: string;
  /** Example: `node.call(endpoints.countOne, { params: { slug }, body: { type: 'request' } })`. */
  readonly call: ApiClient['call'];
  /** Every message of a machine exactly once, across reconnects. */
  follow(slug: string, options?: FollowOptions): AsyncGenerator<StreamMessage>;
  close(): Promise<void>;
}

/**
 * A client of a node. It reads and writes no file.
 * @throws Failure `wrong_usage`, `node_unreachable`, `answer_unreadable`, `key_unproved`, `insecure_connection`,
 * `key_changed` (another key than the pin), `invalid_input` (unreadable pin)
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<ConnectedNode> {
  const { credential, pin, insecure: isInsecure } = options;
  const credentials = credential === undefined ? {} : bearer(credential);
  const node = await reach(url, isInsecure);
  try {
    if (credential !== undefined) node.refuseInsecure();
    if (pin !== undefined) refuseOther(node, pin);
    await node.prove();
  } catch (error) {
    await node.close();
    throw error;
  }
  const api = node.as(credentials);
  return {
    url: node.url,
    fingerprint: fingerprintOf(publicKeyFrom(node.shown.public_key)),
    call: (endpoint, ...ask) => api.call(endpoint, ...ask),
    follow: (slug, { afterSeq = 0, signal = new AbortController().signal } = {}) =>
      follow(api, slug, { afterSeq, signal, prove: node.prove }),
    close: () => node.close(),
  };
}

function refuseOther({ url, shown: { public_key: named, successions } }: Reached, pin: string): void {
  const pinned = pinnedIn(trustIn(pin), named, successions);
  if (pinned !== undefined && 'ring' in KeyRing.read({ pinned, named, successions })) return;
  throw new Failure('key_changed', {
    what: `The node at ${url} is not the pinned one; nothing was sent to it.`,
    why: `It shows the key ${fingerprintOf(publicKeyFrom(named))}, and the pinned one has signed no such successor.`,
    fix: 'Ask the operator of the node.',
  });
}

function noKey(url: string): Failure {
  return new Failure('answer_unreadable', {
    what: `The key of ${url} cannot be read.`,
    why: 'Its public_key is not 32 bytes in base64.',
    fix: 'Check that the address is that of a node.',
  });
}
