// Owns the promise that the plain SHA-256 of browsers gives the bytes of node:crypto.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sha256, sha256Plain } from '../../../src/core/schema/sha256.js';
import { anyCharacter, forAll } from '../../draws.js';

const native = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

it('the plain SHA-256 is that of Node for every length around the edges of blocks', () => {
  for (let length = 0; length < 200; length += 1) {
    const bytes = Uint8Array.from({ length }, (_, index) => 7 * index);
    expect(hex(sha256Plain(bytes))).toBe(native(bytes));
  }
});

it('the plain SHA-256 is that of Node for any text and bytes', () => {
  forAll([fc.oneof(fc.string({ unit: anyCharacter }), fc.uint8Array({ maxLength: 5_000 }))], (content) => {
    expect(hex(sha256Plain(content))).toBe(native(content));
    expect(hex(sha256(content))).toBe(native(content));
  });
});
