// The connections of a node's port: counted, and closed when too slow.
//
//   client   sends ─────────────┐ waits                              answered
//   node     ── stopped ───────────────────┤ look, once what waits is read ├──►      the stop counts as one interval, however long it was
//
// Node would run its timers before it reads: after a stop, connections and requests have expired although their bytes are in the buffers. And
// it would set two for each request. Here each connection is looked at in intervals, and its time is the number of them in which it was still,
// or in which one request had not come as a whole.
//
// A node that drains answers what has been sent to it, and each connection ends with its answer. A client may be sending on a silent one: it is
// read for a while longer, and closed from this side alone first, so that no answer on its way is lost.
//
//   kept     request ─► answer, Connection: close ─► end of ours ─► lingers: what comes is dropped ─► closed
//   silent   ── quiet for quietMs ────────────────► end of ours ─┘
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { Server as Listener, type Socket } from 'node:net';
import type { FastifyError } from 'fastify';
import type { Subscription } from 'rxjs';
import type { Clock } from '../core/time/clock.js';
import { every } from '../core/time/cycles.js';
import { WallClock } from '../core/time/wall.js';
import type { NodeContext } from './node-context.js';
import {
  answerUnrouted,
  hangUp,
  refuseBrokenRequest,
  type Unrouted,
  unknownExpectation,
  unreadableVersion,
} from './problem.js';

type ConnectionContext = Pick<NodeContext, 'counts' | 'sockets' | 'clock' | 'limits'>;

interface WatchedSocket extends Socket {
  /** How many requests have begun. */
  begun?: number;
  /** The answer to the newest one; none if it was given at once: what outlives its request is copied by the next collection. */
  answering?: ServerResponse | undefined;
  /** Bytes read when the newest request began, or was found to be over: what was read since is a part of the next one. */
  bytesAtBegin?: number;
  /** As of the last look, and for how long the number is unchanged. */
  movedBytes?: number;
  stillMs?: number;
  /** The number of the request that has not come as a whole, 0 for none, and for how long. */
  arriving?: number;
  arrivingMs?: number;
}

export class Connections {
  readonly #context: ConnectionContext;
  readonly #open = new Set<WatchedSocket>();
  readonly #servers: Server[] = [];
  #admitted = 0;
  #looking: Subscription;
  #isDraining = false;
  /** Not the node's clock, which tests move by hand. */
  readonly #closingClock: WallClock;

  constructor(context: ConnectionContext) {
    this.#context = context;
    this.#closingClock = new WallClock(context.clock.cycleMs);
    this.#looking = this.#look(context.clock, context.limits.connectionsCheckMs);
  }

  server(answer: RequestListener): Server {
    const { limits, sockets } = this.#context;
    const timeouts = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 };
    // A request without Host is refused by the routes, in words.
    const heads = { maxHeaderSize: limits.headerBytes, requireHostHeader: false };
    const server = createServer({ ...timeouts, ...heads }, (request, response) => {
      const socket: WatchedSocket = request.socket;
      socket.begun = (socket.begun ?? 0) + 1;
      socket.bytesAtBegin = socket.bytesRead;
      const refusal = unreadableVersion(request);
      if (refusal !== undefined) return this.#refuseRequest(refusal, request, response);
      if (this.#isDraining) return this.#answerLast(answer, request, response);
      answer(request, response);
      socket.answering = response.writableEnded && !hasBody(request) ? undefined : response;
    });
    this.#servers.push(server);
    // Node drops headers beyond 1,000 by default: a client could hide what its gateway adds. Their bytes are bounded.
    server.maxHeadersCount = 0;
    // A client that has sent its last request may still read: Node would end the connection without the answer.
    Object.assign(server, { httpAllowHalfOpen: true });
    // Before the server's own listener, which starts reading.
    server.prependListener('connection', (socket) => {
      if (!sockets.admit(socket)) return;
      this.#admitted += 1;
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
    server.on('checkExpectation', (request, response) =>
      this.#refuseRequest(unknownExpectation(request), request, response),
    );
    // Without a listener, Node hangs up without an answer; with one, the errors of the socket are ours.
    server.on('connect', (_request, socket) => {
      socket.on('error', () => socket.destroy());
      this.refuse({ code: 'CONNECT' }, socket as Socket);
    });
    return server;
  }

  refuse(error: Pick<FastifyError, 'code'>, socket: WatchedSocket): void {
    const { counts, clock } = this.#context;
    const { answering } = socket;
    counts.malformedRequests += 1;
    const isWhole = answering?.req.complete === true;
    // A request has one answer. Behind a whole one its own is then the last: a refusal in its place would say that it had done nothing.
    if (answering?.headersSent && !(isWhole && answering.writableFinished)) hangUp(socket, clock);
    else if (isWhole && !answering.writableFinished) this.#endsWith(answering, socket);
    else refuseBrokenRequest(error, socket, clock);
  }

  /** From now on answers close their connections, and silent connections are closed. New ones are still taken. */
  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    for (const socket of this.#open) socket.stillMs = 0;
    this.#closingClock.start();
    this.#looking.unsubscribe();
    this.#looking = this.#look(this.#closingClock, DRAIN_CHECK_MS);
  }

  /** Takes no new connections. Resolves when all have ended, cut at the latest after `drainMs`. */
  async close(): Promise<void> {
    const clock = this.#closingClock;
    clock.start();
    // The system resets connections that it has made and that were not taken. One is taken in each turn of the loop.
    const until = clock.monotonicMs() + ACCEPT_MS;
    for (let before = -1; before !== this.#admitted && clock.monotonicMs() < until; ) {
      before = this.#admitted;
      await clock.sleep(DRAIN_CHECK_MS / 2);
    }
    this.drain();
    const ended = this.#servers.map((server) => once(server, 'close'));
    // The close of an HTTP server would also cut connections between two requests.
    for (const server of this.#servers) Listener.prototype.close.call(server);
    const finished = new AbortController();
    const cut = () => {
      for (const socket of this.#open) socket.destroy();
    };
    void clock.sleep(this.#context.limits.drainMs, finished.signal).then(cut);
    await Promise.all(ended);
    finished.abort();
    this.#looking.unsubscribe();
    clock.stop();
  }

  /** Of pipelined requests, only the answer to the last says that the connection closes. */
  #answerLast(answer: RequestListener, request: IncomingMessage, response: ServerResponse): void {
    const socket: WatchedSocket = request.socket;
    const { answering: earlier } = socket;
    if (earlier !== undefined && !earlier.headersSent) earlier.shouldKeepAlive = true;
    socket.answering = response;
    this.#endsWith(response, socket);
    setImmediate(() => answer(request, response));
  }

  #endsWith(response: ServerResponse, socket: Socket): void {
    response.shouldKeepAlive = false;
    // Node would reset a connection on which more has come, and the answer may be lost with it.
    socket.destroySoon = () => hangUp(socket, this.#context.clock);
  }

  /** From the timer Node goes on to read what waits, then to what is due at once. */
  #look(clock: Clock, ms: number): Subscription {
    const lookAtAll = () => {
      for (const socket of this.#open) this.#lookAt(socket, ms);
    };
    return every(clock, ms).subscribe(() => void setImmediate(lookAtAll));
  }

  /** @param ms since the last look, as far as the process ran */
  #lookAt(socket: WatchedSocket, ms: number): void {
    const { limits } = this.#context;
    const { answering, begun = 0, bytesRead, writableEnded, writableLength } = socket;
    const moved = movedBytesOf(socket);
    socket.stillMs = socket.movedBytes === moved ? (socket.stillMs ?? 0) + ms : 0;
    socket.movedBytes = moved;
    const isAtRequest = answering !== undefined && !(answering.writableFinished && answering.req.complete);
    if (answering !== undefined && !isAtRequest) {
      socket.answering = undefined;
      socket.bytesAtBegin = bytesRead;
    }
    const isSilent = !isAtRequest && bytesRead === (socket.bytesAtBegin ?? 0);
    const isAtBody = isAtRequest && !answering.req.complete && !writableEnded;
    const isAtHead = !isAtRequest && (begun === 0 || !isSilent) && !writableEnded;
    const arriving = isAtBody ? begun : isAtHead ? begun + 1 : 0;
    socket.arrivingMs = socket.arriving === arriving ? (socket.arrivingMs ?? 0) + ms : 0;
    socket.arriving = arriving;
    const mostArrivingMs = isAtBody ? limits.requestTimeoutMs : limits.headersTimeoutMs;
    const isHeld = isAtRequest || writableLength > 0;
    const mostStillMs = isHeld ? limits.idleTimeoutMs : limits.keepAliveTimeoutMs;
    if (arriving > 0 && socket.arrivingMs >= mostArrivingMs) this.refuse({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket);
    else if ((isHeld || !isAtHead) && socket.stillMs >= mostStillMs) socket.destroy();
    else if (this.#isDraining && isSilent && socket.stillMs >= limits.quietMs) hangUp(socket, this.#closingClock);
  }

  #refuseRequest(refusal: Unrouted, request: IncomingMessage, response: ServerResponse): void {
    this.#context.counts.malformedRequests += 1;
    response.shouldKeepAlive = false;
    answerUnrouted(refusal, request, response);
  }
}

const DRAIN_CHECK_MS = 20;

/** How long a node that closes may go on taking connections that wait, in ms. */
const ACCEPT_MS = 500;

/** Without those that wait to be written: they do not move. */
function movedBytesOf({ bytesRead, bytesWritten, writableLength }: Socket): number {
  return bytesRead + bytesWritten - writableLength;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}
