import { expect, it } from 'vitest';
import { EMPTY, hashOf } from '../../../src/core/record/chain.js';
import { KeyRing } from '../../../src/core/record/key-ring.js';
import type { AuditRow } from '../../../src/core/record/row.js';
import { publicKeyFrom, signCheckpoint } from '../../../src/core/record/signing.js';
import { RecordVerifier, type VerifyOptions } from '../../../src/core/record/verify-record.js';
import {
  changedContract,
  contractCreated,
  created,
  deleted,
  drafts,
  first,
  moved,
  recordOf,
  refused,
  relinked,
  START,
  second,
} from './sample-record.js';
import { verdictOf, verifyRows } from './verifying.js';

const rows = recordOf(drafts);
const others = recordOf(drafts, 'another');
const keys = KeyRing.ofNodes([publicKeyFrom(first.publicKey)], true);

const checkpointOf = ({ machine, seq, hash, cycle }: AuditRow, signer = first) =>
  signCheckpoint(signer, { machine, seq, hash, cycle });

const verdict = (values: Iterable<unknown>, options?: VerifyOptions) => verdictOf(verifyRows(values, options));

/** The rows with some fields of one of them changed. */
const changed = (seq: number, change: object, from: readonly AuditRow[] = rows): AuditRow[] =>
  from.map((row) => (row.seq === seq ? { ...row, ...change } : row));

/** As `changed`, and every hash after it made right again. */
const rewritten = (seq: number, change: object): AuditRow[] => relinked(changed(seq, change));

const row = (seq: number): AuditRow => rows[seq - 1]!;

it('a record that holds is told with its head, its newest checkpoint, and how many firings were computed again', () => {
  const options = { keys, checkpoints: [checkpointOf(row(12)), checkpointOf(row(4))] };
  expect(verifyRows(rows, options)).toEqual({
    valid: true,
    machine: 'gateway',
    rows: 12,
    head: { seq: 12, hash: row(12).hash },
    first_broken: null,
    checkpoint: { seq: 12, cycle: START + 151, signed_by: first.fingerprint, pinned: true },
    proofs: 11,
  });
});

it('a record may have no rows, where none are known of', () => {
  const nothing = { machine: null, rows: 0, head: null, first_broken: null, checkpoint: null, proofs: 0 };
  expect(verifyRows([])).toEqual({ valid: true, ...nothing });
});

it('a record may go on behind its newest checkpoint', () => {
  const { valid, checkpoint } = verifyRows(rows, { keys, checkpoints: [checkpointOf(row(7))] });
  expect({ valid, seq: checkpoint?.seq }).toEqual({ valid: true, seq: 7 });
});

it('a record may have come through JSON, with its members in another order', () => {
  const turned = rows.map((value) => Object.fromEntries(Object.entries(JSON.parse(JSON.stringify(value))).reverse()));
  expect(verdict(turned)).toBe('holds');
});

it('a record is walked no further than the first row that does not hold', () => {
  const seen: number[] = [];
  function* watched() {
    for (const value of changed(4, { result: 1 })) {
      seen.push(value.seq);
      yield value;
    }
  }
  expect(verifyRows(watched())).toMatchObject({ rows: 3, head: { seq: 3 }, valid: false, proofs: 0 });
  expect(seen).toEqual([1, 2, 3, 4]);
});

const fields = rows.flatMap((value) => Object.keys(value).map((name) => [value.seq, name] as const));

it.each(fields)('row %i is named, whatever is done to its field %s', (seq, name) => {
  const value = row(seq)[name as keyof AuditRow];
  const next =
    typeof value === 'number' ? 2 * value + 1 : typeof value === 'string' ? `${value}0` : { ...Object(value), x: 1 };
  const { [name as keyof AuditRow]: _, ...left } = row(seq);
  for (const values of [changed(seq, { [name]: next }), rows.map((other) => (other.seq === seq ? left : other))])
    expect(verifyRows(values).first_broken).toMatchObject({ seq, line: seq });
});

it.each([
  ['a result, and nothing else', changed(5, { result: 1 }), 'seq 5 line 5: hash'],
  ['an emitted event, and nothing else', changed(4, { emitted: [] }), 'seq 4 line 4: hash'],
  [
    'a row whose own hash was made right: the next does not link to it',
    changed(6, {
      failure: { code: 'x', detail: '' },
      hash: hashOf({ ...row(6), failure: { code: 'x', detail: '' } }),
    }),
    'seq 7 line 7: link',
  ],
  ['a field that no row has', changed(6, { note: 'x' }), 'seq 6 line 6: shape'],
  ['a row that is no row', rows.map((value) => (value.seq === 6 ? null : value)), 'seq 6 line 6: shape'],
])('a changed row is named: %s', (_, values, expected) => {
  expect(verdict(values)).toBe(expected);
});

// biome-ignore format: one case a line
it.each([
  ['a result in the last bit', rewritten(4, { result: 101.11750687265041 }), 'seq 4 line 4: proof'],
  ['a later cycle than its firing had', rewritten(12, { cycle: START + 152 }), 'seq 12 line 12: proof'],
  ['a cycle before the row before', rewritten(6, { cycle: START + 8 }), 'seq 6 line 6: cycle'],
  ['a state that the contract was not in', rewritten(7, { from: 'allowing' }), 'seq 7 line 7: state'],
  ['a state it never entered', rewritten(4, { to: 'shut' }), 'seq 7 line 7: state'],
  ['a beginning in another state', rewritten(2, { to: 'limiting' }), 'seq 4 line 4: state'],
  ['a refusal in another state', rewritten(6, { from: 'idle' }), 'seq 6 line 6: state'],
  ['another contract', rewritten(7, { contract_id: 'c2' }), 'seq 7 line 7: state'],
  ['a contract that was never created', rewritten(7, { contract_id: 'c3' }), 'seq 7 line 7: state'],
  ['a refusal of a contract that was never created', rewritten(6, { contract_id: 'c3' }), 'seq 6 line 6: state'],
  ['another machine', rewritten(7, { machine: 'another' }), 'seq 7 line 7: machine'],
  ['a row left out: its contract jumps', relinked(rows.filter(({ seq }) => seq !== 7)), 'seq 8 line 8: state'],
  ['a contract created twice', recordOf([created, contractCreated('c1', 'a'), contractCreated('c1', 'a')]), 'seq 3 line 3: state'],
  ['a machine created twice', recordOf([created, created]), 'seq 2 line 2: state'],
  ['a record that begins with a contract', recordOf([contractCreated('c1', 'a')]), 'seq 1 line 1: state'],
  [
    'a refusal taken for a move',
    recordOf([created, contractCreated('c1', 'a'), refused('c1', 'a', 'b', START), moved('c1', 'b', 'a', START)]),
    'seq 4 line 4: state',
  ],
])('a record written anew is held against what it says: %s', (_, values, expected) => {
  expect(values.every((value) => value.hash === hashOf(value))).toBe(true);
  expect(verdict(values)).toBe(expected);
});

const keyed = { max_keys: 9, idle_cycles: 0, overflow: 'refuse', store_keys: 'plain' } as const;
const before = [created, { ...contractCreated('c1', 'allowing'), keyed }];
const limitedKey = { ...moved('c1', 'allowing', 'limiting', START + 9, { S: 101 }), key: 'ann' };
const restoredKey = { ...moved('c1', 'limiting', 'allowing', START + 20, { S: 1 }), key: 'ann' };
const reset = { states: ['open', 'shut'], resets: true as const };

// biome-ignore format: one case a line
it.each([
    ['keeps its state', [changedContract('c1'), moved('c1', 'allowing', 'limiting', START + 20, { S: 2 })], 'holds'],
    ['keeps the states of its keys', [limitedKey, changedContract('c1'), restoredKey], 'holds'],
    [
      'leaves a state that is gone',
      [
        moved('c1', 'allowing', 'limiting', START + 9),
        changedContract('c1', { from: 'limiting', states: ['allowing'] }),
      ],
      'holds',
    ],
    [
      'is reset',
      [
        limitedKey,
        changedContract('c1', { ...reset, to: 'open' }),
        { ...moved('c1', 'open', 'shut', START + 20), key: 'ann' },
      ],
      'holds',
    ],
    ['was in another state', [changedContract('c1', { from: 'limiting', to: 'limiting' })], 'seq 3 line 3: state'],
    ['goes on in another state', [changedContract('c1', { to: 'limiting' })], 'seq 3 line 3: state'],
    ['is reset to another state', [changedContract('c1', { ...reset, to: 'shut' })], 'seq 3 line 3: state'],
    ['keeps states that begin in another one', [changedContract('c1', { states: ['limiting', 'allowing'] })], 'seq 3 line 3: state'],
    ['forgets the state of a key', [limitedKey, changedContract('c1'), { ...limitedKey, cycle: START + 20 }], 'seq 5 line 5: state'],
    ['was never there', [changedContract('c2')], 'seq 3 line 3: state'],
    ['was deleted', [deleted('c1'), changedContract('c1')], 'seq 4 line 4: state'],
  ])('the record of a contract that was changed is judged where it %s', (_, drafted, expected) => {
    expect(verdict(recordOf([...before, ...drafted]))).toBe(expected);
  });

const forged = rewritten(6, { failure: { code: 'x', detail: 'nothing happened' } });

// biome-ignore format: one case a line
it.each([
    ['a cut tail', rows.slice(0, 9), [checkpointOf(row(12))], 'seq 10 line 10: tail'],
    ['a record cut to nothing', [], [checkpointOf(row(12))], 'seq 1 line 1: tail'],
    ['a record written anew, at the row that was signed', forged, [checkpointOf(row(9))], 'seq 9 line 9: checkpoint'],
    [
      'a record written anew, at the first such row',
      forged,
      [checkpointOf(row(12)), checkpointOf(row(7)), checkpointOf(row(5))],
      'seq 7 line 7: checkpoint',
    ],
    ['a foreign key', rows, [checkpointOf(row(12), second)], 'line 0: key'],
    ['a changed seq', rows, [{ ...checkpointOf(row(12)), seq: 11 }], 'line 0: key'],
    ['a checkpoint of another machine', rows, [checkpointOf(others[11]!)], 'seq 1 line 1: machine'],
    ['two machines', rows, [checkpointOf(row(12)), checkpointOf(others[11]!)], 'line 0: machine'],
    ['a node that signed two records', rows, [checkpointOf(row(12)), checkpointOf(forged[11]!)], 'seq 12 line 0: checkpoint'],
    [
      'a row signed before it happened',
      rows,
      [signCheckpoint(first, { machine: 'gateway', seq: 12, hash: row(12).hash, cycle: START })],
      'seq 12 line 12: checkpoint',
    ],
    ['something that is no checkpoint', rows, [{}], 'line 0: shape'],
  ])('checkpoints show %s', (_, values, checkpoints, expected) => {
    expect(verdict(values, { keys, checkpoints })).toBe(expected);
  });

it('a checkpoint cannot be checked without a key', () => {
  expect(verdict(rows, { checkpoints: [checkpointOf(row(12))] })).toBe('line 0: key');
});

it('a checkpoint may be handed in twice, and before the row or directly after it, but not later', () => {
  const walked = (at: number): string => {
    const verifier = new RecordVerifier({ keys, checkpoints: [checkpointOf(row(6)), checkpointOf(row(6))] });
    for (const value of rows) {
      verifier.row(value, value.seq);
      if (value.seq === at) verifier.checkpoint(checkpointOf(row(6)), 100);
    }
    const end = verifier.end();
    return `${verdictOf(end)}, signed up to ${end.checkpoint?.seq}`;
  };
  const signed = 'holds, signed up to 6';
  expect([3, 6, 7].map(walked)).toEqual([signed, signed, expect.stringMatching(/^seq 6 line 100: checkpoint/)]);
});

it('a checkpoint shows a rewritten row when handed in directly after it', () => {
  const verifier = new RecordVerifier({ keys });
  for (const value of forged.slice(0, 6)) verifier.row(value, value.seq);
  expect(verifier.checkpoint(checkpointOf(row(6)), 7)).toBe(false);
  expect(verdictOf(verifier.end())).toBe('seq 6 line 7: checkpoint');
});

it('the head of a verifier that has seen nothing is where a chain begins', () => {
  expect(new RecordVerifier().head).toEqual(EMPTY);
});
