// Schemas of a row (one for each kind), a checkpoint and a succession. They are closed: unknown fields are refused.
// verify-record.ts checks the content.
import type { Static, TSchema } from 'typebox';
import { compileSchema } from '../schema/compile-schema.js';
import { Type } from '../schema/json-schema.js';
import { faultsOf } from '../schema/schema-faults.js';
import type { AdminAction, AuditRow, ChangedField, Checkpoint, Cut, RowKind } from './row.js';
import type { Succession } from './signing.js';

const closed = { additionalProperties: false } as const;

const Name = (description: string) => Type.String({ minLength: 1, maxLength: 64, description });
const Hash = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description });
const Count = (minimum: 0 | 1, description: string) =>
  Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER, description });
const Amount = (description: string) =>
  Type.Number({ minimum: -Number.MAX_VALUE, maximum: Number.MAX_VALUE, description });
const Inputs = Type.Record(
  Type.String({ minLength: 1, maxLength: 64 }),
  Amount('In the unit that the operator gives.'),
  {
    maxProperties: 64,
    description: 'What the operator was given, by name.',
  },
);
const Machine = Type.String({ pattern: '^[a-z0-9-]{1,64}$', description: 'Slug of the machine.' });
const Instant = (description: string) =>
  Type.String({
    pattern: '^([0-9]{4}|[+-][0-9]{6})-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$',
    description,
  });
// 32 and 64 bytes in base64. signing.ts checks that the last character is the canonical one for these bytes.
const PublicKey = (description: string) => Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$', description });
const Signature = Type.String({ pattern: '^[A-Za-z0-9+/]{86}==$', description: 'Ed25519, base64.' });

const everyRow = {
  machine: Machine,
  seq: Count(1, 'Place in the record of the machine. Starts at 1 and has no holes.'),
  cycle: Count(0, 'The cycle in which it happened.'),
  at: Instant('ISO 8601 in UTC with milliseconds.'),
  cause: Type.Enum(['trigger', 'manual', 'system'], { description: 'Why the row was written.' }),
  previous_hash: Hash('Hash of the row before; zeros for the first.'),
  hash: Hash('SHA-256 over the canonical JSON (RFC 8785) of the row without this field and signature.'),
  signed_by: Type.Optional(PublicKey('Of a record of several nodes: the key of the one that linked the row.')),
  signature: Type.Optional(Signature),
};
const nothingEmitted = Type.Array(Type.String(), { maxItems: 0, description: 'Nothing was emitted.' });
const By = Type.Optional(Name('Id of the key that asked for it.'));
const actions = ['key_made', 'key_rotated', 'key_revoked'] as const satisfies readonly AdminAction[];
const ContractId = Type.String({ minLength: 1, maxLength: 200, description: 'The contract it happened to.' });
const Key = Type.Optional(
  Type.String({ minLength: 1, maxLength: 256, description: 'Of a contract with keys: the key, or its keyed hash.' }),
);
const Operator = Name('Id of the operator that was fired.');
const OperatorVersion = Type.String({ minLength: 1, maxLength: 32, description: 'Version of the operator.' });
const Equation = Type.String({ minLength: 1, maxLength: 4000, description: 'The equation of the operator, verbatim.' });

const KeyedShape = Type.Object(
  {
    max_keys: Count(1, 'The most keys with counts at a time.'),
    idle_cycles: Count(0, 'How long a key without counts is remembered, in cycles.'),
    overflow: Type.Enum(['refuse', 'share'], {
      description: 'What becomes of further keys: refused, or one gate for all.',
    }),
    store_keys: Type.Enum(['plain', 'hashed'], { description: 'Whether the record has keys, or their keyed hashes.' }),
  },
  { ...closed, description: 'Each key is a gate of its own.' },
);

const changedFields = [
  'name',
  'threshold',
  'within',
  'near_limit',
  'rule',
  'shadow',
  'definition',
  'candidate',
] as const satisfies readonly ChangedField[];
const Value = Type.Optional(
  Type.Union([Type.String({ maxLength: 4000 }), Amount('A number.'), Type.Boolean()], {
    description: 'Absent where there was or is none.',
  }),
);
const ChangeShape = Type.Object(
  { what: Type.Enum([...changedFields], { description: 'What changed.' }), from: Value, to: Value },
  { ...closed, description: 'A value before and after.' },
);
const OwnName = Type.Optional(Name('The name that its owner gave it.'));

const rowShapes = {
  machine_created: Type.Object(
    { ...everyRow, kind: Type.Literal('machine_created'), by: By, emitted: nothingEmitted },
    { ...closed, description: 'The machine was created. The first row of every record, and only the first.' },
  ),
  contract_created: Type.Object(
    {
      ...everyRow,
      kind: Type.Literal('contract_created'),
      by: By,
      contract_id: ContractId,
      to: Name('The state in which the contract began.'),
      definition_digest: Hash('SHA-256 over the canonical JSON of the definition.'),
      keyed: Type.Optional(KeyedShape),
      name: OwnName,
      emitted: nothingEmitted,
    },
    { ...closed, description: 'A contract was created.' },
  ),
  contract_changed: Type.Object(
    {
      ...everyRow,
      kind: Type.Literal('contract_changed'),
      by: By,
      contract_id: ContractId,
      from: Name('The state it was in.'),
      to: Name('The state it is in: the same, unless that is gone or all states are reset.'),
      definition_digest: Hash('SHA-256 over the canonical JSON of the definition from now on.'),
      changes: Type.Array(ChangeShape, { minItems: 1, maxItems: changedFields.length, description: 'What changed.' }),
      states: Type.Array(Name('Name of a state.'), {
        minItems: 1,
        maxItems: 64,
        description: 'The states from now on, the initial one first. A key in any other state is in the initial one.',
      }),
      resets: Type.Optional(
        Type.Literal(true, { description: 'It and all its keys are in the initial state from here on.' }),
      ),
      forgotten: Type.Optional(
        Type.String({ minLength: 1, maxLength: 1000, description: 'The counts that could not be kept.' }),
      ),
      emitted: nothingEmitted,
    },
    { ...closed, description: 'A contract was changed, and keeps its id.' },
  ),
  contract_deleted: Type.Object(
    {
      ...everyRow,
      kind: Type.Literal('contract_deleted'),
      by: By,
      contract_id: ContractId,
      emitted: nothingEmitted,
    },
    { ...closed, description: 'A contract was deleted: no later row is about it.' },
  ),
  machine_deleted: Type.Object(
    { ...everyRow, kind: Type.Literal('machine_deleted'), by: By, emitted: nothingEmitted },
    { ...closed, description: 'The machine was deleted, with all its contracts. The last row of its record.' },
  ),
  transition: Type.Object(
    {
      ...everyRow,
      kind: Type.Literal('transition'),
      by: By,
      contract_id: ContractId,
      key: Key,
      from: Name('The state it left.'),
      to: Name('The state it entered.'),
      operator: Operator,
      operator_version: OperatorVersion,
      inputs: Inputs,
      result: Amount('What the operator computed.'),
      master_equation_block: Equation,
      proof_digest: Type.Optional(Hash('Digest of the proof; there for every operator that requires one.')),
      substrate: Type.Optional(
        Type.Object(
          { operator: Operator, inputs: Inputs, result: Amount('What the substrate operator computed.') },
          { ...closed, description: 'The always-on operator, where another one stands above it.' },
        ),
      ),
      emitted: Type.Array(Name('Name of an event.'), { maxItems: 16, description: 'What was emitted, in order.' }),
    },
    { ...closed, description: 'A contract moved from one state to another.' },
  ),
  transition_failed: Type.Object(
    {
      ...everyRow,
      kind: Type.Literal('transition_failed'),
      by: By,
      contract_id: ContractId,
      key: Key,
      from: Name('The state it was in, and still is.'),
      to: Type.Optional(Name('The state it did not enter.')),
      operator: Type.Optional(Operator),
      operator_version: Type.Optional(OperatorVersion),
      inputs: Type.Optional(Inputs),
      master_equation_block: Type.Optional(Equation),
      failure: Type.Object(
        {
          code: Type.String({ pattern: '^[a-z0-9_]{1,64}$', description: 'Code of the failure.' }),
          detail: Type.String({ maxLength: 10_000, description: 'What happened, why, and what to do.' }),
        },
        { ...closed, description: 'Why it did not move.' },
      ),
      emitted: nothingEmitted,
    },
    { ...closed, description: 'A transition was tried and refused; the state is unchanged.' },
  ),
  admin_action: Type.Object(
    {
      ...everyRow,
      kind: Type.Literal('admin_action'),
      by: Name('Id of the key that asked for it.'),
      action: Type.Enum([...actions], { description: 'What was done.' }),
      key_id: Name('The key that was made, rotated or revoked.'),
      next_key_id: Type.Optional(Name('Of a rotation: the new key.')),
      scopes: Type.Optional(
        Type.Array(Type.Enum(['read', 'event', 'gate', 'admin']), {
          maxItems: 4,
          description: 'What the new key may do.',
        }),
      ),
      only_machine: Type.Optional(Machine),
      expires_at: Type.Optional(Instant('When the new key expires; of a revocation, absent.')),
      emitted: nothingEmitted,
    },
    { ...closed, description: 'A key of the owner was made, rotated or revoked.' },
  ),
  rows_lost: Type.Object(
    {
      ...everyRow,
      kind: Type.Literal('rows_lost'),
      lost_to_seq: Count(1, 'The last of the rows that are missing; the first had the seq of this row.'),
      emitted: nothingEmitted,
    },
    { ...closed, description: 'The disk lost rows that were acknowledged, and the operator went on without them.' },
  ),
} as const satisfies Record<RowKind, TSchema>;

export const CheckpointShape = Type.Object(
  {
    machine: Machine,
    seq: Count(1, 'The row up to which the record is signed.'),
    hash: Hash('Hash of that row.'),
    cycle: Count(0, 'The cycle in which it was signed.'),
    signature: Signature,
  },
  { ...closed, description: 'The word of the node for how far a record had come.' },
);

export const CutShape = Type.Object(
  {
    machine: Machine,
    removed_to_seq: Count(1, 'Rows 1 to this one were removed.'),
    removed_hash: Hash('Hash of that row.'),
    at: Instant('When they were removed.'),
    cycle: Count(0, 'The cycle in which it was signed.'),
    signature: Signature,
  },
  { ...closed, description: 'The word of the node that it removed the first rows of a record.' },
);

export const SuccessionShape = Type.Object(
  {
    previous: PublicKey('The key that signs this.'),
    next: PublicKey('The key that signs from `cycle` on.'),
    cycle: Count(0, 'The cycle of the change.'),
    signature: Signature,
  },
  { ...closed, description: 'A key names the one that follows it.' },
);

type Read<T> = { readonly value: T } | { readonly fault: string };

export function reader<S extends TSchema>(schema: S): (value: unknown) => Read<Static<S>> {
  const compiled = compileSchema(schema);
  return (value) => {
    if (compiled.fits(value)) return { value: value as Static<S> };
    const [first] = faultsOf(schema, compiled.errors(value));
    return { fault: first === undefined ? 'it does not fit its schema' : `${first.path} ${first.message}` };
  };
}

const rowReaders: Record<RowKind, (value: unknown) => Read<AuditRow>> = {
  machine_created: reader(rowShapes.machine_created),
  contract_created: reader(rowShapes.contract_created),
  contract_changed: reader(rowShapes.contract_changed),
  contract_deleted: reader(rowShapes.contract_deleted),
  machine_deleted: reader(rowShapes.machine_deleted),
  transition: reader(rowShapes.transition),
  transition_failed: reader(rowShapes.transition_failed),
  admin_action: reader(rowShapes.admin_action),
  rows_lost: reader(rowShapes.rows_lost),
};

/** A row of any kind, or the first place at which the value does not have the shape of a row. */
export function readRow(value: unknown): Read<AuditRow> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { fault: 'it is not an object' };
  const kind = 'kind' in value ? value.kind : undefined;
  if (typeof kind === 'string' && Object.hasOwn(rowReaders, kind)) return rowReaders[kind as RowKind](value);
  return { fault: `/kind must be one of ${Object.keys(rowReaders).join(', ')}` };
}

export const readCheckpoint: (value: unknown) => Read<Checkpoint> = reader(CheckpointShape);
export const readCut: (value: unknown) => Read<Cut> = reader(CutShape);
export const readSuccession: (value: unknown) => Read<Succession> = reader(SuccessionShape);
