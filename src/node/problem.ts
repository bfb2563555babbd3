// Failures as HTTP answers in one shape (RFC 9457): ours, Fastify's, unrouted requests, internal errors. Statuses: schema/failure.ts.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import type { Problem } from '../api/views.js';
import { nearest } from '../core/schema/did-you-mean.js';
import { Failure, type Fault, firstOf, MOST_FAULTS } from '../core/schema/failure.js';
import { secondsUntil } from '../core/time/cycle.js';
import type { WallClock } from '../core/time/wall.js';

export const JSON_TYPE = 'application/json; charset=utf-8';
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export function problemOf(failure: Failure): Problem {
  const { code, title, status, message: detail, faults } = failure;
  const problem = { ok: false, type: `urn:weir:problem:${code}`, title, status, detail, code } as const;
  return faults.length === 0 ? problem : { ...problem, errors: faults.slice(0, MOST_FAULTS) };
}

/** Seconds until a retry; undefined if unknown. */
export function retryAfterSeconds(
  { againCycle }: Failure,
  clock: Pick<WallClock, 'now' | 'cycleMs'>,
): number | undefined {
  return againCycle === undefined ? undefined : secondsUntil(againCycle, clock.now(), clock.cycleMs);
}

/** @param retryAfterS seconds of `Retry-After`; undefined if unknown */
export function sendProblem(reply: FastifyReply, problem: Problem, retryAfterS?: number): FastifyReply {
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="weir"');
  if (retryAfterS !== undefined) reply.header('retry-after', retryAfterS);
  if (problem.code === 'node_overloaded' && !reply.hasHeader('retry-after')) reply.header('retry-after', '2');
  if (problem.code === 'memory_low' && !reply.hasHeader('retry-after')) reply.header('retry-after', '10');
  if (problem.code === 'store_away') reply.header('retry-after', '1');
  return reply
    .code(problem.status)
    .header('content-type', PROBLEM_TYPE)
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .send(JSON.stringify(problem));
}

export function failureFrom(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return new Failure('unsupported_media_type', {
        what: 'The body was not read.',
        why: 'Its content type is not one that this route takes, or there is none.',
        fix: 'Send JSON with the header `Content-Type: application/json`.',
      });
    default:
      // Other errors that Fastify or Node attribute to the client, such as a body shorter than announced.
      return statusCode >= 400 && statusCode < 500
        ? new Failure('malformed_request', {
            what: 'The request cannot be read.',
            why: `${(error as Error).message.replace(/\.$/, '')}.`,
            cause: error,
          })
        : undefined;
  }
}

function noSuchRoute(why: string): Failure {
  return new Failure('route_not_found', {
    what: 'Nothing is served there.',
    why,
    fix: 'GET /api/endpoints lists every route.',
  });
}

export function internalError(): Failure {
  return new Failure('internal_error', {
    what: 'The node could not answer.',
    why: 'An internal error occurred; the log of the node has it.',
    fix: 'Try again. If it happens again, report it to the operator of the node with the time.',
  });
}

export function draining(): Failure {
  return new Failure('node_draining', {
    what: 'The node takes no new requests.',
    why: 'It is shutting down, and finishes those it has.',
    fix: 'Ask another node, or this one once it is back.',
  });
}

export function refusal(part: 'body' | 'query' | 'event', faults: readonly Fault[]): Failure {
  return new Failure('invalid_input', {
    what: `The ${part} was refused.`,
    ...(faults.length === 0 ? {} : { why: firstOf(faults) }),
    fix: 'GET /api/openapi.json describes what every route takes.',
    faults,
  });
}

/** Why no route matches; `allow` if the path is known, but not with this method. */
export interface Unrouted {
  readonly failure: Failure;
  readonly allow?: string;
}

export function whyUnrouted(
  app: FastifyInstance,
  routes: readonly { readonly path: string }[],
  { method, url = '' }: IncomingMessage,
): Unrouted {
  const path = url.split('?', 1)[0]!;
  // As in the routes that match, an empty parameter names nothing.
  const allowed = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'].filter((one) => {
    const found = app.findRoute({ method: one, url: path });
    return found !== null && !Object.values(found.params).includes('');
  });
  const allow = allowed.join(', ');
  if (allow !== '') {
    const failure = new Failure('method_not_allowed', {
      what: `${path} does not take ${method}.`,
      fix: `It takes ${allow}.`,
    });
    return { failure, allow };
  }
  const guess = nearest(path, new Set(routes.map((route) => route.path)));
  const why = `There is no path ${path.length > 100 ? `${path.slice(0, 100)}…` : path}.`;
  return { failure: noSuchRoute(guess === undefined ? why : `${why} Did you mean ${guess}?`) };
}

export function undecodable(): Unrouted {
  return { failure: noSuchRoute('The path cannot be decoded, or a part of it is longer than any name here.') };
}

export function unknownExpectation({ headers: { expect = '' } }: IncomingMessage): Unrouted {
  const why = `It has the header Expect: ${expect.slice(0, 100)}, and this node knows 100-continue alone.`;
  return { failure: notRead(why, 'Send it without Expect.') };
}

function notRead(why: string, fix = 'Send HTTP/1.1.'): Failure {
  return new Failure('malformed_request', { what: 'The request was not read.', why, fix });
}

/** Node reads requests of all versions, and bodies in chunks in all of them, which a gateway before it may read otherwise. */
export function unreadableVersion({ httpVersion, headers }: IncomingMessage): Unrouted | undefined {
  const isChunked = headers['transfer-encoding'] !== undefined;
  if (httpVersion === '1.1' || (httpVersion === '1.0' && !isChunked)) return undefined;
  const lacks = httpVersion === '1.0' ? ', which has no Transfer-Encoding' : '';
  return { failure: notRead(`It is of HTTP/${httpVersion}${lacks}.`) };
}

/** For requests that are not HTTP, or too slow: there is only a socket. */
export function refuseBrokenRequest(error: Pick<FastifyError, 'code'>, socket: Socket, clock: WallClock): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, ...problem } = problemOf(brokenRequest(error.code));
  const body = JSON.stringify({ ...problem, status });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...(status === 405 ? ['Allow: GET, HEAD, POST, PATCH, DELETE'] : []),
  ];
  hangUp(socket, clock, `${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Closing with unread input resets a socket, and the answer may be lost: input is read and dropped for a while. */
export function hangUp(socket: Socket, clock: WallClock, last = ''): void {
  if (socket.writableEnded) return;
  socket.removeAllListeners('data').on('data', () => {});
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  socket.end(last);
  void clock.sleep(LINGER_MS, closed.signal).then(() => socket.destroy());
}

/** How long a client may go on sending on a connection that has ended, in ms. */
const LINGER_MS = 500;

function brokenRequest(code: string): Failure {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Failure('request_timeout', {
        what: 'The request was given up.',
        why: 'It did not arrive within the time that this node waits.',
        fix: 'Send it faster, or less at once.',
      });
    case 'HPE_HEADER_OVERFLOW':
      return new Failure('headers_too_large', {
        what: 'The request was not read.',
        why: 'Its first line and its headers have more bytes than this node takes.',
        fix: 'Send fewer or shorter headers.',
      });
    case 'CONNECT':
      return new Failure('method_not_allowed', {
        what: 'No connection was made.',
        why: 'This node is no proxy, and takes no CONNECT.',
        fix: 'Ask the other host itself; GET /api/endpoints lists the routes of this node.',
      });
    default:
      return notRead(`It is not valid HTTP (${code}).`);
  }
}

export function answerUnrouted(
  { failure, allow }: Unrouted,
  { method }: IncomingMessage,
  response: ServerResponse,
): number {
  const problem = problemOf(failure);
  const body = JSON.stringify(problem);
  response.writeHead(problem.status, {
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    ...(allow === undefined ? {} : { allow }),
  });
  response.end(method === 'HEAD' ? undefined : body);
  return problem.status;
}
