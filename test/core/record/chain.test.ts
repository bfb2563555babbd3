import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EMPTY, hashOf, link } from '../../../src/core/record/chain.js';
import { type AuditEntry, GENESIS } from '../../../src/core/record/row.js';
import { canonicalJson } from '../../../src/core/schema/canonical.js';
import { Bug } from '../../../src/core/schema/failure.js';
import { forAll } from '../../draws.js';
import { drafts, recordOf } from './sample-record.js';

const entry: AuditEntry = {
  machine: 'm',
  cycle: 7,
  at: '1970-01-01T00:00:05.439Z',
  kind: 'machine_created',
  cause: 'manual',
  emitted: [],
};

it('a chain begins at seq 1 behind 64 zeros, and hashes the canonical text of all other fields', () => {
  // Written by hand from the description of the record: members in order, no blanks.
  const text =
    `{"at":"1970-01-01T00:00:05.439Z","cause":"manual","cycle":7,"emitted":[],"kind":"machine_created",` +
    `"machine":"m","previous_hash":"${'0'.repeat(64)}","seq":1}`;
  const hash = createHash('sha256').update(text).digest('hex');
  expect(link(EMPTY, entry)).toEqual({ ...entry, seq: 1, previous_hash: GENESIS, hash });
});

it('a row goes on from the row before', () => {
  const [one, two, three] = recordOf(drafts.slice(0, 3));
  expect([two?.seq, two?.previous_hash, three?.seq, three?.previous_hash]).toEqual([2, one?.hash, 3, two?.hash]);
});

it.each([
  ['a field that is there and undefined', { ...entry, from: undefined } as unknown as AuditEntry],
  ['a result that is not finite', { ...entry, result: Number.NaN }],
  ['an input that is not finite', { ...entry, inputs: { m: Number.POSITIVE_INFINITY } }],
])('a chain refuses %s as a bug of ours', (_, wrong) => {
  expect(() => link(EMPTY, wrong)).toThrow(Bug);
});

it('a hash does not look at the hash that is written, nor at the order of members', () => {
  const [row] = recordOf(drafts.slice(0, 1));
  const turned = Object.fromEntries(Object.entries({ ...row!, hash: 'f'.repeat(64) }).reverse());
  expect(hashOf(turned as typeof row & object)).toBe(row?.hash);
});

it('a hash changes with any field', () => {
  const rows = recordOf(drafts);
  const at = fc.constantFrom(...rows);
  forAll(
    [
      at.chain((row) => fc.tuple(fc.constant(row), fc.constantFrom(...Object.keys(row)))),
      fc.oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null), fc.constant([])),
    ],
    ([row, name], value) => {
      fc.pre(name !== 'hash' && canonicalJson(value) !== canonicalJson(row[name as keyof typeof row]));
      expect(hashOf({ ...row, [name]: value })).not.toBe(row.hash);
    },
  );
});
