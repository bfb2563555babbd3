// The connections of a node's port: counted, and closed when too slow. Time while the process was stopped does not count against a client.
//
//   client   sends ─────────────┐ waits                                 answered
//   node     ── stopped ───────────────────┤ timers, then bytes that wait ├──►
//                                             └ a timeout is judged after these were read, and anew after a stop
//
// Node runs timers before it reads: after a stop, idle connections and pending requests have expired although their bytes are in the buffers.
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError } from 'fastify';
import { Rank } from '../time/rank.js';
import type { NodeContext } from './node-context.js';
import { answerUnrouted, refuseBrokenRequest, unknownExpectation } from './problem.js';

type ConnectionContext = Pick<NodeContext, 'counts' | 'sockets' | 'clock' | 'limits'>;

interface WatchedSocket extends Socket {
  newest?: IncomingMessage;
  /** Bytes moved when a stop last extended its time. */
  sparedBytes?: number;
}

export class Connections {
  readonly #context: ConnectionContext;

  constructor(context: ConnectionContext) {
    this.#context = context;
  }

  server(answer: RequestListener): Server {
    const { limits, sockets } = this.#context;
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
    // Before the server's own listener, which starts reading.
    server.prependListener('connection', (socket) => sockets.admit(socket));
    server.on('checkExpectation', (request, response) => {
      this.#context.counts.malformedRequests += 1;
      answerUnrouted(unknownExpectation(request), request, response);
    });
    // Without a listener, Node hangs up without an answer; with one, the errors of the socket are ours.
    server.on('connect', (_request, socket) => {
      socket.on('error', () => socket.destroy());
      this.#refuse({ code: 'CONNECT' }, socket as Socket);
    });
    // With a listener, Node leaves idle connections to us.
    server.on('timeout', (socket) => this.#cutIdle(socket));
    return server;
  }

  refuse(error: FastifyError, socket: Socket): void {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') this.#refuseLate(error, socket);
    else this.#refuse(error, socket);
  }

  #cutIdle(socket: WatchedSocket): void {
    const { bytesRead } = socket;
    this.#afterReading(() => {
      if (socket.bytesRead !== bytesRead) return;
      // One extension unless bytes move: otherwise repeated stops would keep an idle connection forever.
      const moved = bytesRead + socket.bytesWritten - socket.writableLength;
      if (this.#hasStalled() && socket.sparedBytes !== moved) {
        socket.sparedBytes = moved;
        socket.setTimeout(socket.timeout ?? this.#context.limits.idleTimeoutMs);
      } else socket.destroy();
    });
  }

  /** Node checks a late request only once, so after a stop it gets its whole time again here. */
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
      void this.#context.clock.sleep(this.#context.limits.requestTimeoutMs, closed.signal).then(() => {
        if (socket.newest === pending && !isWhole()) this.#refuse(error, socket);
      });
    });
  }

  #refuse(error: Pick<FastifyError, 'code'>, socket: Socket): void {
    this.#context.counts.malformedRequests += 1;
    refuseBrokenRequest(error, socket, this.#context.clock);
  }

  /** Node runs timers, then sockets, then what is due at once: work due now follows all pending reads. */
  #afterReading(work: () => void): void {
    this.#context.clock.agenda.at(this.#context.clock.now(), Rank.report, work);
  }

  /** What expired during a stop is found within one interval of the periodic check. */
  #hasStalled(): boolean {
    return this.#context.clock.sinceStallMs < 2 * this.#context.limits.connectionsCheckMs;
  }
}
