import { expect, it } from 'vitest';
import { nearest } from '../../../src/core/schema/did-you-mean.js';

const columns = ['timestamp', 'client_ip', 'status', 'bytes', 'n'];

it.each([
  ['a letter left out', 'timstamp', 'timestamp'],
  ['a letter too many', 'statuss', 'status'],
  ['a wrong letter', 'client-ip', 'client_ip'],
  ['two letters swapped count as one edit', 'btyes', 'bytes'],
  ['letter case counts for nothing', 'TIMESTAMP', 'timestamp'],
  ['two edits in seven letters', 'tmestmp', 'timestamp'],
  ['a letter alone is no misspelling', 'm', undefined],
  ['a letter in other case', 'N', 'n'],
  ['too far off', 'duration', undefined],
  ['the beginning of a word', 'time', 'timestamp'],
  ['another part of a word is too far off', 'stamp', undefined],
  ['nothing was written', '', undefined],
])('%s: the name nearest to %s is %s', (_, word, expected) => {
  expect(nearest(word, columns)).toBe(expected);
});

it('the nearer word is preferred, and of equals the first', () => {
  expect([nearest('aab', ['aaa', 'aab', 'aac']), nearest('aax', ['aab', 'aac']), nearest('a', [])]).toEqual([
    'aab',
    'aab',
    undefined,
  ]);
});
