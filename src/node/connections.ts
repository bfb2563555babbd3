// The connections of the port of a node: counted, and cut when they are too slow. Time in which the process itself did not run is not the client's.
//
//   client   sends ─────────────┐ waits                                 answered
//   node     ── stopped ───────────────────┤ timers, then bytes that wait ├──►
//                                             └ a timeout is judged after these were read, and anew after a stop
//
// Node runs timers before it reads: after a stop every idle connection, and every request that was under way, has expired although
// what it waited for has been in the buffers of the system all the while.
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError } from 'fastify';
import { Rank } from '../time/rank.js';
import type { WallClock } from '../time/wall.js';
import type { Limits } from './limits.js';
import type { Counts } from './metrics.js';
import { refuseBrokenRequest } from './problem.js';
import type { Sockets } from './sockets.js';

interface ConnectionParts {
  readonly counts: Counts;
  readonly sockets: Sockets;
  readonly clock: WallClock;
  readonly limits: Limits;
}

interface WatchedSocket extends Socket {
  /** The newest request whose head has been read. */
  newest?: IncomingMessage;
  /** Where it was given its time anew after a stop: the bytes that had moved by then. */
  sparedBytes?: number;
}

export class Connections {
  readonly #counts: Counts;
  readonly #clock: WallClock;
  readonly #limits: Limits;
  readonly #sockets: Sockets;

  constructor({ counts, clock, limits, sockets }: ConnectionParts) {
    this.#sockets = sockets;
    this.#counts = counts;
    this.#clock = clock;
    this.#limits = limits;
  }

  server(answer: RequestListener): Server {
    const limits = this.#limits;
    const timeouts = {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.connectionsCheckMs,
    };
    const server = createServer({ ...timeouts, maxHeaderSize: limits.headerBytes }, (request, response) => {
      const socket: WatchedSocket = request.socket;
      socket.newest = request;
      answer(request, response);
    });
    server.setTimeout(limits.idleTimeoutMs);
    this.#watch(server);
    return server;
  }

  #watch(server: Server): void {
    // Before the listener of the server, which would begin to read.
    server.prependListener('connection', (socket) => this.#sockets.admit(socket));
    // With a listener, Node leaves it to us what happens to a connection on which nothing has moved.
    server.on('timeout', (socket) => this.#cutIdle(socket));
  }

  refuse(error: FastifyError, socket: Socket): void {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') this.#refuseLate(error, socket);
    else this.#refuse(error, socket);
  }

  #cutIdle(socket: WatchedSocket): void {
    const { bytesRead } = socket;
    this.#afterReading(() => {
      if (socket.bytesRead !== bytesRead) return;
      // Once: where a machine stops again and again, what does not move at all would never be cut.
      const moved = bytesRead + socket.bytesWritten - socket.writableLength;
      if (this.#hasStalled() && socket.sparedBytes !== moved) {
        socket.sparedBytes = moved;
        socket.setTimeout(socket.timeout ?? this.#limits.idleTimeoutMs);
      } else socket.destroy();
    });
  }

  /** Node looks at a request that was late once and never again: after a stop it gets the whole time anew, here. */
  #refuseLate(error: FastifyError, socket: WatchedSocket): void {
    const { newest: before } = socket;
    const wasWhole = before?.complete ?? true;
    const isWhole = () => {
      const { newest } = socket;
      return newest?.complete === true && !(newest === before && wasWhole);
    };
    this.#afterReading(() => {
      if (isWhole()) return;
      if (!this.#hasStalled()) return this.#refuse(error, socket);
      const { newest: pending } = socket;
      const closed = new AbortController();
      socket.once('close', () => closed.abort());
      void this.#clock.sleep(this.#limits.requestTimeoutMs, closed.signal).then(() => {
        if (socket.newest === pending && !isWhole()) this.#refuse(error, socket);
      });
    });
  }

  #refuse(error: FastifyError, socket: Socket): void {
    this.#counts.malformedRequests += 1;
    refuseBrokenRequest(error, socket, this.#clock);
  }

  /** Due now is after the sockets were read that have something to read: Node runs timers, sockets, then what is due at once. */
  #afterReading(work: () => void): void {
    this.#clock.agenda.at(this.#clock.now(), Rank.report, work);
  }

  /** Slow connections are looked for every so often: one that expired during a stop is found within that time after it. */
  #hasStalled(): boolean {
    return this.#clock.sinceStallMs < 2 * this.#limits.connectionsCheckMs;
  }
}
