// Canonical JSON (RFC 8785) and its SHA-256. Audit rows, proofs and outcomes are hashed and signed in this form.
import commonJs from 'canonicalize';
import { assert, Bug } from './failure.js';
import { sha256Hex } from './sha256.js';

export { sha256Hex } from './sha256.js';

// The package declares a default export of an ES module but is a CommonJS module that exports the function.
const canonicalize = commonJs as unknown as (value: unknown) => string | undefined;

/**
 * The canonical JSON of a value: members sorted by UTF-16 code units, numbers as ECMAScript writes them (-0 as `0`), no whitespace.
 * A lone surrogate is written as its `\u` escape.
 * @throws Bug for what JSON would change or drop silently: NaN, an infinity, undefined (also as a member), a function, a symbol,
 * a bigint, an array with holes, or an object that is neither plain nor an array
 */
export function canonicalJson(value: unknown): string {
  const lost = lostIn(value);
  if (lost !== undefined)
    throw new Bug(`canonical JSON of ${lost.what} at ${lost.path === '' ? 'the top' : lost.path}`);
  const text = canonicalize(value);
  assert(text !== undefined, 'a value without what JSON loses has a text');
  return text;
}

export function digestOf(value: unknown): string {
  return sha256Hex(canonicalJson(value));
}

interface Lost {
  readonly what: string;
  readonly path: string;
}

/** The first value that JSON would change or drop. Its path is built on the way back: most values are valid. */
function lostIn(value: unknown): Lost | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : { what: String(value), path: '' };
    case 'object':
      break;
    default:
      return { what: typeof value, path: '' };
  }
  if (value === null) return undefined;
  if (Array.isArray(value)) {
    // By index: forEach would skip holes.
    for (let i = 0; i < value.length; i++) {
      const lost = lostIn(value[i]);
      if (lost !== undefined) return { ...lost, path: `/${i}${lost.path}` };
    }
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return { what: nameOf(value), path: '' };
  if (Object.getOwnPropertySymbols(value).length > 0) return { what: 'a member named by a symbol', path: '' };
  for (const name of Object.keys(value)) {
    const lost = lostIn((value as Readonly<Record<string, unknown>>)[name]);
    if (lost !== undefined) return { ...lost, path: `/${name}${lost.path}` };
  }
  return undefined;
}

function nameOf(value: object): string {
  return value.constructor?.name ?? 'an object of a class';
}
