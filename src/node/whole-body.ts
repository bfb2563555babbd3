// Reads a body as a whole.
//
//   head+body                  in one piece, as nearly all bodies are: taken at once, without a listener
//   head+bo ─► dy              collected; complete with the last byte of an announced length
//   head+chunk ─► chunk ─►     collected up to its end
//
// Requests on one connection are read in the order sent: nothing here waits longer than for the last byte.
import type { IncomingMessage } from 'node:http';
import { Failure } from '../schema/failure.js';

/** The body, null if empty; or `body_too_large`, or `malformed_request` if it breaks off. */
type Read = (error: Failure | undefined, body: Buffer | null) => void;

export function readWhole(request: IncomingMessage, most: number, read: Read): void {
  const announced = Number(request.headers['content-length']);
  if (announced > most) {
    read(tooLarge(most), null);
    return;
  }
  // The request exists once its head is parsed; what came with the head is parsed before the next tick.
  process.nextTick(() => {
    if (request.readableLength === announced) read(undefined, request.read());
    else collect(request, most, announced, read);
  });
}

function collect(request: IncomingMessage, most: number, announced: number, read: Read): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > most) end(tooLarge(most));
    else if (bytes === announced) end();
  };
  const end = (failure?: Failure) => {
    request.off('data', take).off('end', end).off('error', broken);
    read(failure, failure === undefined ? Buffer.concat(chunks) : null);
  };
  const broken = (error: Error) => end(brokenOff(error));
  request.on('data', take).on('end', end).on('error', broken);
}

function tooLarge(most: number): Failure {
  return new Failure('body_too_large', {
    what: 'The body was not read to its end.',
    why: `It has more than ${most} bytes, the most that this route takes.`,
    fix: 'Send less at once; many events go to POST …/events, line by line.',
  });
}

function brokenOff(cause: Error): Failure {
  return new Failure('malformed_request', {
    what: 'The request cannot be read.',
    why: 'Its connection ended before all of its body had come.',
    cause,
  });
}
