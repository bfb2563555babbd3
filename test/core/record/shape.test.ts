import { expect, it } from 'vitest';
import { readCheckpoint, readRow } from '../../../src/core/record/shape.js';
import { signCheckpoint } from '../../../src/core/record/signing.js';
import { drafts, first, recordOf } from './sample-record.js';

const rows = recordOf(drafts);
const [machineCreated, contractCreated, , transition, physics, failed] = rows;

/** Where and why, up to the words that list what is allowed. */
const faultOf = (value: unknown): string => {
  const read = readRow(value);
  return 'fault' in read ? read.fault : 'none';
};

const without = (row: object | undefined, name: string) =>
  Object.fromEntries(Object.entries(row ?? {}).filter(([key]) => key !== name));

const KINDS =
  '/kind must be one of machine_created, contract_created, contract_changed, contract_deleted, machine_deleted, ' +
  'transition, transition_failed, admin_action, rows_lost';

it('a row of every kind is read as it is', () => {
  expect(rows.map(readRow)).toEqual(rows.map((value) => ({ value })));
});

it.each([
  [null, 'it is not an object'],
  [[], 'it is not an object'],
  ['row', 'it is not an object'],
  [7, 'it is not an object'],
  [{}, KINDS],
  [{ kind: 'toString' }, KINDS],
  [{ kind: ['transition'] }, KINDS],
])('a row is not %j', (value, fault) => {
  expect(faultOf(value)).toBe(fault);
});

it('a row without a field of its kind is refused', () => {
  const optional = ['proof_digest', 'substrate', 'to', 'operator'];
  const faults = [machineCreated, contractCreated, transition, failed].flatMap((row) =>
    Object.keys(row ?? {})
      .filter((name) => name !== 'kind' && !(row?.kind === 'transition_failed' && optional.includes(name)))
      .map((name) => [faultOf(without(row, name)), `/${name} is required`]),
  );
  expect(faults.map(([fault]) => fault)).toEqual(faults.map(([, expected]) => expected));
  expect(faults.length).toBeGreaterThan(40);
});

// biome-ignore format: one case a line
it.each([
    ['a field that is not known', { ...machineCreated, note: 'x' }, /^\/note is not known/],
    ['a field that another kind has', { ...machineCreated, contract_id: 'c1' }, /^\/contract_id is not known/],
    [
      'a field named as the prototype is',
      JSON.parse(`${JSON.stringify(machineCreated).slice(0, -1)},"__proto__":{}}`),
      /^\/__proto__ is not/,
    ],
    ['a result where a transition failed', { ...failed, result: 1 }, /^\/result is not known/],
    ['an unknown field within', { ...physics, substrate: { ...physics?.substrate, x: 1 } }, /^\/substrate\/x is not known/],
    ['null for a field that does not apply', { ...transition, proof_digest: null }, /^\/proof_digest must be a string/],
    ['seq 0', { ...machineCreated, seq: 0 }, /^\/seq /],
    ['half a seq', { ...machineCreated, seq: 1.5 }, /^\/seq must be an integer/],
    ['a seq that doubles cannot tell from the next', { ...machineCreated, seq: 2 ** 53 }, /^\/seq /],
    ['a cycle before the first', { ...machineCreated, cycle: -1 }, /^\/cycle /],
    ['a number as text', { ...machineCreated, cycle: '7' }, /^\/cycle must be an integer/],
    ['a time that is not UTC', { ...machineCreated, at: '2026-11-20T23:24:00.000+01:00' }, /^\/at must match/],
    ['a hash in capitals', { ...machineCreated, hash: 'AB'.repeat(32) }, /^\/hash must match/],
    ['a hash with something behind it', { ...machineCreated, hash: `${'ab'.repeat(32)}\n` }, /^\/hash must match/],
    ['a slug in capitals', { ...machineCreated, machine: 'Gateway' }, /^\/machine must match/],
    ['an unknown cause', { ...machineCreated, cause: 'chance' }, /^\/cause must be one of/],
    ['an event where nothing can be emitted', { ...contractCreated, emitted: ['rate_limited'] }, /^\/emitted/],
    ['an input that is not a number', { ...transition, inputs: { S: '101' } }, /^\/inputs\/S must be a number/],
    ['an infinite result', { ...transition, result: JSON.parse('1e999') }, /^\/result must be a number/],
  ])('a row with %s is refused', (_, value, fault) => {
    expect(faultOf(value)).toMatch(fault);
  });

const checkpoint = signCheckpoint(first, { machine: 'm', seq: 1, hash: 'ab'.repeat(32), cycle: 7 });

it('a checkpoint is read as it is', () => {
  expect(readCheckpoint(checkpoint)).toEqual({ value: checkpoint });
});

it.each([
  ['a field that is not known', { ...checkpoint, at: 'x' }],
  ['a signature that is too short', { ...checkpoint, signature: checkpoint.signature.slice(4) }],
  ['no seq', without(checkpoint, 'seq')],
  ['nothing at all', undefined],
])('a checkpoint is refused with %s', (_, value) => {
  expect(readCheckpoint(value)).toHaveProperty('fault');
});
