// The licences of all packages of the lock file: that of this one permits what each of them asks.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** What may be passed on with no more than its name; OFL is for fonts, which stay what they are. */
const passedOn = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Zlib', 'OFL-1.1'];
/** For tools too what is nobody's, and files that a change of them alone would bind. */
const all = [...passedOn, 'CC0-1.0', 'MPL-2.0'];
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Readonly<Record<string, { readonly license?: string; readonly dev?: boolean }>>;
};

/** An expression of SPDX without nesting: all of `AND`, one of `OR`. */
function isAllowed(licence: string, among = all): boolean {
  const words = licence.replace(/[()]/g, '');
  if (words.includes(' AND ')) return words.split(' AND ').every((one) => isAllowed(one, among));
  return words.split(' OR ').some((one) => among.includes(one));
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
  const licences = Object.entries(packages).map(([name, { license = 'none' }]) => [name, license] as const);
  expect(licences.length).toBeGreaterThan(100);
  expect(licences.filter(([, licence]) => !isAllowed(licence))).toEqual([]);
});

it('what is bundled, and every dependency, may be passed on: its licence asks for no more than to be named', () => {
  const bundled: string[] = JSON.parse(readFileSync('build/bundled.json', 'utf8'));
  const shipped = Object.entries(packages).filter(
    ([path, { dev = false }]) => path !== '' && (!dev || bundled.includes(path)),
  );
  expect(shipped.length).toBeGreaterThan(bundled.length);
  expect(shipped.filter(([, { license = 'none' }]) => !isAllowed(license, passedOn))).toEqual([]);
});
