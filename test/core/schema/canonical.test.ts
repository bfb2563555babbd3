// Owns the promises of the canonical text: the examples of RFC 8785, and a refusal of all that JSON would lose in silence.
import commonJs from 'canonicalize';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson, digestOf, sha256Hex } from '../../../src/core/schema/canonical.js';
import { Bug } from '../../../src/core/schema/failure.js';
import { forAll } from '../../draws.js';

/** An implementation of others. It declares a default export of an ES module, and is a CommonJS module that exports the function. */
const canonicalize = commonJs as unknown as (value: unknown) => string | undefined;

it('the canonical text is that of the sample of RFC 8785, section 3.2.3', () => {
  const sample = {
    numbers: JSON.parse('[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]'),
    string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
    literals: [null, true, false],
  };
  expect(canonicalJson(sample)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

it('the canonical text sorts members by UTF-16 code units: RFC 8785, section 3.2.3', () => {
  const members = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
  expect(
    Object.values(
      JSON.parse(
        `[${canonicalJson(members)
          .replace(/"[^"]*":/gu, '')
          .slice(1, -1)}]`,
      ),
    ),
  ).toEqual([2, 4, 6, 7, 1, 5, 3]);
});

it.each([
  [-0, '0'],
  [2 ** 53, '9007199254740992'],
  [1e21, '1e+21'],
  [5e-324, '5e-324'],
  ['\ud800', '"\\ud800"'],
  [Object.create(null), '{}'],
])('the canonical text of %j is %s', (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

it('the canonical text is the same whatever the order of members, as others write it, and can be read back', () => {
  const name = fc.string({
    unit: fc.constantFrom('a', 'B', '1', '"', '\\', '\n', '\u20ac', '\ufb33', '\ud83d\ude00'),
  });
  forAll([fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }))], (value) => {
    const entries = Object.entries(value);
    const text = canonicalJson(value);
    expect(canonicalJson(Object.fromEntries(entries.reverse()))).toBe(text);
    expect(canonicalJson(JSON.parse(text))).toBe(text);
    expect(canonicalize(value)).toBe(text);
  });
});

class Point {
  x = 1;
}
it.each([
  ['NaN', NaN, 'canonical JSON of NaN at the top'],
  ['an infinity', { a: [1, -Infinity] }, 'canonical JSON of -Infinity at /a/1'],
  ['undefined', undefined, 'canonical JSON of undefined at the top'],
  ['an undefined member', { a: { b: undefined } }, 'canonical JSON of undefined at /a/b'],
  ['a hole', new Array(2), 'canonical JSON of undefined at /0'],
  ['a function', { f: () => 1 }, 'canonical JSON of function at /f'],
  ['a symbol', [Symbol('s')], 'canonical JSON of symbol at /0'],
  ['a member named by a symbol', { [Symbol('s')]: 1 }, 'canonical JSON of a member named by a symbol at the top'],
  ['a bigint', { n: 1n }, 'canonical JSON of bigint at /n'],
  ['a date', { at: new Date(0) }, 'canonical JSON of Date at /at'],
  ['a map', new Map([[1, 2]]), 'canonical JSON of Map at the top'],
  ['a typed array', new Uint8Array(2), 'canonical JSON of Uint8Array at the top'],
  ['an instance of a class', { p: new Point() }, 'canonical JSON of Point at /p'],
])('what JSON would lose is a bug, and its place is named: %s', (_name, value, message) => {
  expect(() => canonicalJson(value)).toThrow(new Bug(message));
});

it.each([
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [new Uint8Array([0x61, 0x62, 0x63]), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ['ä', sha256Hex(new Uint8Array([0xc3, 0xa4]))],
])('SHA-256 of %j has the digits of FIPS 180-2', (content, hex) => {
  expect(sha256Hex(content)).toBe(hex);
});

it('the digest of a value is SHA-256 of its canonical text', () => {
  expect(digestOf({ b: 1, a: 2 })).toBe(sha256Hex('{"a":2,"b":1}'));
});
