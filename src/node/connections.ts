// The connections of a node's port: counted, and closed when too slow. Time while the process was stopped does not count against a client.
//
//   client   sends ─────────────┐ waits                                 answered
//   node     ── stopped ───────────────────┤ timers, then bytes that wait ├──►
//                                             └ a timeout is judged after these were read, and anew after a stop
//
// Node runs timers before it reads: after a stop, idle connections and pending requests have expired although their bytes are in the buffers.
//
// Node would set two timers for each request, at it and between two. Here a periodic check sets one where nothing has moved since the last
// check, which most connections never see.
//
// A node that drains answers what has been sent to it, and each connection ends with its answer. A client may be sending on a silent one: it is
// read for a while longer, and closed from this side alone first, so that no answer on its way is lost.
//
//   kept     request ─► answer, Connection: close ─► end of ours ─► lingers: what comes is dropped ─► closed
//   silent   ── quiet for quietMs ────────────────► end of ours ─┘
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { Server as Listener, type Socket } from 'node:net';
import type { FastifyError } from 'fastify';
import type { Subscription } from 'rxjs';
import { every } from '../core/time/cycles.js';
import { Rank } from '../core/time/rank.js';
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
  /** Bytes read when the newest request began: what was read since is a part of it, or of the next one. */
  bytesAtBegin?: number;
  /** While the node drains: bytes moved as of the last look, and since when the number is unchanged. */
  quietBytes?: number;
  quietSinceMs?: number;
  /** As of the last check. */
  movedBytes?: number;
  /** Bytes moved when a stop last extended its time. */
  sparedBytes?: number;
}

export class Connections {
  readonly #context: ConnectionContext;
  readonly #open = new Set<WatchedSocket>();
  readonly #servers: Server[] = [];
  #admitted = 0;
  #drain: Subscription | undefined;
  /** Not the node's clock, which tests move by hand. */
  readonly #closingClock: WallClock;

  constructor(context: ConnectionContext) {
    this.#context = context;
    this.#closingClock = new WallClock(context.clock.cycleMs);
    keepShapeOfTicks();
  }

  server(answer: RequestListener): Server {
    const { limits, sockets, clock } = this.#context;
    const timeouts = {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: 0,
      connectionsCheckingInterval: limits.connectionsCheckMs,
    };
    // A request without Host is refused by the routes, in words.
    const heads = { maxHeaderSize: limits.headerBytes, requireHostHeader: false };
    const server = createServer({ ...timeouts, ...heads }, (request, response) => {
      const socket: WatchedSocket = request.socket;
      socket.begun = (socket.begun ?? 0) + 1;
      socket.bytesAtBegin = socket.bytesRead;
      const refusal = unreadableVersion(request);
      if (refusal !== undefined) return this.#refuseRequest(refusal, request, response);
      if (this.#drain !== undefined) return this.#answerLast(answer, request, response);
      answer(request, response);
      socket.answering = response.writableEnded && !hasBody(request) ? undefined : response;
    });
    this.#servers.push(server);
    // Node drops headers beyond 1,000 by default: a client could hide what its gateway adds. Their bytes are bounded.
    server.maxHeadersCount = 0;
    // Before the server's own listener, which starts reading.
    server.prependListener('connection', (socket) => {
      if (!sockets.admit(socket)) return;
      this.#admitted += 1;
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
    const checking = every(clock, limits.connectionsCheckMs).subscribe(() => this.#boundStill());
    server.once('close', () => checking.unsubscribe());
    server.on('checkExpectation', (request, response) =>
      this.#refuseRequest(unknownExpectation(request), request, response),
    );
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

  /** From now on answers close their connections, and silent connections are closed. New ones are still taken. */
  drain(): void {
    if (this.#drain !== undefined) return;
    this.#closingClock.start();
    this.#drain = every(this.#closingClock, DRAIN_CHECK_MS).subscribe(() => this.#hangUpSilent());
  }

  /** Takes no new connections. Resolves when all have ended, cut at the latest after `drainMs`. */
  async close(): Promise<void> {
    const { limits } = this.#context;
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
    void clock.sleep(limits.drainMs, finished.signal).then(cut);
    await Promise.all(ended);
    finished.abort();
    this.#drain?.unsubscribe();
    clock.stop();
  }

  /** Of pipelined requests, only the answer to the last says that the connection closes. */
  #answerLast(answer: RequestListener, request: IncomingMessage, response: ServerResponse): void {
    const socket: WatchedSocket = request.socket;
    const { answering: earlier } = socket;
    if (earlier !== undefined && !earlier.headersSent) earlier.shouldKeepAlive = true;
    response.shouldKeepAlive = false;
    socket.answering = response;
    // Node would reset a connection on which more has come, and the answer may be lost with it.
    socket.destroySoon = () => hangUp(socket, this.#context.clock);
    setImmediate(() => answer(request, response));
  }

  #hangUpSilent(): void {
    const { limits } = this.#context;
    const clock = this.#closingClock;
    const nowMs = clock.monotonicMs();
    for (const socket of this.#open) {
      const { answering, bytesRead, bytesAtBegin = 0 } = socket;
      const moved = movedBytesOf(socket);
      if (socket.quietBytes !== moved) {
        socket.quietBytes = moved;
        socket.quietSinceMs = nowMs;
      }
      const isAtRequest = answering !== undefined && !(answering.writableFinished && answering.req.complete);
      const isAtHead = answering === undefined && bytesRead !== bytesAtBegin;
      if (isAtRequest || isAtHead || socket.writableEnded || nowMs - socket.quietSinceMs! < limits.quietMs) continue;
      this.#afterReading(() => {
        if (movedBytesOf(socket) === moved) hangUp(socket, clock);
      });
    }
  }

  #boundStill(): void {
    const { idleTimeoutMs, keepAliveTimeoutMs } = this.#context.limits;
    for (const socket of this.#open) {
      const { answering, timeout = 0, writableLength } = socket;
      const moved = movedBytesOf(socket);
      const isStill = socket.movedBytes === moved;
      socket.movedBytes = moved;
      const isAtRequest = answering?.writableFinished === false || writableLength > 0;
      // The head of the first request is bounded by Node.
      const isBound = isStill && socket.begun !== undefined;
      const ms = !isBound ? 0 : isAtRequest ? idleTimeoutMs : keepAliveTimeoutMs;
      if (timeout !== ms) socket.setTimeout(ms);
    }
  }

  #cutIdle(socket: WatchedSocket): void {
    const { bytesRead } = socket;
    this.#afterReading(() => {
      if (socket.bytesRead !== bytesRead) return;
      // One extension unless bytes move: otherwise repeated stops would keep an idle connection forever.
      const moved = movedBytesOf(socket);
      if (this.#hasStalled() && socket.sparedBytes !== moved) {
        socket.sparedBytes = moved;
        socket.setTimeout(socket.timeout ?? this.#context.limits.idleTimeoutMs);
      } else socket.destroy();
    });
  }

  /** Node checks a late request only once, so after a stop it gets its whole time again here. */
  #refuseLate(error: FastifyError, socket: WatchedSocket): void {
    const { begun } = socket;
    const wasWhole = socket.answering?.req.complete ?? true;
    const isWhole = () => {
      const isNext = socket.begun !== begun;
      return (socket.answering?.req.complete ?? isNext) && (isNext || !wasWhole);
    };
    this.#afterReading(() => {
      if (isWhole()) return;
      if (!this.#hasStalled()) return this.#refuse(error, socket);
      const { answering } = socket;
      const closed = new AbortController();
      socket.once('close', () => closed.abort());
      void this.#context.clock.sleep(this.#context.limits.requestTimeoutMs, closed.signal).then(() => {
        if (socket.answering === answering && !isWhole()) this.#refuse(error, socket);
      });
    });
  }

  #refuseRequest(refusal: Unrouted, request: IncomingMessage, response: ServerResponse): void {
    this.#context.counts.malformedRequests += 1;
    response.shouldKeepAlive = false;
    answerUnrouted(refusal, request, response);
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

/**
 * Keep the shape of these objects: V8 drops it if it collects garbage while none waits, as it does while a node starts. Then each takes
 * 400 ns instead of 60, until the process ends, and a request makes nine.
 */
const keptTicks: object[] = [];

function keepShapeOfTicks(): void {
  const hook = createHook({ init: (_id, _type, _trigger, tick) => keptTicks.push(tick) }).enable();
  process.nextTick(() => {});
  hook.disable();
}
