// The keys of a contract: how it keeps them, and whether an event may have one.
import { randomBytes } from 'node:crypto';
import type { Static } from 'typebox';
import { contractFields, type Keyed } from '../api/shapes.js';
import { LONGEST_KEY } from '../core/limiter/gateway-definition.js';
import type { Plan } from '../core/limiter/plan.js';
import { compileSchema } from '../core/schema/compile-schema.js';
import { Failure } from '../core/schema/failure.js';
import { Type } from '../core/schema/json-schema.js';
import { valueFaults } from '../core/schema/value-faults.js';
import type { Contract } from './host/contract.js';
import { refusal } from './problem.js';
import type { KeyedImage } from './store/store.js';

export type KeyedFields = Static<typeof Keyed>;

const ContractFields = Type.Object(contractFields);
const fitsFields = compileSchema(ContractFields);

/** Separates a definition from the fields of its contract. @throws Failure `invalid_input` */
export function splitBody(body: unknown): {
  readonly definition: unknown;
  readonly keyed?: KeyedFields | undefined;
  readonly name?: string | undefined;
} {
  if (typeof body !== 'object' || body === null) return { definition: body };
  const { keyed, contract_name, ...definition } = body as {
    readonly keyed?: unknown;
    readonly contract_name?: unknown;
  };
  const fields = {
    ...(keyed === undefined ? {} : { keyed }),
    ...(contract_name === undefined ? {} : { contract_name }),
  };
  if (!fitsFields(fields)) throw refusal('body', valueFaults(ContractFields, fields));
  return { definition, keyed: fields.keyed, name: fields.contract_name };
}

/** Refuses a definition and keys that contradict each other. @throws Failure `invalid_input` */
export function refuseContradiction(
  { definition, isShadow }: Plan,
  keyed: Pick<KeyedFields, 'overflow'> | undefined,
  what = 'No contract was created.',
): void {
  const [path, message] =
    keyed === undefined
      ? definition.gate?.key === undefined
        ? []
        : ['/gate/key', 'says whose request it is, and the contract has no keys; give keyed, too']
      : isShadow && keyed.overflow === 'refuse'
        ? ['/keyed/overflow', 'must be share for a shadow, which refuses nothing']
        : [];
  if (path === undefined || message === undefined) return;
  throw new Failure('invalid_input', {
    what,
    why: `${path} ${message}.`,
    faults: [{ path, message }],
  });
}

/**
 * Each contract has its own secret, so that hashed keys of two records cannot be linked.
 * @throws Failure `invalid_input` if anyone could read the keys, and this is said once
 */
export function keyedImage(
  {
    max_keys: maxKeys,
    idle_cycles: idleCycles = 60,
    overflow = 'refuse',
    store_keys = 'hashed',
    show_keys = false,
  }: KeyedFields,
  isPublic: boolean,
): KeyedImage {
  if (isPublic && store_keys === 'plain' && !show_keys) throw shownToAll();
  const image = { maxKeys, idleCycles, overflow };
  return store_keys === 'plain' ? image : { ...image, secret: randomBytes(32).toString('base64url') };
}

function shownToAll(): Failure {
  const message =
    'is plain, and the machine is public: anyone may read its clients in contract, record, export and stream';
  return new Failure('invalid_input', {
    what: 'No contract was created.',
    why: `/keyed/store_keys ${message}. A row that is signed cannot be erased.`,
    fix: 'Leave store_keys out: keys are then stored as hashes. To show them to all, say so twice: add "show_keys": true.',
    faults: [{ path: '/keyed/store_keys', message }],
  });
}

/** Refuses a missing key, and one that these contracts cannot use. @throws Failure `key_missing`, `invalid_input` */
export function checkKey(listeners: readonly { readonly contract: Contract }[], key: string | undefined): void {
  const keyed = listeners.find(({ contract }) => contract.keys !== undefined);
  if (key === undefined) {
    if (keyed !== undefined) throw keyMissing(keyed.contract);
    return;
  }
  if (keyed === undefined) {
    const fix = 'Leave the key out, or deploy a contract with `keyed`.';
    throw keyRefused('has no effect: no contract that is asked has keys', fix);
  }
  const fix = `Send 1 to ${LONGEST_KEY} characters.`;
  if (/\p{Surrogate}/u.test(key)) throw keyRefused('must be text: it has half a character', fix);
  if (key.length === 0 || (key.length > LONGEST_KEY && [...key].length > LONGEST_KEY))
    throw keyRefused(`must have from 1 to ${LONGEST_KEY} characters`, fix);
}

function keyRefused(fault: string, fix: string): Failure {
  const faults = [{ path: '/key', message: fault }];
  return new Failure('invalid_input', { what: 'The key was refused.', why: `/key ${fault}.`, fix, faults });
}

function keyMissing({ id }: Contract): Failure {
  return new Failure('key_missing', {
    what: 'A key is missing.',
    why: `The contract ${id} counts each key separately.`,
    fix: 'Send `key`, for example the address or the id of the client.',
    faults: [{ path: '/key', message: 'is required' }],
  });
}

/** As `checkKey` and `nameOf`, for any one contract. @throws Failure `key_missing`, `invalid_input` */
export function keyNameOf(contract: Contract, key: string | undefined): string | undefined {
  if (key === undefined && contract.keys === undefined) return undefined;
  checkKey([{ contract }], key);
  return nameOf(contract, key);
}

/** The contract's name for a key; undefined for one without keys. See `checkKey`. */
export function nameOf(contract: Contract, key: string | undefined): string | undefined {
  return key === undefined ? undefined : contract.nameOf(key);
}

/** Reserves the key in all contracts before the first one counts: all count or none. @throws Failure `too_many_keys` */
export function claimPlaces(
  listeners: readonly { readonly contract: Contract }[],
  key: string | undefined,
  cycle: number,
): void {
  if (key === undefined || listeners.length === 1) return;
  for (const { contract } of listeners) contract.place(contract.nameOf(key), 1, cycle);
}
