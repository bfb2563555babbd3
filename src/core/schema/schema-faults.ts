// Words for input that does not fit its schema: every fault with its place, the allowed values, and the nearest name to an unknown one.
import type { TSchema } from 'typebox';
import { nearest } from './did-you-mean.js';
import { type Fault, MOST_FAULTS } from './failure.js';
import { VISIBLE } from './fields.js';
import { pointerSteps, pointerTo } from './json-pointer.js';

export interface SchemaError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message?: string;
}

/**
 * Faults in order, one for each place; at least one if there are errors. TypeBox stops at eight errors, so a fault must not depend
 * on an error that summarises others: such errors come last, or not at all.
 */
export function faultsOf(schema: TSchema, errors: readonly SchemaError[]): Fault[] {
  const words = errors.flatMap((error) => wordsFor(schema, error));
  const faults = words.length > 0 ? words : errors.slice(0, 1).map((error) => plainly(error));
  const byPlace = new Map<string, Fault>();
  for (const fault of faults) {
    // Of a value that may be null, what else is wrong with it says more.
    const before = byPlace.get(fault.path);
    if (before === undefined || before.message === MUST_BE_NULL) byPlace.set(fault.path, fault);
  }
  const first = [...byPlace.values()];
  // "must be null" and "must match one of" add nothing to a deeper fault.
  const deep = first.filter(({ path }) => !first.some((other) => other.path.startsWith(`${path}/`)));
  return (deep.length > 0 ? deep : first).slice(0, MOST_FAULTS).map(shortly);
}

const MUST_BE_NULL = 'must be null';

/** Longest text in a fault: a name can be arbitrarily long. */
const MOST_LETTERS = 500;

function shortly({ path, message }: Fault): Fault {
  return { path: cut(path), message: cut(message) };
}

function cut(text: string): string {
  return text.length <= MOST_LETTERS ? text : `${text.slice(0, MOST_LETTERS)}…`;
}

function wordsFor(schema: TSchema, error: SchemaError): Fault[] {
  const path = placeOf(error);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    // One error for each unknown name, then `additionalProperties` with all of them.
    case 'boolean': {
      const [, object] = /^(.*)\/additionalProperties$/.exec(error.schemaPath) ?? [];
      if (object === undefined) return [];
      return [{ path, message: unknownName(schema, object, pointerSteps(path).at(-1)!) }];
    }
    case 'additionalProperties':
    case 'anyOf':
    case 'not':
      return [];
    case 'required':
      return namesIn(params['requiredProperties'] ?? params['missingProperty']).map((name) => ({
        path: pointerTo(error.instancePath, name),
        message: 'is required',
      }));
    case 'enum':
    case 'const':
      return [{ path, message: `must be ${oneOf(params['allowedValues'] ?? [params['allowedValue']])}` }];
    case 'pattern':
      if (params['pattern'] === VISIBLE)
        return [{ path, message: 'has a character that controls, turns the direction of the text, or is invisible' }];
      return [{ path, message: `must match ${String(params['pattern'])}` }];
    case 'type':
      return [{ path, message: `must be ${article(String(params['type']))}` }];
    case 'minItems':
    case 'minLength':
    case 'minProperties':
      return [params['limit'] === 1 ? { path, message: 'must not be empty' } : plainly(error)];
    default:
      return [plainly(error)];
  }
}

function plainly(error: SchemaError): Fault {
  return { path: placeOf(error), message: error.message ?? `breaks the rule "${error.keyword}"` };
}

function placeOf({ instancePath }: SchemaError): string {
  return instancePath === '' ? '/' : instancePath;
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

function oneOf(values: unknown): string {
  const words = (values as unknown[]).map((value) => JSON.stringify(value));
  return words.length === 1 ? String(words[0]) : `one of ${words.join(', ')}`;
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : type === 'null' ? 'null' : `a ${type}`;
}

function unknownName(schema: TSchema, schemaPath: string, name: string): string {
  const known = knownNames(schema, schemaPath);
  const guess = nearest(name, known);
  if (guess !== undefined) return `is not known; did you mean "${guess}"?`;
  return known.length > 0 ? `is not known; allowed here: ${known.join(', ')}` : 'is not a name that is allowed here';
}

function knownNames(schema: TSchema, schemaPath: string): string[] {
  let place: unknown = schema;
  for (const step of pointerSteps(schemaPath)) {
    place = (place as Record<string, unknown> | undefined)?.[step];
  }
  return Object.keys((place as { properties?: object } | undefined)?.properties ?? {});
}
