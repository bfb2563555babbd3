// The result of verifying a record.
import type { Static } from 'typebox';
import { flag, shape, whole } from '../schema/fields.js';
import { type Frozen, Type } from '../schema/json-schema.js';

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256, hexadecimal.' });
const Cycle = whole(0, Number.MAX_SAFE_INTEGER, 'Number of a cycle.');
const orNull = <Schema extends Parameters<typeof Type.Optional>[0]>(schema: Schema) =>
  Type.Union([Type.Null(), schema]);

export const HeadShape = shape('The end of the record.', {
  seq: Type.Integer({ description: 'The last row.' }),
  hash: Hash,
});

const BrokenShape = shape({
  'seq?': Type.Integer({
    description: 'The first that does not hold; absent if the rows hold and a key or a signature does not.',
  }),
  line: Type.Integer({
    description: 'Line of an export, or position among the values passed, from 1; 0 for checkpoints known in advance.',
  }),
  // In the order of the checks of a row.
  check: Type.Enum(
    ['text', 'shape', 'machine', 'seq', 'link', 'hash', 'cycle', 'state', 'proof', 'checkpoint', 'tail', 'key'],
    { description: 'What was being checked.' },
  ),
  reason: Type.String(),
});

const SignedHeadShape = shape('The newest checkpoint that holds.', {
  seq: Type.Integer(),
  cycle: Cycle,
  signed_by: Type.String({ description: 'Fingerprint of the key.' }),
  pinned: flag('Whether trust in it starts from a key that the reader supplied.'),
});

const SignedCutShape = shape('Rows 1 to `to_seq` were removed, as the node signed; absent where all rows are there.', {
  to_seq: Type.Integer(),
  at: Type.String({ description: 'ISO 8601.' }),
  cycle: Cycle,
  signed_by: Type.String(),
});

export const VerificationShape = shape({
  valid: Type.Boolean(),
  machine: Type.Union([Type.String(), Type.Null()]),
  rows: Type.Integer({
    description: 'Rows that hold, from the first that is there; those after a broken one are not checked.',
  }),
  head: orNull(HeadShape),
  first_broken: orNull(BrokenShape),
  checkpoint: orNull(SignedHeadShape),
  proofs: Type.Integer({ description: 'Operator results that were computed again.' }),
  'removed?': SignedCutShape,
  'earlier?': Type.Integer({
    description:
      'Rows, from the first, that were verified earlier and not again, but for the last of them; absent where all were verified now.',
  }),
});

export type Broken = Frozen<Static<typeof BrokenShape>>;
export type Check = Broken['check'];
export type SignedHead = Frozen<Static<typeof SignedHeadShape>>;
export type SignedCut = Frozen<Static<typeof SignedCutShape>>;
export type Verification = Frozen<Static<typeof VerificationShape>>;

/** The same result, but invalid if no key of the node is pinned. */
export function pinnedOnly(found: Verification): Verification {
  if (!found.valid || found.checkpoint?.pinned === true) return found;
  const reason =
    'No key of the node is pinned or given: a forger could have signed the record with a key of their own.';
  return { ...found, valid: false, first_broken: { line: found.rows + (found.removed ? 2 : 1), check: 'key', reason } };
}
