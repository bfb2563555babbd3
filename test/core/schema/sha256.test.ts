// Owns the promise that the plain SHA-256 of browsers gives the bytes of node:crypto.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sha256, sha256Plain } from '../../../src/core/schema/sha256.js';
import { forAll } from '../../draws.js';

const native = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

it.each([
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
])('the plain SHA-256 of %j is that of FIPS 180-4', (text, digest) => {
  expect(hex(sha256Plain(text))).toBe(digest);
});

it('the plain SHA-256 is that of Node for every length around the edges of blocks', () => {
  for (let length = 0; length < 200; length += 1) {
    const bytes = Uint8Array.from({ length }, (_, index) => 7 * index);
    expect(hex(sha256Plain(bytes))).toBe(native(bytes));
  }
});

it('the plain SHA-256 is that of Node for any text and bytes', () => {
  forAll([fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 5_000 }))], (content) => {
    expect(hex(sha256Plain(content))).toBe(native(content));
    expect(hex(sha256(content))).toBe(native(content));
  });
});
