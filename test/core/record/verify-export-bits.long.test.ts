// Every bit of every kind of line of an export: verified some ten thousand times.
import type { KeyObject } from 'node:crypto';
import { expect, it } from 'vitest';
import { exportLine } from '../../../src/core/record/export.js';
import type { AuditRow } from '../../../src/core/record/row.js';
import { publicKeyFrom, signSuccession } from '../../../src/core/record/signing.js';
import {
  closing,
  contractCreated,
  created,
  drafts,
  exported,
  first,
  moved,
  recordOf,
  refused,
  START,
  second,
} from './sample-record.js';
import { verifyExport } from './verifying.js';

const text = exported(recordOf(drafts)).join('');
const pinned = publicKeyFrom(first.publicKey);
const joined = (values: readonly AuditRow[], end = closing(values)) => [...values, end].map(exportLine).join('');

/** Every flip that goes unseen, or is blamed on another line than the one it is in. */
const unseen = (
  content: string,
  bitsOf: (line: number, offset: number) => readonly number[],
  trusted: KeyObject | undefined,
): string[] => {
  const bytes = Buffer.from(content);
  const found: string[] = [];
  let line = 1;
  for (const [offset, kept] of Buffer.from(content).entries()) {
    for (const bit of bitsOf(line, offset)) {
      bytes[offset] = kept ^ (1 << bit);
      const { first_broken: broken } = verifyExport(bytes, { pinned: trusted });
      if (broken?.line !== line) found.push(`bit ${bit} of byte ${offset}, line ${line}: ${JSON.stringify(broken)}`);
    }
    bytes[offset] = kept;
    if (kept === 10) line += 1;
  }
  return found;
};
const all = [0, 1, 2, 3, 4, 5, 6, 7];
const begun = [created, contractCreated('c', 'a')];
const substrate = moved('c', 'a', 'b', START, { S: 101 });
const physics = moved('c', 'a', 'b', START, {
  operator: 'NEWTON2',
  inputs: { m: 5.972e24, a: -0.30000000000000004 },
});

it.each([
  ['the creation of a machine', 1, begun.slice(0, 1)],
  ['the creation of a contract', 2, begun],
  ['a move by the substrate', 3, [...begun, substrate]],
  ['a move by physics', 3, [...begun, physics]],
  ['a refusal', 3, [...begun, refused('c', 'a', 'b', START)]],
])('a bit that flips shows in its line: every bit of %s', (_, line, kinds) => {
  const content = exported(recordOf(kinds)).join('');
  expect(unseen(content, (at) => (at === line ? all : []), pinned)).toEqual([]);
});

it('a bit that flips shows in its line: every bit of a closing line, whether its key is pinned or not', () => {
  const one = recordOf([created]);
  const content = joined(one, closing(one, second, [signSuccession(first, second.publicKey, START)]));
  const every = unseen(content, (line) => (line === 2 ? all : []), pinned);
  const some = unseen(content, (line, offset) => (line === 2 ? [offset % 8] : []), undefined);
  expect([every, some]).toEqual([[], []]);
});

it('a bit that flips shows in its line: one bit of every byte of an export of a dozen rows', () => {
  expect(unseen(text, (_, offset) => [offset % 8], pinned)).toEqual([]);
});
