// Parses a JSON body in one go. Refuses in advance what would take long to parse or to walk.
import { Failure } from '../schema/failure.js';

/** @throws Failure `invalid_json`; `invalid_input` for anything else than `wanted` */
export function parseBody(text: string, wanted: 'object' | 'array'): object {
  const fix =
    wanted === 'object'
      ? 'Send a JSON object.'
      : 'Send a JSON array, or one event a line with `Content-Type: application/x-ndjson`.';
  const tooMuch = text.length > DEEPEST ? shapeFault(text) : undefined;
  if (tooMuch !== undefined) {
    const known = 'GET /api/openapi.json describes what every route takes.';
    throw new Failure('invalid_input', { what: 'The body was not read.', why: tooMuch, fix: known });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = `It is not JSON: ${(error as Error).message}.`;
    throw new Failure('invalid_json', { what: 'The body was not read.', why, fix });
  }
  if (typeof value === 'object' && value !== null && Array.isArray(value) === (wanted === 'array')) return value;
  throw new Failure('invalid_input', {
    what: 'The body was refused.',
    why: `It is JSON and no ${wanted}.`,
    fix,
    faults: [{ path: '/', message: `must be an ${wanted}` }],
  });
}

/** Levels of nested objects and arrays: walks of a value are recursive, and the stack is finite. */
const DEEPEST = 64;

/** Fields of one object: V8 takes milliseconds for thousands, and no route takes more than 64. */
const MOST_FIELDS = 256;

function shapeFault(text: string): string | undefined {
  const fields = [0];
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (isInString) {
      if (char === BACKSLASH) at += 1;
      else if (char === QUOTE) isInString = false;
    } else if (char === QUOTE) isInString = true;
    else if (char === BRACKET || char === BRACE) {
      if (fields.push(0) > DEEPEST + 1) return `Its objects and arrays are nested more than ${DEEPEST} deep.`;
    } else if (char === BRACKET + 2 || char === BRACE + 2) fields.pop();
    else if (char === COLON) {
      const count = (fields.at(-1) ?? 0) + 1;
      if (count > MOST_FIELDS) return `An object in it has more than ${MOST_FIELDS} fields.`;
      fields[fields.length - 1] = count;
    }
  }
  return undefined;
}

const COLON = 58;
const [QUOTE, BACKSLASH, BRACKET, BRACE] = [34, 92, 91, 123];
