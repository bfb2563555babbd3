// Owns the Fastify server around the routes: limits, bodies, and every answer that no route gives: unknown paths, wrong methods,
// broken requests, mistakes. Leaves routes to mount.ts, words to problem.ts.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import cookie from '@fastify/cookie';
import Fastify, { type FastifyBaseLogger, type FastifyError, type FastifyInstance } from 'fastify';
import { nearest } from '../schema/did-you-mean.js';
import { Failure } from '../schema/failure.js';
import type { Counts } from './counts.js';
import type { Limits } from './limits.js';
import { failureFrom, internalError, noSuchRoute, PROBLEM_TYPE, problemOf, sendProblem } from './problem.js';
import type { Route } from './route.js';
import { compileValidator } from './validation.js';

export interface ServerOptions {
  readonly limits: Limits;
  readonly counts: Counts;
  readonly log: FastifyBaseLogger;
  /** Whether every request is logged; it costs speed. */
  readonly logRequests: boolean;
  /** Addresses of proxies whose word for the client's address and protocol is taken; none when empty. */
  readonly trustProxy: readonly string[];
  readonly routes: readonly Route[];
}

export function createServer(options: ServerOptions): FastifyInstance {
  const { limits, counts, log, logRequests, trustProxy, routes } = options;
  const app: FastifyInstance = Fastify({
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionTimeout: limits.idleTimeoutMs,
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.connectionsCheckMs,
    },
    // A request on a connection that is still open is answered while the node finishes.
    return503OnClosing: false,
    trustProxy: trustProxy.length === 0 ? false : [...trustProxy],
    ...(logRequests ? { loggerInstance: log } : { logger: false }),
    // Asked on a bare request: what leads nowhere is answered before its body is looked at.
    routerOptions: {
      compile: true,
      defaultRoute: (request, response) => answerUnrouted(whyUnrouted(app, routes, request), request, response),
      onBadUrl: (_path, request, response) => answerUnrouted(undecodable(), request, response),
      onMaxParamLength: (_path, request, response) => answerUnrouted(undecodable(), request, response),
    },
    clientErrorHandler: (error, socket) => {
      counts.malformedRequests += 1;
      refuseBrokenRequest(error, socket);
    },
  });
  app.server.maxConnections = limits.sockets;
  app.server.on('connection', (socket: Socket) => {
    counts.connections += 1;
    socket.on('close', () => {
      counts.connections -= 1;
    });
  });
  // Without its hooks: cookies are read where a session is looked for, and nowhere else.
  app.register(cookie, { hook: false });
  app.decorateRequest('caller', undefined);
  app.setValidatorCompiler(compileValidator);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    const parsed = parseObject(body as string);
    if (parsed instanceof Failure) done(parsed, undefined);
    else done(null, parsed);
  });
  app.setErrorHandler((error, request, reply) => {
    const failure = failureFrom(error);
    const { route } = request.routeOptions.config;
    if (failure === undefined) log.error({ err: error, method: route?.method, path: route?.path }, 'a mistake of ours');
    else if (failure.status >= 500)
      log.warn({ err: failure, method: route?.method, path: route?.path }, failure.message);
    const problem = problemOf(failure ?? internalError());
    counts.answersOf(route)[problem.status]! += 1;
    return sendProblem(reply, problem);
  });
  return app;

  function answerUnrouted({ failure, allow }: Unrouted, { method }: IncomingMessage, response: ServerResponse): void {
    const problem = problemOf(failure);
    const body = JSON.stringify(problem);
    counts.answersOf(undefined)[problem.status]! += 1;
    response.writeHead(problem.status, {
      'content-type': PROBLEM_TYPE,
      'content-length': Buffer.byteLength(body),
      ...(allow === undefined ? {} : { allow }),
    });
    response.end(method === 'HEAD' ? undefined : body);
  }
}

/** The body as an object; undefined where it is empty. */
function parseObject(text: string): object | undefined | Failure {
  if (text === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return new Failure('invalid_json', {
      what: 'The body was not read.',
      why: `It is not JSON: ${(error as Error).message}.`,
      fix: 'Send a JSON object.',
    });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  return new Failure('invalid_input', {
    what: 'The body was refused.',
    why: 'It is JSON and no object.',
    fix: 'Send a JSON object.',
    faults: [{ path: '/', message: 'must be an object' }],
  });
}

/** Why no route takes a request; `allow` where the path is known and the method is not. */
interface Unrouted {
  readonly failure: Failure;
  readonly allow?: string;
}

function whyUnrouted(app: FastifyInstance, routes: readonly Route[], { method, url = '' }: IncomingMessage): Unrouted {
  const path = url.split('?', 1)[0]!;
  const allowed = ['GET', 'HEAD', 'POST', 'DELETE'].filter((one) => app.findRoute({ method: one, url: path }) !== null);
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

function undecodable(): Unrouted {
  return { failure: noSuchRoute('The path cannot be decoded, or a part of it is longer than any name here.') };
}

/** For what is no HTTP, or does not come: there is neither a request nor a reply, only a socket. */
function refuseBrokenRequest(error: FastifyError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const { status, ...problem } = problemOf(brokenRequest(error.code));
  const body = JSON.stringify({ ...problem, status });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  // Whether the other side still reads is its own affair: it is cut either way.
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon();
}

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
    default:
      return new Failure('malformed_request', {
        what: 'The request was not read.',
        why: `It is not valid HTTP (${code}).`,
        fix: 'Send HTTP/1.1.',
      });
  }
}
