// Canonical JSON (RFC 8785) and its SHA-256. Audit rows, proofs and outcomes are hashed and signed in this form.
import { Bug } from './failure.js';
import { sha256Hex } from './sha256.js';

export { sha256Hex } from './sha256.js';

/**
 * The canonical JSON of a value: members sorted by UTF-16 code units, numbers as ECMAScript writes them (-0 as `0`), no whitespace.
 * A lone surrogate is written as its `\u` escape.
 * @throws Bug for what JSON would change or drop silently: NaN, an infinity, undefined (also as a member), a function, a symbol,
 * a bigint, an array with holes, or an object that is neither plain nor an array
 */
export function canonicalJson(value: unknown): string {
  return textOf(value, []);
}

export function digestOf(value: unknown): string {
  return sha256Hex(canonicalJson(value));
}

/** @param path to `value`; the same array throughout, as few values are refused */
function textOf(value: unknown, path: (string | number)[]): string {
  if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object') throw lost(typeof value === 'number' ? String(value) : typeof value, path);
  const parts: string[] = [];
  if (Array.isArray(value)) {
    // By index: forEach would skip holes.
    for (let index = 0; index < value.length; index += 1) {
      path.push(index);
      parts.push(textOf(value[index], path));
      path.pop();
    }
    return `[${parts.join(',')}]`;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw lost(nameOf(value), path);
  if (Object.getOwnPropertySymbols(value).length > 0) throw lost('a member named by a symbol', path);
  for (const name of Object.keys(value).sort()) {
    path.push(name);
    parts.push(`${JSON.stringify(name)}:${textOf((value as Readonly<Record<string, unknown>>)[name], path)}`);
    path.pop();
  }
  return `{${parts.join(',')}}`;
}

function lost(what: string, path: readonly (string | number)[]): Bug {
  return new Bug(`canonical JSON of ${what} at ${path.length === 0 ? 'the top' : `/${path.join('/')}`}`);
}

function nameOf(value: object): string {
  return value.constructor?.name ?? 'an object of a class';
}
