import fc from 'fast-check';
import { expect, it } from 'vitest';
import { KeyRing } from '../../../src/core/record/key-ring.js';
import { publicKeyFrom, type Signer, signCheckpoint, signSuccession } from '../../../src/core/record/signing.js';
import { canonicalJson } from '../../../src/core/schema/canonical.js';
import { forAll } from '../../draws.js';
import { first, second, third } from './sample-record.js';

const keyOf = ({ publicKey }: Signer) => publicKeyFrom(publicKey);

const signedIn = (cycle: number, signer: Signer) =>
  signCheckpoint(signer, { machine: 'm', seq: 1, hash: 'ab'.repeat(32), cycle });

/** Who of the three may sign, cycle by cycle: `1` the first, `12` the first and the second, `-` nobody. */
function inForce(ring: KeyRing, cycles: readonly number[]): string {
  const signers = [first, second, third];
  const drawn = cycles.map((cycle) =>
    signers
      .map((signer, index) => (ring.signerOf(signedIn(cycle, signer)) === signer.fingerprint ? `${index + 1}` : ''))
      .join(''),
  );
  return drawn.map((who) => who || '-').join(' ');
}

const toSecond = signSuccession(first, second.publicKey, 100);
const toThird = signSuccession(second, third.publicKey, 250);
/** As a record is written. */
const sorted = (value: object) => JSON.parse(canonicalJson(value)) as unknown;
const cycles = [0, 99, 100, 101, 249, 250, 251, 2_345_678_901];

// biome-ignore format: one case a line
it.each([
    ['a pinned key alone: it, always', KeyRing.ofNodes([keyOf(first)], true), '1 1 1 1 1 1 1 1'],
    ['a key the record names: it, always', { named: first.publicKey }, '1 1 1 1 1 1 1 1'],
    ['one succession: each up to the change, both in its cycle', { pinned: keyOf(first), successions: [toSecond] }, '1 1 12 2 2 2 2 2'],
    [
      'two successions, pinned at the oldest key',
      { pinned: keyOf(first), named: third.publicKey, successions: [toSecond, toThird] },
      '1 1 12 2 2 23 3 3',
    ],
    [
      'two successions, pinned in the middle: what came before is not trusted',
      { pinned: keyOf(second), named: third.publicKey, successions: [toSecond, toThird] },
      '- - 2 2 2 23 3 3',
    ],
    ['two successions, nothing pinned', { named: third.publicKey, successions: [toSecond, toThird] }, '1 1 12 2 2 23 3 3'],
    [
      'a record that keeps quiet about a succession which the reader knows: the old key has retired',
      { pinned: keyOf(first), named: first.publicKey, known: [toSecond] },
      '1 1 12 2 2 2 2 2',
    ],
    [
      'a record that knows less than the reader, its members in another order',
      { pinned: keyOf(first), named: second.publicKey, successions: [sorted(toSecond)], known: [toSecond, toThird] },
      '1 1 12 2 2 23 3 3',
    ],
    [
      'a record that knows more than the reader',
      { pinned: keyOf(first), named: third.publicKey, successions: [toSecond, toThird], known: [toSecond] },
      '1 1 12 2 2 23 3 3',
    ],
    [
      'two changes in one cycle: all three in it',
      { pinned: keyOf(first), successions: [toSecond, signSuccession(second, third.publicKey, 100)] },
      '1 1 123 3 3 3 3 3',
    ],
  ])('the keys that may sign are those in force: %s', (_, known, expected) => {
    const read = known instanceof KeyRing ? { ring: known } : KeyRing.read(known);
    expect('fault' in read ? read.fault : inForce(read.ring, cycles)).toBe(expected);
  });

it.each([
  ['nothing is known', {}, 'No key is known.'],
  [
    'a foreign key is named',
    { pinned: keyOf(first), named: second.publicKey },
    `The record names ${second.fingerprint}, and ${first.fingerprint} is pinned.`,
  ],
  [
    'the successions never pass the pinned key',
    { pinned: keyOf(first), named: third.publicKey, successions: [toThird] },
    `The record names ${third.fingerprint}, and ${first.fingerprint} is pinned.`,
  ],
  [
    'the named key is not the last successor',
    { pinned: keyOf(first), named: third.publicKey, successions: [toSecond] },
    `The record names ${third.fingerprint}, and ${second.fingerprint} is the last that an earlier key named.`,
  ],
  [
    'a link of the successions is missing',
    { named: third.publicKey, successions: [toSecond, signSuccession(first, third.publicKey, 250)] },
    `${second.fingerprint} was named, and ${first.fingerprint} names the next.`,
  ],
  [
    'the successions stand in the wrong order of time',
    { named: third.publicKey, successions: [toSecond, signSuccession(second, third.publicKey, 99)] },
    'The successions of cycles 100 and 99 stand in the wrong order.',
  ],
  [
    'a succession was signed by another key',
    { named: second.publicKey, successions: [{ ...toSecond, signature: toThird.signature }] },
    'A succession is not signed by the key it calls previous.',
  ],
  [
    'a succession has a field too many',
    { named: second.publicKey, successions: [{ ...toSecond, note: 'x' }] },
    expect.stringMatching(/^A succession does not look like one: \/note is not known/),
  ],
])('the keys that may sign are not told when %s', (_, known, fault) => {
  expect(KeyRing.read(known)).toEqual({ fault });
});

it('a retired key signs nothing new: each key of a chain holds in its time alone, whoever knows the chain', () => {
  const signers = [first, second, third];
  const chain = fc.tuple(fc.nat(500), fc.nat(500)).map((changes) => changes.sort((a, b) => a - b));
  forAll([chain, fc.nat(2), fc.nat(600), fc.nat(2), fc.boolean()], (changes, at, cycle, told, isPinned) => {
    const all = changes.map((change, index) => signSuccession(signers[index]!, signers[index + 1]!.publicKey, change));
    const read = KeyRing.read({
      ...(isPinned ? { pinned: keyOf(first) } : {}),
      named: signers[told]!.publicKey,
      successions: all.slice(0, told),
      known: all,
    });
    if ('fault' in read) throw new Error(read.fault);
    const inTime = (changes[at - 1] ?? 0) <= cycle && cycle <= (changes[at] ?? Number.POSITIVE_INFINITY);
    expect(read.ring.signerOf(signedIn(cycle, signers[at]!))).toBe(inTime ? signers[at]!.fingerprint : undefined);
  });
});
