// Schemas that several endpoints share: names, bounded numbers, parts of answers.
import type { TSchema } from 'typebox';
import { exact, flag, shape, text, whole } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';

/** One page is built and written in one turn, in some milliseconds. */
const LONGEST_PAGE = 250;

export function limitOf(what: string, most = LONGEST_PAGE) {
  return Type.Optional(whole(1, most, `${what} a page; 100 when absent.`));
}

export function pageOf(what: string, after: string) {
  return { after: Type.Optional(Type.String({ maxLength: 64, description: after })), limit: limitOf(what) };
}

export const Nothing = exact({});

export const Ok = Type.Literal(true);

export function ok<Fields extends Readonly<Record<string, TSchema>>>(description: string, fields: Fields) {
  return { 200: { description, schema: shape({ ok: Ok, ...fields }) } } as const;
}

export function created<Fields extends Readonly<Record<string, TSchema>>>(description: string, fields: Fields) {
  return { 201: { description, schema: shape({ ok: Ok, ...fields }) } } as const;
}

export const Slug = Type.String({ pattern: '^[a-z0-9-]{1,64}$', description: 'Slug of the machine.' });

export const ContractId = text(1, 64, 'Id or name of the contract.');

/** Never the form of an id, 16 hexadecimal digits. */
export const ContractName = Type.String({
  pattern: '^(?![0-9a-f]{16}$)[A-Za-z][A-Za-z0-9_.-]{0,63}$',
  description:
    'Name of the contract, which no other contract of the machine has: it can be given wherever its id can. A letter, then up to 63 letters, digits and _ . -',
});

export const Search = Type.Optional(text(1, 256, 'Only those with this text in a name or id.'));

/** The most machines or contracts that `sort` puts in order. */
export const MOST_SORTED = 1_000;

export const Sort = Type.Literal('limiting', { description: 'Those that are limiting first, of the first 1,000.' });

export const Cycle = whole(0, Number.MAX_SAFE_INTEGER, 'Number of a cycle.');

export const Seq = whole(0, Number.MAX_SAFE_INTEGER, 'Number of a row in the record.');

export const EventType = text(1, 64, 'The kind of event, for example `request`.');

export const Count = whole(
  1,
  1_000_000_000,
  'Number of events of this kind; 1 when absent. The outcome is the same as for single events in a row.',
);

export function thresholdOf(absent = '') {
  const description = `Request events a window may hold${absent}.`;
  return Type.Optional(whole(1, 1_000_000_000, description));
}

export function withinOf(absent = '') {
  const description = `Length of the rolling window in cycles${absent}.`;
  return Type.Optional(whole(1, 100_000, description));
}

export const Key = text(
  1,
  256,
  'The key it is counted under, by a contract with keys: any text of up to 256 characters.',
);

/** Not part of the definition: contracts of one definition may keep keys differently. */
export const Keyed = exact('Counts each key separately.', {
  max_keys: whole(1, 10_000_000, 'The most keys at a time. Beyond, a key without counts is forgotten for a new one.'),
  'idle_cycles?': whole(
    0,
    10_000_000,
    'How long a key is remembered once its window is empty, in cycles; 60 when absent. Nothing is lost with it.',
  ),
  'overflow?': Type.Enum(['refuse', 'share'], {
    description:
      'What becomes of a further key while all others have counts: its events are refused (429 too_many_keys), or one gate counts all such keys. Default: refuse.',
  }),
  'store_keys?': Type.Enum(['plain', 'hashed'], {
    description:
      'Whether database and record have keys as they are, or HMACs of them by a secret of the contract. Default: hashed.',
  }),
  'show_keys?': flag(
    'Says a second time that a public machine shows its keys to all; without it plain is refused there.',
  ),
});

/** Fields of a contract that a request has beside those of its definition, which has its own name. */
export const contractFields = { keyed: Type.Optional(Keyed), contract_name: Type.Optional(ContractName) };

export const OfMachine = shape({ slug: Slug });

export const OfContract = shape({ slug: Slug, contract_id: ContractId });

export const Hash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256, hexadecimal.' });

export const freed = {
  contracts: Type.Integer(),
  window_cycles: Type.Integer(),
  key_cells: Type.Integer(),
  definition_bytes: Type.Integer(),
};
