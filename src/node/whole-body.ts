// Reads a body as a whole.
//
//   head+body                  in one piece, as nearly all come: taken where it is, without a listener
//   head+bo ─► dy              collected; whole with its last byte where its length was announced
//   head+chunk ─► chunk ─►     collected up to its end
//
// What a client sends on one connection is read in the order in which it was sent: nothing here waits longer than for the last byte.
import type { IncomingMessage } from 'node:http';
import { Failure } from '../schema/failure.js';

/** The body, null where it is empty; or why it cannot be read: `body_too_large`, `malformed_request` where it breaks off. */
type Read = (error: Failure | undefined, body: Buffer | null) => void;

/** @param most bytes that it may have; what is beyond is dropped */
export function readWhole(request: IncomingMessage, most: number, read: Read): void {
  const announced = Number(request.headers['content-length']);
  if (announced > most) {
    read(tooLarge(), null);
    return;
  }
  // A request is there once its head is parsed: what came with the head is parsed before the next tick.
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
    if (bytes > most) end(tooLarge());
    else if (bytes === announced) end();
  };
  const end = (failure?: Failure) => {
    request.off('data', take).off('end', end).off('error', broken);
    read(failure, failure === undefined ? Buffer.concat(chunks) : null);
  };
  const broken = (error: Error) => end(brokenOff(error));
  request.on('data', take).on('end', end).on('error', broken);
}

function tooLarge(): Failure {
  return new Failure('body_too_large', {
    what: 'The body was not read to its end.',
    why: 'It has more bytes than this route takes.',
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
