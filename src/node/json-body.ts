// Reads a body as a whole, and parses it in one go. Refuses in advance what would take long to parse or to walk, and texts that would not
// be kept as sent.
//
//   head+body                  in one piece, as nearly all bodies are: taken at once, without a listener
//   head+bo ─► dy              collected; complete with the last byte of an announced length
//   head+chunk ─► chunk ─►     collected up to its end
//
// Requests on one connection are read in the order sent: nothing here waits longer than for the last byte. Bodies that are collected have a
// room: on a thousand connections one caller could otherwise keep a gigabyte of bodies without an end.
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { Failure } from '../core/schema/failure.js';
import { pointerTo } from '../core/schema/json-pointer.js';
import type { Bounds } from './bounds.js';

/** @throws Failure `unsupported_media_type` for a compressed body, or one of another charset than UTF-8 */
export function refuseEncoded(headers: IncomingHttpHeaders): void {
  const { 'content-type': type = '', 'content-encoding': coding, 'transfer-encoding': transfer } = headers;
  if (coding === undefined && transfer === undefined && !type.includes(';')) return;
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? 'utf-8';
  const isPlain = /^identity$/i.test(coding ?? 'identity') && /^chunked$/i.test(transfer ?? 'chunked');
  if (isPlain && /^(?:utf-?8|us-ascii)$/i.test(charset)) return;
  throw new Failure('unsupported_media_type', {
    what: 'The body was not read.',
    why: isPlain ? `Its charset is ${charset}.` : `It is encoded: ${coding ?? transfer}.`,
    fix: 'Send it in UTF-8 and uncompressed, without Content-Encoding.',
  });
}

/** The text of a body, without a byte order mark. @throws Failure `invalid_json` if it is not UTF-8 */
export function textOf(body: Buffer): string {
  if (isUtf8(body)) return body.toString('utf8').replace(/^\uFEFF/, '');
  throw new Failure('invalid_json', {
    what: 'The body was not read.',
    why: 'It is not UTF-8, and replaced bytes would make one text of several.',
    fix: 'Send it in UTF-8.',
  });
}

/** @throws Failure `invalid_json`; `invalid_input` for anything else than `wanted`, and for half a character */
export function parseBody(text: string, wanted: 'object' | 'array'): object {
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
    throw new Failure('invalid_json', { what: 'The body was not read.', why, fix: `Send a JSON ${wanted}.` });
  }
  const half = /\\u[dD][89a-fA-F]/.test(text) ? halfCharacterIn(value) : undefined;
  if (half !== undefined) {
    throw new Failure('invalid_input', {
      what: 'The body was refused.',
      why: 'A text in it has half a character: a surrogate alone, which UTF-8 does not have.',
      fix: String.raw`Write a character beyond U+FFFF as both of its halves, for example \ud83d\ude00, or as itself.`,
      faults: [{ path: half, message: 'has half a character' }],
    });
  }
  if (typeof value === 'object' && value !== null && Array.isArray(value) === (wanted === 'array')) return value;
  throw new Failure('invalid_input', {
    what: 'The body was refused.',
    why: `It is JSON and no ${wanted}.`,
    fix: `Send a JSON ${wanted}.`,
    faults: [{ path: '/', message: `must be an ${wanted}` }],
  });
}

/** The place of the first; a name has its own. */
function halfCharacterIn(value: unknown, place = ''): string | undefined {
  if (typeof value === 'string') return /\p{Surrogate}/u.test(value) ? place || '/' : undefined;
  for (const [name, one] of Object.entries(value ?? {})) {
    const found = halfCharacterIn(name, place) ?? halfCharacterIn(one, pointerTo(place, name));
    if (found !== undefined) return found;
  }
  return undefined;
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

/** The body, null if empty; or `body_too_large`, `node_overloaded`, or `malformed_request` if it breaks off. */
type Read = (error: Failure | undefined, body: Buffer | null) => void;

/** @param most bytes */
export function readWhole(request: FastifyRequest, most: number, bounds: Bounds, read: Read): void {
  const { raw } = request;
  const announced = Number(raw.headers['content-length']);
  if (announced > most) {
    read(tooLarge(most), null);
    return;
  }
  // The request exists once its head is parsed; what came with the head is parsed before the next tick.
  process.nextTick(() => {
    if (raw.readableLength === announced) read(undefined, raw.read());
    else collect(request, most, bounds, read);
  });
}

function collect(request: FastifyRequest, most: number, bounds: Bounds, read: Read): void {
  const { raw } = request;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    if (bytes + chunk.length > most) return end(tooLarge(most));
    try {
      bounds.openBodyBytes.take(request, chunk.length);
    } catch (error) {
      return end(error as Failure);
    }
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes === Number(raw.headers['content-length'])) end();
  };
  const end = (failure?: Failure) => {
    raw.off('data', take).off('end', end).off('error', broken);
    bounds.openBodyBytes.give(request, bytes);
    read(failure, failure === undefined ? Buffer.concat(chunks) : null);
  };
  const broken = (cause: Error) =>
    end(
      new Failure('malformed_request', {
        what: 'The request cannot be read.',
        why: 'Its connection ended before all of its body had come.',
        cause,
      }),
    );
  raw.on('data', take).on('end', end).on('error', broken);
}

function tooLarge(most: number): Failure {
  return new Failure('body_too_large', {
    what: 'The body was not read to its end.',
    why: `It has more than ${most} bytes, the most that this route takes.`,
    fix: 'Send less at once.',
  });
}
