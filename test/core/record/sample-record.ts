// Owns the record that the tests of this folder take apart: every kind of row, operators of both kinds, a signer known from RFC 8032.
import { createPrivateKey } from 'node:crypto';
import fc from 'fast-check';
import { fire } from '../../../src/core/operator/fire.js';
import type { Inputs } from '../../../src/core/operator/operator.js';
import { standardOperators } from '../../../src/core/operator/registry.js';
import { EMPTY, type Head, link } from '../../../src/core/record/chain.js';
import { type Closing, closingOf, exportLine } from '../../../src/core/record/export.js';
import type { AuditEntry, AuditRow, Succession } from '../../../src/core/record/row.js';
import { type Signer, signCheckpoint, signerFromPem } from '../../../src/core/record/signing.js';

/** The secret keys of tests 1, 2 and 3 of RFC 8032, 7.1. */
export const [first, second, third] = [
  '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
  '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
  'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
].map(signerFromSecret) as [Signer, Signer, Signer];

export function signerFromSecret(hex: string): Signer {
  const der = Buffer.from(`302e020100300506032b657004220420${hex}`, 'hex');
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return signerFromPem(key.export({ format: 'pem', type: 'pkcs8' }) as string);
}

export const START = 2_345_678_900;

type Draft = Omit<AuditEntry, 'machine' | 'at'>;

export const created: Draft = { cycle: START, kind: 'machine_created', cause: 'manual', emitted: [] };

export function contractCreated(id: string, to: string, cycle = START): Draft {
  const definition_digest = 'ab'.repeat(32);
  return { cycle, kind: 'contract_created', contract_id: id, to, definition_digest, cause: 'manual', emitted: [] };
}

export function deleted(id: string, cycle = START + 9): Draft {
  return { cycle, kind: 'contract_deleted', contract_id: id, cause: 'manual', emitted: [] };
}

/** A threshold that became larger, or what else is given. */
export function changedContract(id: string, given: Partial<Draft> = {}): Draft {
  const changes = [{ what: 'threshold', from: 100, to: 200 }] as const;
  const states = { from: 'allowing', to: 'allowing', states: ['allowing', 'limiting'] };
  const definition_digest = 'cd'.repeat(32);
  const draft = { cycle: START + 9, contract_id: id, definition_digest, changes, ...states, by: 'wk_1', ...given };
  return { kind: 'contract_changed', cause: 'manual', emitted: [], ...draft };
}

/** A transition that fires the substrate alone, or another operator above it. */
export function moved(
  id: string,
  from: string,
  to: string,
  cycle: number,
  { S = 1, operator, inputs = {} }: { S?: number; operator?: string; inputs?: Inputs } = {},
): Draft {
  const base = firingOf('KO42', { S }, cycle);
  const above = operator === undefined ? base : firingOf(operator, inputs, cycle);
  return {
    cycle,
    kind: 'transition',
    contract_id: id,
    from,
    to,
    operator: above.operator,
    operator_version: above.version,
    inputs: above.inputs,
    result: above.result,
    master_equation_block: above.equation,
    ...(above.proofDigest === undefined ? {} : { proof_digest: above.proofDigest }),
    ...(above === base ? {} : { substrate: { operator: base.operator, inputs: base.inputs, result: base.result } }),
    cause: operator === undefined ? 'trigger' : 'manual',
    emitted: to === 'limiting' ? ['rate_limited'] : [],
  };
}

export function refused(id: string, from: string, to: string, cycle: number): Draft {
  const failure = { code: 'compute_failed', detail: 'NEWTON2 needs the input m (kg): “Mass”.' };
  return {
    cycle,
    kind: 'transition_failed',
    contract_id: id,
    from,
    to,
    operator: 'NEWTON2',
    failure,
    cause: 'manual',
    emitted: [],
  };
}

/** Twelve rows: two contracts, the substrate alone and beside physics, a refusal, four rows in one cycle. */
export const drafts: readonly Draft[] = [
  created,
  contractCreated('c1', 'allowing'),
  contractCreated('c2', 'idle'),
  moved('c1', 'allowing', 'limiting', START + 9, { S: 101 }),
  moved('c2', 'idle', 'pushed', START + 9, { operator: 'NEWTON2', inputs: { m: 5.972e24, a: -0.30000000000000004 } }),
  refused('c2', 'pushed', 'idle', START + 9),
  moved('c1', 'limiting', 'allowing', START + 47, { S: 100 }),
  moved('c2', 'pushed', 'held', START + 48, {
    operator: 'GRAVITATION',
    inputs: { m1: 5.972e24, m2: 7.348e22, r: 3.844e8 },
  }),
  moved('c1', 'allowing', 'limiting', START + 90, { S: 1e9 + 1 }),
  moved('c2', 'held', 'idle', START + 90, { operator: 'IDEALGAS', inputs: { n: 1, T: 273.15, V: 0.022414 } }),
  moved('c1', 'limiting', 'allowing', START + 150, { S: 0 }),
  moved('c2', 'idle', 'idle', START + 151),
];

/** The drafts as the rows of a machine. */
export function recordOf(entries: readonly Draft[], machine = 'gateway'): AuditRow[] {
  let head: Head = EMPTY;
  return entries.map((draft) => {
    const row = link(head, { machine, at: '2026-11-20T23:24:00.000Z', ...draft });
    head = row;
    return row;
  });
}

/** Links the rows anew, as one does who has changed some of them and hides it: every hash is right again. */
export function relinked(rows: readonly AuditRow[]): AuditRow[] {
  let head: Head = EMPTY;
  return rows.map(({ seq: _, previous_hash: __, hash: ___, ...entry }) => {
    const row = link(head, entry);
    head = row;
    return row;
  });
}

export function closing(rows: readonly AuditRow[], signer = first, successions: readonly Succession[] = []): Closing {
  const { machine, seq, hash, cycle } = rows.at(-1)!;
  return closingOf(signCheckpoint(signer, { machine, seq, hash, cycle }), signer, successions);
}

/** Each line with its line feed; the last one closes the record. */
export function exported(rows: readonly AuditRow[], signer = first): string[] {
  return [...rows, closing(rows, signer)].map((value) => exportLine(value));
}

function firingOf(id: string, inputs: Inputs, cycle: number) {
  const operator = standardOperators().get(id);
  if (operator === undefined) throw new Error(`there is no operator ${id}`);
  const firing = fire(operator, inputs, cycle);
  if (!firing.ok) throw new Error(firing.why);
  return firing;
}

/** A list with up to three of its values taken out, cut off, exchanged, or joined and replaced by others. */
export function edited<T>(values: readonly T[], other: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> {
  const place = fc.nat(values.length - 1);
  type Edit = (values: readonly T[]) => readonly T[];
  const edit: fc.Arbitrary<Edit> = fc.oneof(
    place.map(
      (at): Edit =>
        (list) =>
          list.filter((_, index) => index !== at),
    ),
    place.map(
      (at): Edit =>
        (list) =>
          list.slice(0, at),
    ),
    fc.tuple(place, other).map(
      ([at, put]): Edit =>
        (list) =>
          list.toSpliced(at, 0, put),
    ),
    fc.tuple(place, other).map(
      ([at, put]): Edit =>
        (list) =>
          list.map((old, index) => (index === at ? put : old)),
    ),
    fc.tuple(place, place).map(
      ([a, b]): Edit =>
        (list) =>
          list.map((old, index) => (index === a ? (list[b] ?? old) : index === b ? (list[a] ?? old) : old)),
    ),
  );
  return fc.array(edit, { maxLength: 3 }).map((edits) => edits.reduce((sofar, next) => next(sofar), values));
}
