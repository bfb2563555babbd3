// Which keys may sign a record, and in which cycles: a pinned key and its successors, each named by the previous one.
//
//   pinned A ──succession──► B ──succession──► C          A signs up to cycle 100, B from 100 to 250, C from 250 on;
//               cycle 100        cycle 250                in the cycle of a change, both may sign
import type { KeyObject } from 'node:crypto';
import { canonicalJson } from '../schema/canonical.js';
import type { Checkpoint, Cut, Succession } from './row.js';
import { readSuccession } from './shape.js';
import { checkpointHolds, cutHolds, fingerprintOf, publicKeyFrom, rawOf, successionHolds } from './signing.js';

interface KnownKeys {
  /** Trusted by the reader. Without it, the key that the record names is trusted. */
  readonly pinned?: KeyObject | undefined;
  /** The record's own key: 32 bytes in base64, as `isRawKey` demands. */
  readonly named?: string;
  readonly successions?: readonly unknown[];
  /** Known to the reader, from the pinned key on: a record that omits them does not make a retired key valid again. */
  readonly known?: readonly unknown[];
}

interface TrustedKey {
  readonly publicKey: KeyObject;
  readonly fingerprint: string;
  readonly fromCycle: number;
  readonly toCycle: number;
}

export class KeyRing {
  readonly #keys: readonly TrustedKey[];

  private constructor(
    keys: readonly TrustedKey[],
    readonly pinned: boolean,
  ) {
    this.#keys = keys;
  }

  static ofNodes(publicKeys: readonly KeyObject[], pinned: boolean): KeyRing {
    return new KeyRing(
      publicKeys.map((key) => trustedKey(key, 0, Number.MAX_SAFE_INTEGER)),
      pinned,
    );
  }

  has(raw: string): boolean {
    return this.#keys.some(({ publicKey }) => rawOf(publicKey) === raw);
  }

  static read({
    pinned,
    named,
    successions: given = [],
    known = [],
  }: KnownKeys): { readonly ring: KeyRing } | { readonly fault: string } {
    const read = readChain(joined(given, known));
    if ('fault' in read) return read;
    const { chain } = read;
    const pinnedRaw = pinned && rawOf(pinned);
    const [oldest] = chain;
    const raws =
      oldest === undefined ? [named ?? pinnedRaw ?? ''] : [oldest.previous, ...chain.map(({ next }) => next)];
    const last = raws.at(-1)!;
    if (last === '') return { fault: 'No key is known.' };
    // An older record names a key that has retired since.
    if (named !== undefined && named !== last && !(known.length > 0 && raws.includes(named))) {
      return { fault: `The record names ${short(named)}, and ${short(last)} is the last that an earlier key named.` };
    }
    const first = pinnedRaw === undefined ? 0 : raws.indexOf(pinnedRaw);
    if (first < 0) return { fault: `The record names ${short(last)}, and ${fingerprintOf(pinned!)} is pinned.` };
    const keys = raws.map((raw, index) =>
      trustedKey(publicKeyFrom(raw), chain[index - 1]?.cycle ?? 0, chain[index]?.cycle ?? Number.MAX_SAFE_INTEGER),
    );
    return { ring: new KeyRing(keys.slice(first), pinned !== undefined) };
  }

  /** Fingerprint of the signing key; undefined unless that key is on the ring and valid in that cycle. */
  signerOf(signed: Checkpoint | Cut): string | undefined {
    const { cycle } = signed;
    const inForce = this.#keys.filter(({ fromCycle, toCycle }) => fromCycle <= cycle && cycle <= toCycle);
    const holds = (key: KeyObject) =>
      'removed_to_seq' in signed ? cutHolds(signed, key) : checkpointHolds(signed, key);
    return inForce.find(({ publicKey }) => holds(publicKey))?.fingerprint;
  }

  toString(): string {
    return this.#keys.map(({ fingerprint }) => fingerprint).join(' or ');
  }
}

function trustedKey(publicKey: KeyObject, fromCycle: number, toCycle: number): TrustedKey {
  return { publicKey, fingerprint: fingerprintOf(publicKey), fromCycle, toCycle };
}

/** The record's successions, then later ones known to the reader. A pin may begin with a later key than the record. */
function joined(given: readonly unknown[], known: readonly unknown[]): readonly unknown[] {
  const texts = new Set(given.map(canonicalJson));
  return [...given, ...known.filter((one) => !texts.has(canonicalJson(one)))];
}

function readChain(values: readonly unknown[]): { readonly chain: readonly Succession[] } | { readonly fault: string } {
  const chain: Succession[] = [];
  for (const value of values) {
    const before = chain.at(-1);
    const read = readSuccession(value);
    if ('fault' in read) return { fault: `A succession does not look like one: ${read.fault}.` };
    const succession = read.value;
    if (!successionHolds(succession)) return { fault: 'A succession is not signed by the key it calls previous.' };
    if (before !== undefined && before.next !== succession.previous) {
      return { fault: `${short(before.next)} was named, and ${short(succession.previous)} names the next.` };
    }
    if (before !== undefined && before.cycle > succession.cycle) {
      return { fault: `The successions of cycles ${before.cycle} and ${succession.cycle} stand in the wrong order.` };
    }
    chain.push(succession);
  }
  return { chain };
}

function short(raw: string): string {
  return fingerprintOf(publicKeyFrom(raw));
}
