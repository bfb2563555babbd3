// A record whose first rows were removed: it holds behind a cut that the node signed, and behind nothing else.
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { exportLine } from '../../../src/core/record/export.js';
import { KeyRing } from '../../../src/core/record/key-ring.js';
import type { AuditRow, Cut } from '../../../src/core/record/row.js';
import {
  publicKeyFrom,
  type Signer,
  signCheckpoint,
  signCut,
  signSuccession,
} from '../../../src/core/record/signing.js';
import { ExportVerifier } from '../../../src/core/record/verify-export.js';
import { RecordVerifier } from '../../../src/core/record/verify-record.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import { Host } from '../../../src/node/host/host.js';
import { MemoryStore } from '../../../src/node/store/memory.js';
import { closing, contractCreated, drafts, exported, first, moved, recordOf, START, second } from './sample-record.js';
import { verdictOf, verifyExport } from './verifying.js';

const rows = recordOf(drafts);
const pinned = publicKeyFrom(first.publicKey);
const AT = '2026-11-21T00:00:00.000Z';

function bodyAt(seq: number, of: readonly AuditRow[] = rows): Omit<Cut, 'signature'> {
  const { machine, hash } = of[seq - 1]!;
  return { machine, removed_to_seq: seq, removed_hash: hash, at: AT, cycle: START + 160 };
}

const cutAt = (seq: number, signer = first, of: readonly AuditRow[] = rows) => signCut(signer, bodyAt(seq, of));

const linesOf = (cut: Cut | undefined, left: readonly AuditRow[], end = closing(left)) => {
  const opening = cut === undefined ? [] : [{ format: 'weir-record/1', cut } as const];
  return [...opening, ...left, end].map(exportLine);
};

const withCut = (seq: number, signer?: Signer) => linesOf(cutAt(seq, signer), rows.slice(seq));

function verdict(text: string, saved?: string, goesOn = false): string {
  const verifier = new ExportVerifier({ pinned });
  if (saved !== undefined) verifier.expect(saved, goesOn);
  verifier.bytes(Buffer.from(text));
  return verdictOf(verifier.end()).replace(/^seq \d+ /, '');
}

it.each(rows.slice(0, -1).map(({ seq }) => seq))('a record behind a cut holds from any row on: %i', (seq) => {
  expect(verifyExport(withCut(seq).join(''), { pinned })).toMatchObject({
    valid: true,
    rows: rows.length - seq,
    head: { seq: rows.length, hash: rows.at(-1)!.hash },
    removed: { to_seq: seq, at: AT, cycle: START + 160, signed_by: first.fingerprint },
  });
});

it('only the rows that are there are counted behind a cut, and what was computed in them', () => {
  expect(verifyExport(withCut(8).join(''), { pinned })).toMatchObject({ rows: 4, proofs: 5 });
});

it('a record behind a cut rests on what it names itself where nothing is pinned', () => {
  expect(verifyExport(withCut(8).join(''))).toMatchObject({ valid: true, checkpoint: { pinned: false } });
});

it('a record may be cut by a key that the pinned one has named', () => {
  const next = signSuccession(first, second.publicKey, START + 155);
  const left = rows.slice(8);
  const { machine, seq, hash } = rows.at(-1)!;
  const head = signCheckpoint(second, { machine, seq, hash, cycle: START + 170 });
  const end = { ...closing(left, second, [next]), checkpoint: head };
  expect(verdict(linesOf(cutAt(8, second), left, end).join(''))).toBe('holds');
  expect(verdict(linesOf(signCut(second, { ...bodyAt(8), cycle: START + 100 }), left, end).join(''))).toBe(
    'line 1: key',
  );
});

it('a record behind a cut goes on from a head that was saved behind it, and from that of the removed row', () => {
  const saved = (upTo: number) => exported(rows.slice(0, upTo)).at(-1)!;
  for (const upTo of [5, 7, rows.length])
    for (const goesOn of [true, false]) expect(verdict(withCut(5).join(''), saved(upTo), goesOn)).toBe('holds');
});

it('a record of keys that open and close holds behind a cut at any row, the gate that others share included', () => {
  const clock = new VirtualClock(START * 777, 777);
  const store = new MemoryStore();
  const host = new Host({ clock, store });
  host.createMachine({ slug: 'gateway' });
  const keyed = { maxKeys: 2, idleCycles: 0, overflow: 'share' } as const;
  const limiter = rateLimiter({ threshold: 2, within: 3 });
  const contract = host.createContract('gateway', limiter, undefined, keyed);
  for (let cycle = START + 1; cycle < START + 60; cycle += 1) {
    clock.run({ untilMs: cycle * 777 + 1 });
    for (const [index, key] of ['a', 'b', 'c', 'd'].entries())
      if ((cycle * 7 + index * 5) % 11 < 4) contract.decide(1 + ((cycle + index) % 3), cycle, 0, key);
  }
  const made = store.rows('gateway', { limit: 1_000 });
  expect(new Set(made.map(({ key }) => key)).size).toBeGreaterThan(2);
  for (const { seq } of made.slice(0, -1)) {
    const left = made.slice(seq);
    expect(verdict(linesOf(cutAt(seq, first, made), left).join(''))).toBe('holds');
  }
});

const forgedBody = (change: Partial<Cut>) => linesOf({ ...cutAt(5), ...change }, rows.slice(5)).join('');
const others = recordOf([...drafts.slice(0, 3), moved('c1', 'allowing', 'limiting', START + 9, { S: 102 })]);
const head = signCheckpoint(first, { machine: 'gateway', seq: 5, hash: rows[4]!.hash, cycle: START + 160 });
// biome-ignore format: one case a line
it.each<[what: string, text: string, broken: string]>([
    ['rows removed, and nothing in their place', linesOf(undefined, rows.slice(5)).join(''), 'line 1: seq'],
    ['a cut by another key', withCut(5, second).join(''), 'line 1: key'],
    ['a cut with the signature of a checkpoint', forgedBody({ signature: head.signature }), 'line 1: key'],
    ['a cut for another instant', forgedBody({ at: '2026-11-21T00:00:00.001Z' }), 'line 1: key'],
    ['a cut in another cycle', forgedBody({ cycle: START + 161 }), 'line 1: key'],
    ['a cut that says it removed fewer rows', forgedBody({ removed_to_seq: 4 }), 'line 2: seq'],
    ['a cut that says it removed more rows', linesOf(cutAt(5), rows.slice(6)).join(''), 'line 2: seq'],
    ['a cut of another row', forgedBody({ removed_hash: rows[3]!.hash }), 'line 2: link'],
    ['a cut of another record', linesOf(cutAt(4, first, others), rows.slice(4)).join(''), 'line 2: link'],
    ['a cut of another machine', forgedBody({ machine: 'other' }), 'line 2: machine'],
    ['a cut behind rows', [exported(rows)[0]!, ...withCut(5)].join(''), 'line 2: seq'],
    ['two cuts', [withCut(3)[0]!, ...withCut(5)].join(''), 'line 2: seq'],
    ['a cut without a field', withCut(5).join('').replace(`"at":"${AT}",`, ''), 'line 1: text'],
    ['a cut that is spelt otherwise', withCut(5).join('').replace('"removed_to_seq":5', '"removed_to_seq":5.0'), 'line 1: text'],
    ['rows missing at the end', [...withCut(5).slice(0, -2), withCut(5).at(-1)!].join(''), 'line 8: tail'],
    ['no closing line', withCut(5).slice(0, -1).join(''), 'line 9: tail'],
    ['a row that begins where its contract was not', linesOf(...misplaced()).join(''), 'line 4: state'],
  ])('a record does not hold with %s', (_, text, broken) => {
    expect(verdict(text)).toBe(broken);
  });

/** The first row of a contract behind the cut says in which state it is; the second one has to fit. */
function misplaced(): [Cut, AuditRow[]] {
  const all = recordOf([
    ...drafts.slice(0, 4),
    moved('c1', 'limiting', 'allowing', START + 20),
    contractCreated('c3', 'allowing', START + 20),
    moved('c1', 'limiting', 'allowing', START + 21),
  ]);
  return [cutAt(4, first, all), all.slice(4)];
}

it('a record does not hold by a head saved before the cut, or by one of another row in its place', () => {
  const saved = (of: readonly AuditRow[]) => exported(of).at(-1)!;
  for (const goesOn of [true, false]) {
    expect(verdict(withCut(5).join(''), saved(rows.slice(0, 4)), goesOn)).toBe('line 1: checkpoint');
    expect(verdict(withCut(4).join(''), saved(others), goesOn)).toBe('line 1: checkpoint');
  }
});

it('a cut does not hold without a key to check it by', () => {
  const verifier = new RecordVerifier();
  verifier.cut(cutAt(5), 0);
  expect(rows.slice(5).every((row) => verifier.row(row, row.seq))).toBe(true);
  expect(verifier.end()).toMatchObject({ valid: false, first_broken: { check: 'key' } });
  const known = new RecordVerifier({ keys: KeyRing.ofNodes([pinned], true) });
  known.cut(cutAt(5), 0);
  expect(known.end()).toMatchObject({ valid: true, rows: 0, removed: { to_seq: 5 } });
});
