// The licences of all packages of the lock file: that of this one permits what each of them asks.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const permissive = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Zlib', 'CC0-1.0'];
/** For fonts, which stay what they are, and for files that a change of them alone would bind. */
const unchanged = ['OFL-1.1', 'MPL-2.0'];

/** An expression of SPDX without nesting: all of `AND`, one of `OR`. */
function isAllowed(licence: string): boolean {
  const words = licence.replace(/[()]/g, '');
  if (words.includes(' AND ')) return words.split(' AND ').every(isAllowed);
  return words.split(' OR ').some((one) => [...permissive, ...unchanged].includes(one));
}

it.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0)', true],
  ['(MIT AND GPL-3.0)', false],
  ['GPL-3.0', false],
  ['none', false],
])('the licence %s is allowed: %s', (licence, expected) => {
  expect(isAllowed(licence)).toBe(expected);
});

it('every package that is installed has a licence that is allowed here', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Readonly<Record<string, { readonly license?: string }>>;
  };
  const licences = Object.entries(packages).map(([name, { license = 'none' }]) => [name, license] as const);
  expect(licences.length).toBeGreaterThan(100);
  expect(licences.filter(([, licence]) => !isAllowed(licence))).toEqual([]);
});
