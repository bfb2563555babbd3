import { expect, it } from 'vitest';
import { KeyedHash } from '../../../src/core/math/keyed-hash.js';

const TEXTS = 1 << 16;
const BUCKETS = 256;

it('spreads words that differ in one place over all its bits, otherwise in every table', () => {
  const [one, other] = [new KeyedHash(), new KeyedHash()];
  const words = Uint32Array.of(7, 0);
  const hashes = Array.from({ length: TEXTS }, (_, word) => {
    words[1] = word;
    return [one.of(words, 2, 8), other.of(words, 2, 8)] as const;
  });
  // Of 2^16 hashes of 32 bits, half a pair is expected to be equal.
  expect(new Set(hashes.map(([hash]) => hash)).size).toBeGreaterThan(TEXTS - 10);
  expect(hashes.filter(([hash, same]) => hash === same).length).toBeLessThan(10);
  expect(one.of(words, 2, 8)).not.toBe(one.of(words, 2, 7));
  for (const shift of [0, 8, 16, 24]) {
    const counts = new Array<number>(BUCKETS).fill(0);
    for (const [hash] of hashes) counts[(hash >>> shift) & (BUCKETS - 1)]! += 1;
    // 256 are expected, with a deviation of 16.
    expect(Math.min(...counts)).toBeGreaterThan(256 - 100);
    expect(Math.max(...counts)).toBeLessThan(256 + 100);
  }
});
