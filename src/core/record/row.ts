// The parts of a record: rows, the checkpoints and cuts that a node signs, and the successions of its keys. Each field is declared once, with
// its bounds: types, the check of a record (shape.ts) and the answers of the API (api/shapes.ts) follow from it.
//
// Field names are those of the API and of exports: rows are hashed, stored, served and exported like this. Fields that do not apply are absent.
import type { Static, TSchema } from 'typebox';
import { exact, real, text, whole } from '../schema/fields.js';
import { type Frozen, Type } from '../schema/json-schema.js';

const Name = (description: string) => text(1, 64, description);
const Hash = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description });
const Count = (minimum: 0 | 1, description: string) => whole(minimum, Number.MAX_SAFE_INTEGER, description);
const Amount = (description: string) => real(-Number.MAX_VALUE, Number.MAX_VALUE, description);
const Machine = (description: string) => Type.String({ pattern: '^[a-z0-9-]{1,64}$', description });
const Instant = (description: string) =>
  Type.String({
    pattern: '^([0-9]{4}|[+-][0-9]{6})-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$',
    description,
  });
// 32 and 64 bytes in base64. signing.ts checks that the last character is the canonical one for these bytes.
const PublicKey = (description: string) => Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$', description });
const Signature = (description: string) => Type.String({ pattern: '^[A-Za-z0-9+/]{86}==$', description });
const Emitted = (maxItems: number) =>
  Type.Array(Name('Name of an event.'), { maxItems, description: 'What a transition emitted, in order.' });

const Operator = Name('Id of the operator that was fired.');
const Inputs = Type.Record(
  Type.String({ minLength: 1, maxLength: 64 }),
  Amount('In the unit that the operator gives.'),
  { maxProperties: 64, description: 'What the operator was given, by name.' },
);
const Value = Type.Optional(
  Type.Union([Type.String({ maxLength: 4000 }), Amount('A number.'), Type.Boolean()], {
    description: 'Absent where there was or is none.',
  }),
);

/** What can change in a contract. `rule`, `definition`, `candidate`: canonical JSON, or its digest if that is long. */
const CHANGED = ['name', 'threshold', 'within', 'near_limit', 'rule', 'shadow', 'definition', 'candidate'] as const;

const everyRow = {
  machine: Machine('Slug of the machine.'),
  seq: Count(1, 'Place in the record of the machine. Starts at 1 and has no holes.'),
  cycle: Count(0, 'The cycle in which it happened.'),
  at: Instant('ISO 8601 in UTC with milliseconds.'),
  cause: Type.Enum(['trigger', 'manual', 'system'], {
    description: 'Why it was written: a trigger of the contract, a person or program over the API, or the node itself.',
  }),
  previous_hash: Hash('Hash of the row before; zeros for the first.'),
  hash: Hash('SHA-256 over the canonical JSON (RFC 8785) of the row without this field and `signature`.'),
  signed_by: Type.Optional(PublicKey('Of a record of several nodes: the key of the one that linked the row.')),
  signature: Type.Optional(Signature('Where `signed_by` is: Ed25519 by that key over the hash, base64.')),
};

const ownFields = {
  by: Name('Id of the key that asked for it; absent for what the node or a trigger did.'),
  contract_id: text(1, 200, 'The contract it happened to.'),
  key: text(1, 256, 'Of a contract with keys: the key, or its keyed hash.'),
  from: Name('The state it was in.'),
  to: Name('The state it is in; of transition_failed, the one that it did not enter.'),
  operator: Operator,
  operator_version: text(1, 32, 'Version of the operator.'),
  inputs: Inputs,
  result: Amount('What the operator computed.'),
  master_equation_block: text(1, 4000, 'The equation of the operator, verbatim.'),
  proof_digest: Hash('Digest of the proof; there for every operator that requires one.'),
  substrate: exact('The always-on operator, where another one stands above it.', {
    operator: Operator,
    inputs: Inputs,
    result: Amount('What the substrate operator computed.'),
  }),
  failure: exact('Why it did not move.', {
    code: Type.String({ pattern: '^[a-z0-9_]{1,64}$', description: 'Code of the failure.' }),
    detail: Type.String({ maxLength: 10_000, description: 'What happened, why, and what to do.' }),
  }),
  definition_digest: Hash('SHA-256 over the canonical JSON of the definition from this row on.'),
  name: Name('The name that its owner gave it.'),
  keyed: exact('Each key is a gate of its own.', {
    max_keys: Count(1, 'The most keys with counts at a time.'),
    idle_cycles: Count(0, 'How long a key without counts is remembered, in cycles.'),
    overflow: Type.Enum(['refuse', 'share'], {
      description: 'What becomes of further keys: refused, or one gate for all.',
    }),
    store_keys: Type.Enum(['plain', 'hashed'], {
      description: 'Whether the record has keys, or their keyed hashes.',
    }),
  }),
  changes: Type.Array(
    exact('A value before and after.', {
      what: Type.Enum([...CHANGED], { description: 'What changed.' }),
      from: Value,
      to: Value,
    }),
    { minItems: 1, maxItems: CHANGED.length, description: 'Of contract_changed: each value before and after.' },
  ),
  states: Type.Array(Name('Name of a state.'), {
    minItems: 1,
    maxItems: 64,
    description:
      'Of contract_changed: the states from now on, the initial one first. A key in any other state is in the initial one.',
  }),
  resets: Type.Literal(true, {
    description: 'Of contract_changed: it and its keys are in the initial state from here on.',
  }),
  forgotten: text(1, 1000, 'Of contract_changed: the counts that could not be kept, in a sentence.'),
  action: Type.Enum(['key_made', 'key_rotated', 'key_revoked'], {
    description: 'What was done with a key of the owner.',
  }),
  key_id: Name('The key that was made, rotated or revoked. Never a secret.'),
  next_key_id: Name('Of a rotation: the new key.'),
  scopes: Type.Array(Type.Enum(['read', 'event', 'gate', 'admin']), {
    maxItems: 4,
    description: 'What the new key may do.',
  }),
  only_machine: Machine('The only machine that the new key opens.'),
  expires_at: Instant('When the new key expires; of a revocation, absent.'),
  lost_to_seq: Count(
    1,
    'Of rows_lost: the last of the rows that were acknowledged and are missing; the first had the seq of this row.',
  ),
};
type OwnField = keyof typeof ownFields;

/** Required and optional fields by kind. */
const kinds = {
  machine_created: [[], ['by']],
  contract_created: [
    ['contract_id', 'to', 'definition_digest'],
    ['by', 'keyed', 'name'],
  ],
  contract_changed: [
    ['contract_id', 'from', 'to', 'definition_digest', 'changes', 'states'],
    ['by', 'resets', 'forgotten'],
  ],
  contract_deleted: [['contract_id'], ['by']],
  machine_deleted: [[], ['by']],
  transition: [
    ['contract_id', 'from', 'to', 'operator', 'operator_version', 'inputs', 'result', 'master_equation_block'],
    ['by', 'key', 'proof_digest', 'substrate'],
  ],
  transition_failed: [
    ['contract_id', 'from', 'failure'],
    ['by', 'key', 'to', 'operator', 'operator_version', 'inputs', 'master_equation_block'],
  ],
  admin_action: [
    ['by', 'action', 'key_id'],
    ['next_key_id', 'scopes', 'only_machine', 'expires_at'],
  ],
  rows_lost: [['lost_to_seq'], []],
} as const satisfies Record<string, readonly [must: readonly OwnField[], may: readonly OwnField[]]>;

export type RowKind = keyof typeof kinds;
export const ROW_KINDS = Object.keys(kinds) as RowKind[];

const MOST_EMITTED = 16;

const optional = <Fields extends Readonly<Record<string, TSchema>>>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [Field in keyof Fields]: ReturnType<typeof Type.Optional<Fields[Field]>>;
  };

export const RowShape = exact('A row of the record.', {
  ...everyRow,
  kind: Type.Enum(ROW_KINDS),
  emitted: Emitted(MOST_EMITTED),
  ...optional(ownFields),
});

/** Refuses unknown fields, and fields of other kinds. */
export function rowShapeOf(kind: RowKind): TSchema {
  const [must, may]: readonly [readonly OwnField[], readonly OwnField[]] = kinds[kind];
  return exact({
    ...everyRow,
    kind: Type.Literal(kind),
    emitted: Emitted(kind === 'transition' ? MOST_EMITTED : 0),
    ...Object.fromEntries(must.map((field) => [field, ownFields[field]])),
    ...Object.fromEntries(may.map((field) => [field, Type.Optional<TSchema>(ownFields[field])])),
  });
}

/** Signed by the node: its chain reached this row, so an export that ends earlier is incomplete. */
export const CheckpointShape = exact('The word of the node for how far a record had come.', {
  machine: Machine('Slug of the machine.'),
  seq: Count(1, 'The row up to which the record is signed.'),
  hash: Hash('Hash of that row.'),
  cycle: Count(0, 'The cycle in which it was signed.'),
  signature: Signature('Ed25519 by the key of the node over the canonical JSON of the other fields, base64.'),
});

export const CutShape = exact('Replaces the first rows, where the node removed some.', {
  machine: Machine('Slug of the machine.'),
  removed_to_seq: Count(1, 'Rows 1 to this one were removed: the first that is left is behind it.'),
  removed_hash: Hash('Hash of that row: the first that is left names it as its previous one.'),
  at: Instant('When they were removed.'),
  cycle: Count(0, 'The cycle in which it was signed.'),
  signature: Signature('Ed25519 by the key of the node over the canonical JSON of the other fields, base64.'),
});

export const SuccessionShape = exact('A key names the one that follows it.', {
  previous: PublicKey('The key that signs this.'),
  next: PublicKey('The key that signs from `cycle` on.'),
  cycle: Count(0, 'The cycle of the change.'),
  signature: Signature('Ed25519 by `previous` over the canonical JSON of the other three fields, base64.'),
});

export type AuditRow = Frozen<Static<typeof RowShape>>;
export type AuditEntry = Omit<AuditRow, 'seq' | 'previous_hash' | 'hash' | 'signature'>;
export type ValueChange = NonNullable<AuditRow['changes']>[number];
export type ChangedField = ValueChange['what'];
export type Checkpoint = Frozen<Static<typeof CheckpointShape>>;
export type Cut = Frozen<Static<typeof CutShape>>;
/** A reader who trusts `previous` may trust `next` from `cycle` on. */
export type Succession = Frozen<Static<typeof SuccessionShape>>;

export const GENESIS = '0'.repeat(64);

/** As JSON; slightly too few if its texts are not ASCII. */
export function bytesOfRow(row: AuditRow): number {
  return JSON.stringify(row).length;
}
