// Canonical JSON (RFC 8785) and its SHA-256: what rows, proofs and outcomes are hashed and signed by.
import commonJs from 'canonicalize';
import { assert, Bug } from './failure.js';
import { sha256Hex } from './sha256.js';

export { sha256Hex } from './sha256.js';

// The package declares the default export of an ES module; it is a CommonJS module that exports the function.
const canonicalize = commonJs as unknown as (value: unknown) => string | undefined;

/**
 * The canonical JSON of a value: members sorted by UTF-16 code units, numbers as ECMAScript writes them (-0 as `0`), no whitespace.
 * A lone surrogate is written as its `\u` escape.
 * @throws Bug for anything that JSON would change or drop silently: NaN, an infinity, undefined (also in an object: leave the field
 * out), a function, a symbol, a bigint, an array with holes, or an object that is neither plain nor an array
 */
export function canonicalJson(value: unknown): string {
  refuseWhatJsonLoses(value, '');
  const text = canonicalize(value);
  assert(text !== undefined, 'a value without what JSON loses has a text');
  return text;
}

/** SHA-256 over the canonical JSON of a value, as 64 lower-case hexadecimal digits. */
export function digestOf(value: unknown): string {
  return sha256Hex(canonicalJson(value));
}

function refuseWhatJsonLoses(value: unknown, path: string): void {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return;
    case 'number':
      if (Number.isFinite(value)) return;
      throw refusal(String(value), path);
    case 'object':
      break;
    default:
      throw refusal(typeof value, path);
  }
  if (value === null) return;
  if (Array.isArray(value)) {
    // By index: forEach would skip holes.
    for (let i = 0; i < value.length; i++) refuseWhatJsonLoses(value[i], `${path}/${i}`);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw refusal(nameOf(value), path);
  if (Object.getOwnPropertySymbols(value).length > 0) throw refusal('a member named by a symbol', path);
  for (const [name, member] of Object.entries(value)) refuseWhatJsonLoses(member, `${path}/${name}`);
}

function nameOf(value: object): string {
  return value.constructor?.name ?? 'an object of a class';
}

function refusal(what: string, path: string): Bug {
  return new Bug(`canonical JSON of ${what} at ${path === '' ? 'the top' : path}`);
}
