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
import { addressNetworkOfCaller, sourceOf } from './request-source.js';
import type { SharedRoom } from './shared-room.js';

/** The body, null if empty; or `body_too_large`, `node_overloaded`, or `malformed_request` if it breaks off. */
type Read = (error: Failure | undefined, body: Buffer | null) => void;

/** @param most bytes @param room of the bytes of all bodies being collected, by owner, or by address without a credential */
export function readWhole(request: FastifyRequest, most: number, room: SharedRoom, read: Read): void {
  const { raw } = request;
  const announced = Number(raw.headers['content-length']);
  if (announced > most) {
    read(tooLarge(most), null);
    return;
  }
  // The request exists once its head is parsed; what came with the head is parsed before the next tick.
  process.nextTick(() => {
    if (raw.readableLength === announced) read(undefined, raw.read());
    else collect(request, most, room, read);
  });
}

function collect(request: FastifyRequest, most: number, room: SharedRoom, read: Read): void {
  const { raw } = request;
  const owner = [sourceOf(request), addressNetworkOfCaller(request.caller, request.ip)] as const;
  const announced = Number(raw.headers['content-length']);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    if (bytes + chunk.length > most) return end(tooLarge(most));
    if (!room.hasRoom(...owner)) return end(tooManyOpen());
    room.add(...owner, chunk.length);
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes === announced) end();
  };
  const end = (failure?: Failure) => {
    raw.off('data', take).off('end', end).off('error', broken);
    room.add(...owner, -bytes);
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

function tooManyOpen(): Failure {
  return new Failure('node_overloaded', {
    what: 'The body was not read to its end, and nothing was changed.',
    why: 'Bodies of this owner, or of this address or its network, that have not ended yet take all the memory that they may.',
    fix: 'Send fewer at a time.',
  });
}

function brokenOff(cause: Error): Failure {
  return new Failure('malformed_request', {
    what: 'The request cannot be read.',
    why: 'Its connection ended before all of its body had come.',
    cause,
  });
}
