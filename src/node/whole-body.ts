// Reads a body as a whole.
//
//   head+body                  in one piece, as nearly all bodies are: taken at once, without a listener
//   head+bo ─► dy              collected; complete with the last byte of an announced length
//   head+chunk ─► chunk ─►     collected up to its end
//
// Requests on one connection are read in the order sent: nothing here waits longer than for the last byte. Bodies that are collected have a
// room: on a thousand connections one caller could otherwise keep a gigabyte of bodies without an end.
import type { FastifyRequest } from 'fastify';
import { Failure } from '../core/schema/failure.js';
import type { Bounds } from './bounds.js';

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
  const announced = Number(raw.headers['content-length']);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    if (bytes + chunk.length > most) return end(tooLarge(most));
    try {
      bounds.take('openBodyBytes', request, chunk.length);
    } catch (error) {
      return end(error as Failure);
    }
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes === announced) end();
  };
  const end = (failure?: Failure) => {
    raw.off('data', take).off('end', end).off('error', broken);
    bounds.give('openBodyBytes', request, bytes);
    read(failure, failure === undefined ? Buffer.concat(chunks) : null);
  };
  const broken = (error: Error) => end(brokenOff(error));
  raw.on('data', take).on('end', end).on('error', broken);
}

function tooLarge(most: number): Failure {
  return new Failure('body_too_large', {
    what: 'The body was not read to its end.',
    why: `It has more than ${most} bytes, the most that this route takes.`,
    fix: 'Send less at once.',
  });
}

function brokenOff(cause: Error): Failure {
  return new Failure('malformed_request', {
    what: 'The request cannot be read.',
    why: 'Its connection ended before all of its body had come.',
    cause,
  });
}
