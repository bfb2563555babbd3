// Reads a body as a whole.
//
//   head+body                  in one piece, as nearly all bodies are: taken at once, without a listener
//   head+bo ─► dy              collected; complete with the last byte of an announced length
//   head+chunk ─► chunk ─►     collected up to its end
//
// Requests on one connection are read in the order sent: nothing here waits longer than for the last byte. Bodies that are collected have a
// room: on a thousand connections one caller could otherwise keep a gigabyte of bodies without an end.
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { Failure } from '../schema/failure.js';
import type { Room } from './limits.js';
import { addressNetworkOfCaller, sourceOf } from './request-source.js';
import { SharedRoom } from './shared-room.js';

/** The body, null if empty; or a failure of `OpenBody`, or `malformed_request` if it breaks off. */
type Read = (error: Failure | undefined, body: Buffer | null) => void;

/** Bytes of all bodies that are being collected, by owner, or by address without a credential. */
export class OpenBodies {
  readonly #room: SharedRoom;

  constructor(room: Room) {
    this.#room = new SharedRoom(room);
  }

  /** The caller closes it. @param most bytes */
  open(request: FastifyRequest, most: number): OpenBody {
    const owner = [sourceOf(request), addressNetworkOfCaller(request.caller, request.ip)] as const;
    return new OpenBody(this.#room, owner, most);
  }
}

class OpenBody {
  readonly #room: SharedRoom;
  readonly #owner: readonly [owner: string, network: string];
  readonly #most: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(room: SharedRoom, owner: readonly [owner: string, network: string], most: number) {
    this.#room = room;
    this.#owner = owner;
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws Failure `body_too_large`; `node_overloaded` if the caller has too many bytes in bodies without an end */
  take(chunk: Buffer): void {
    if (this.#bytes + chunk.length > this.#most) throw tooLarge(this.#most);
    if (!this.#room.hasRoom(...this.#owner)) throw tooManyOpen();
    this.#room.add(...this.#owner, chunk.length);
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
  }

  whole(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  close(): void {
    this.#room.add(...this.#owner, -this.#bytes);
    this.#bytes = 0;
  }
}

export function readWhole(request: FastifyRequest, most: number, open: OpenBodies, read: Read): void {
  const { raw } = request;
  const announced = Number(raw.headers['content-length']);
  if (announced > most) {
    read(tooLarge(most), null);
    return;
  }
  // The request exists once its head is parsed; what came with the head is parsed before the next tick.
  process.nextTick(() => {
    if (raw.readableLength === announced) read(undefined, raw.read());
    else collect(raw, open.open(request, most), announced, read);
  });
}

function collect(request: IncomingMessage, body: OpenBody, announced: number, read: Read): void {
  const take = (chunk: Buffer) => {
    try {
      body.take(chunk);
    } catch (failure) {
      end(failure as Failure);
      return;
    }
    if (body.bytes === announced) end();
  };
  const end = (failure?: Failure) => {
    request.off('data', take).off('end', end).off('error', broken);
    body.close();
    read(failure, failure === undefined ? body.whole() : null);
  };
  const broken = (error: Error) => end(brokenOff(error));
  request.on('data', take).on('end', end).on('error', broken);
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
