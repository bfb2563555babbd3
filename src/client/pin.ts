// Trust on first use: the key of a node is pinned when it is first seen; from then on only that key, or one that it has named by its
// signature, is accepted.
//
//   first      A shown, nothing pinned        ─► A is pinned
//   later      A shown                        ─► as before
//   rotated    B shown, "A names B" by A      ─► B is taken, A stays the root, so that older records can be verified, too
//   otherwise  B shown                        ─► refused, before any credential is sent
import type { KeyObject } from 'node:crypto';
import { KeyRing } from '../record/key-ring.js';
import { fingerprintOf, isRawKey, publicKeyFrom, type Succession } from '../record/signing.js';
import { Failure } from '../schema/failure.js';
import type { NodeFolder, Pin } from './nodes-folder.js';

/** What a node says of its key. */
export interface ShownKey {
  /** 32 bytes in base64. */
  readonly public_key: string;
  readonly successions: readonly Succession[];
}

export type Trust =
  | { readonly kind: 'known'; readonly pin: Pin }
  | { readonly kind: 'first'; readonly pin: Pin }
  | { readonly kind: 'succeeded'; readonly pin: Pin; readonly previous: string };

/**
 * Whether the key that a node shows may be trusted. A first key, and one that was named by the pinned one, is kept.
 * @param now ISO 8601
 * @throws Failure `key_changed`, `answer_unreadable` for what is no key
 */
export function trust(url: string, shown: ShownKey, folder: NodeFolder, now: string): Trust {
  if (!isRawKey(shown.public_key)) throw noKey(url);
  const pin = folder.pin.read();
  if (pin === undefined) {
    const first = { url, public_key: shown.public_key, pinned_at: now, successions: [] };
    folder.pin.write(first);
    return { kind: 'first', pin: first };
  }
  const current = currentKeyOf(pin);
  if (current === shown.public_key) return { kind: 'known', pin };
  const { successions } = shown;
  const read = KeyRing.read({ pinned: publicKeyFrom(current), named: shown.public_key, successions });
  if ('fault' in read) throw changed(url, pin, shown, folder.pin.path);
  const since = successions.slice(successions.findIndex(({ previous }) => previous === current));
  const followed = { ...pin, successions: [...pin.successions, ...since] };
  folder.pin.write(followed);
  return { kind: 'succeeded', pin: followed, previous: shortOf(current) };
}

/** The key that the node has to show: 32 bytes in base64. */
function currentKeyOf({ public_key, successions }: Pin): string {
  return successions.at(-1)?.next ?? public_key;
}

/** The key from which all others of a node were named: what its records are verified against. */
export function rootKeyOf({ public_key }: Pin): KeyObject {
  return publicKeyFrom(public_key);
}

/** The last cycle in which a key of the node could sign; undefined for the present one. */
export function lastCycleOf({ successions }: Pin, fingerprint: string): number | undefined {
  return successions.find(({ previous }) => shortOf(previous) === fingerprint)?.cycle;
}

export function shortOf(raw: string): string {
  return fingerprintOf(publicKeyFrom(raw));
}

function changed(url: string, pin: Pin, { public_key }: ShownKey, path: string): Failure {
  return new Failure('key_changed', {
    what: `The node at ${url} is not the one that was there before; nothing was sent to it.`,
    why: `It shows the key ${shortOf(public_key)}; ${shortOf(currentKeyOf(pin))} was pinned on ${pin.pinned_at}, and has not named another one.`,
    fix: `Ask whoever runs the node. If it was set up anew, and the key it prints at its start is the one shown, remove ${path}: the next command pins the new key.`,
  });
}

function noKey(url: string): Failure {
  return new Failure('answer_unreadable', {
    what: `The key of ${url} cannot be read.`,
    why: 'What it shows as its public_key is not 32 bytes in base64.',
    fix: 'Check that the address is that of a node.',
  });
}
