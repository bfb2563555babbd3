// Trust on first use: the first key of a node is pinned. From then on only that key, or a successor that it has signed, is accepted.
//
//   first      A shown, nothing pinned         ─► A is pinned
//   later      A shown                         ─► accepted
//   rotated    B shown, succession signed by A ─► B is accepted; A stays the root, so that older records can be verified
//   otherwise  B shown                         ─► refused, before any credential is sent
import type { KeyObject } from 'node:crypto';
import { KeyRing } from '../../core/record/key-ring.js';
import { fingerprintOf, publicKeyFrom } from '../../core/record/signing.js';
import { Failure } from '../../core/schema/failure.js';
import type { ShownKey } from './connect.js';
import type { NodeFolder, Pin } from './nodes-folder.js';

export type Trust =
  | { readonly kind: 'known'; readonly pin: Pin }
  | { readonly kind: 'first'; readonly pin: Pin }
  | { readonly kind: 'succeeded'; readonly pin: Pin; readonly previous: string };

/** Compares the shown key with the pinned one. @param now ISO 8601 @throws Failure `key_changed` */
export function trust(url: string, shown: ShownKey, kept: NodeFolder['pin'], now: string): Trust {
  const pin = kept.read();
  if (pin === undefined) {
    const first = { url, public_key: shown.public_key, pinned_at: now, successions: [] };
    return { kind: 'first', pin: first };
  }
  const current = currentKeyOf(pin);
  if (current === shown.public_key) return { kind: 'known', pin };
  const { successions } = shown;
  const read = KeyRing.read({ pinned: publicKeyFrom(current), named: shown.public_key, successions });
  if ('fault' in read) throw changed(url, pin, shown, kept.path);
  const since = successions.slice(successions.findIndex(({ previous }) => previous === current));
  const followed = { ...pin, successions: [...pin.successions, ...since] };
  return { kind: 'succeeded', pin: followed, previous: shortOf(current) };
}

function currentKeyOf({ public_key, successions }: Pin): string {
  return successions.at(-1)?.next ?? public_key;
}

export function rootKeyOf({ public_key }: Pin): KeyObject {
  return publicKeyFrom(public_key);
}

export function shortOf(raw: string): string {
  return fingerprintOf(publicKeyFrom(raw));
}

function changed(url: string, pin: Pin, { public_key }: ShownKey, path: string): Failure {
  return new Failure('key_changed', {
    what: `The node at ${url} is not the one that was there before; nothing was sent to it.`,
    why: `It shows the key ${shortOf(public_key)}; ${shortOf(currentKeyOf(pin))} was pinned on ${pin.pinned_at}, and has signed no successor.`,
    fix: `Ask the operator of the node. If the node was set up anew and prints the shown key at its start, remove ${path}: the next command pins the new key.`,
  });
}
