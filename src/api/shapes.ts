// Schemas that several endpoints share: names, bounded numbers, parts of answers.
import type { TSchema } from 'typebox';
import { Type } from '../schema/json-schema.js';

export const closed = { additionalProperties: false } as const;

/** Items of a page at most: one is made and written in one go, in some milliseconds. */
export const LONGEST_PAGE = 250;

export function limitOf(what: string, most = LONGEST_PAGE) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum: most, description: `${what} a page; 100 when absent.` }));
}

export function pageOf(what: string, after: string) {
  return { after: Type.Optional(Type.String({ maxLength: 64, description: after })), limit: limitOf(what) };
}

/** An object with these fields and no other. */
export function exact<Fields extends Readonly<Record<string, TSchema>>>(fields: Fields) {
  return Type.Object(fields, closed);
}

export const Nothing = exact({});

export const Ok = Type.Literal(true);

/** The one answer of an endpoint: status 200, `ok` and these fields. */
export function ok<Fields extends Readonly<Record<string, TSchema>>>(description: string, fields: Fields) {
  return { 200: { description, schema: Type.Object({ ok: Ok, ...fields }) } } as const;
}

/** As `ok`, with status 201. */
export function created<Fields extends Readonly<Record<string, TSchema>>>(description: string, fields: Fields) {
  return { 201: { description, schema: Type.Object({ ok: Ok, ...fields }) } } as const;
}

export const Slug = Type.String({ pattern: '^[a-z0-9-]{1,64}$', description: 'Slug of the machine.' });

export const ContractId = Type.String({ minLength: 1, maxLength: 64, description: 'Id or name of the contract.' });

/** Never that of an id: 16 hexadecimal digits. */
export const ContractName = Type.String({
  pattern: '^(?![0-9a-f]{16}$)[A-Za-z][A-Za-z0-9_.-]{0,63}$',
  description:
    'Name of the contract, which no other contract of the machine has: it can be given wherever its id can. A letter, then up to 63 letters, digits and _ . -',
});

export const Search = Type.Optional(
  Type.String({ minLength: 1, maxLength: 256, description: 'Only those with this text in a name or id.' }),
);

export const Sort = Type.Optional(
  Type.Literal('limiting', { description: 'Those that are limiting first, of the first 1,000.' }),
);

export const Cycle = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Number of a cycle.' });

export const Seq = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Number of a row in the record.',
});

export const EventType = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'The kind of event, for example `request`.',
});

export const Count = Type.Integer({
  minimum: 1,
  maximum: 1_000_000_000,
  description: 'Number of events of this kind; 1 when absent. The outcome is the same as for single events in a row.',
});

export const Key = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'The key it is counted under, by a contract with keys: any text of up to 256 characters.',
});

/** Beside a definition, and no part of it: contracts of one definition may keep their keys in different ways. */
export const Keyed = Type.Object(
  {
    max_keys: Type.Integer({
      minimum: 1,
      maximum: 10_000_000,
      description: 'The most keys at a time. Beyond, a key without counts is forgotten for a new one.',
    }),
    idle_cycles: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10_000_000,
        description:
          'How long a key is remembered once its window is empty, in cycles; 60 when absent. Nothing is lost with it.',
      }),
    ),
    overflow: Type.Optional(
      Type.Enum(['refuse', 'share'], {
        description:
          'What becomes of a further key while all others have counts: its events are refused (429 too_many_keys), or one gate counts all such keys. Default: refuse.',
      }),
    ),
    store_keys: Type.Optional(
      Type.Enum(['plain', 'hashed'], {
        description:
          'Whether database and record have keys as they are, or HMACs of them by a secret of the contract. Default: plain.',
      }),
    ),
  },
  { ...closed, description: 'Counts each key separately.' },
);

export const OfMachine = Type.Object({ slug: Slug });

export const OfContract = Type.Object({ slug: Slug, contract_id: ContractId });

export const Hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256, hexadecimal.' });

export const Head = Type.Object(
  { seq: Type.Integer({ description: 'The last row.' }), hash: Hash },
  { description: 'The end of the record.' },
);

export const Cut = Type.Object(
  {
    machine: Type.String(),
    removed_to_seq: Type.Integer({ description: 'Rows 1 to this one were removed: `rows` begins behind it.' }),
    removed_hash: Hash,
    at: Type.String({ description: 'When, ISO 8601.' }),
    cycle: Cycle,
    signature: Type.String({
      description: 'Ed25519 by the key of the node over the canonical JSON of the other fields.',
    }),
  },
  { description: 'Replaces the first rows, where the node removed some.' },
);

export const RowKind = Type.Enum([
  'machine_created',
  'contract_created',
  'contract_changed',
  'contract_deleted',
  'machine_deleted',
  'transition',
  'transition_failed',
  'admin_action',
  'rows_lost',
]);

export const Row = Type.Object(
  {
    machine: Type.String(),
    seq: Type.Integer(),
    cycle: Type.Integer(),
    at: Type.String({ description: 'ISO 8601.' }),
    kind: RowKind,
    contract_id: Type.Optional(Type.String()),
    key: Type.Optional(Type.String({ description: 'Of a contract with keys: the key, or its keyed hash.' })),
    from: Type.Optional(Type.String()),
    to: Type.Optional(Type.String()),
    operator: Type.Optional(Type.String()),
    operator_version: Type.Optional(Type.String()),
    inputs: Type.Optional(Type.Record(Type.String(), Type.Number())),
    result: Type.Optional(Type.Number()),
    master_equation_block: Type.Optional(Type.String({ description: 'The equation of the operator, verbatim.' })),
    proof_digest: Type.Optional(Type.String()),
    substrate: Type.Optional(Type.Object({}, { additionalProperties: true })),
    failure: Type.Optional(Type.Object({ code: Type.String(), detail: Type.String() })),
    cause: Type.Enum(['trigger', 'manual', 'system']),
    by: Type.Optional(Type.String({ description: 'Id of the key that asked for it.' })),
    emitted: Type.Array(Type.String()),
    definition_digest: Type.Optional(Type.String()),
    keyed: Type.Optional(Type.Object({}, { additionalProperties: true })),
    name: Type.Optional(Type.String({ description: 'The name of a new contract.' })),
    changes: Type.Optional(
      Type.Array(
        Type.Object({
          what: Type.String(),
          from: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
          to: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
        }),
        { description: 'Of contract_changed: each value before and after.' },
      ),
    ),
    states: Type.Optional(Type.Array(Type.String(), { description: 'Of contract_changed: the states from now on.' })),
    resets: Type.Optional(
      Type.Boolean({ description: 'Of contract_changed: it and its keys are in the initial state from here on.' }),
    ),
    forgotten: Type.Optional(Type.String({ description: 'Of contract_changed: the counts that could not be kept.' })),
    action: Type.Optional(Type.Enum(['key_made', 'key_rotated', 'key_revoked'])),
    key_id: Type.Optional(Type.String({ description: 'The key that was made, rotated or revoked.' })),
    next_key_id: Type.Optional(Type.String({ description: 'The new key, of a rotated one.' })),
    scopes: Type.Optional(Type.Array(Type.String(), { description: 'What the new key may do.' })),
    only_machine: Type.Optional(Type.String({ description: 'The only machine that the new key opens.' })),
    expires_at: Type.Optional(Type.String({ description: 'When the new key expires; ISO 8601.' })),
    lost_to_seq: Type.Optional(
      Type.Integer({ description: 'Of rows_lost: the last of the rows that were acknowledged and are missing.' }),
    ),
    previous_hash: Hash,
    hash: Hash,
  },
  { additionalProperties: false, description: 'A row of the record.' },
);

export const freed = {
  contracts: Type.Integer(),
  window_cycles: Type.Integer(),
  key_cells: Type.Integer(),
  definition_bytes: Type.Integer(),
};
