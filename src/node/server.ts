// The HTTP server of a node: Fastify with the node's limits, the routes of the registry, and the checks of requests.
//
//   request ─► who is asking ─► body parsed, checked ─► handler ─► answer counted
//                  └────────────────┴──────────────────────┴──► failure ─► problem.ts
import type { IncomingMessage, ServerResponse } from 'node:http';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchema,
} from 'fastify';
import type { Shapes } from '../api/endpoint.js';
import { type HostCheck, refuseHostLines } from '../api/host-names.js';
import { Nothing } from '../api/shapes.js';
import { Bug, Failure } from '../core/schema/failure.js';
import { setSessionCookie } from './access.js';
import { noteAdminAction } from './admin-log.js';
import { asGate, asOriginForm } from './any-method.js';
import type { Connections } from './connections.js';
import { parseBody, readWhole, refuseEncoded, textOf } from './json-body.js';
import type { NodeContext } from './node-context.js';
import { endPipeline, inTurns, pipelineOf } from './pipelines.js';
import {
  answerUnrouted,
  failureFrom,
  internalError,
  problemOf,
  retryAfterSeconds,
  sendProblem,
  type Unrouted,
  undecodable,
  whyUnrouted,
} from './problem.js';
import { sourceOf } from './request-source.js';
import { bodyLimitOf, changesState, type Route, type RouteRequest } from './route.js';
import { compileValidator } from './validators.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Known before the body is read. */
    route: Route;
    /** When it was authenticated, in Unix ms: a gate is decided at this time. */
    nowMs: number;
    bodyLength: number;
  }
}

interface ServerOptions {
  readonly log: FastifyBaseLogger;
  readonly logRequests: boolean;
  readonly trustProxy: readonly string[];
  readonly checkHost: HostCheck;
  readonly connections: Connections;
}

export async function createServer(
  context: NodeContext,
  routes: readonly Route[],
  { log, logRequests, trustProxy, checkHost, connections }: ServerOptions,
): Promise<FastifyInstance> {
  const { limits, counts, overload } = context;
  const unrouted =
    (refuse: (request: IncomingMessage) => Unrouted) => (request: IncomingMessage, response: ServerResponse) => {
      const status = answerUnrouted(refuse(request), request, response);
      counts.answersOf(undefined)[status]! += 1;
    };
  const refuseUndecodable = unrouted(undecodable);
  const app: FastifyInstance = Fastify({
    schemaController: { compilersFactory: { buildValidator: noOther } },
    serverFactory: (answer) => {
      const route: typeof answer = (request, response) => {
        asOriginForm(request);
        asGate(request);
        answer(request, response);
      };
      return connections.server(inTurns(overload, limits.waitingPerCaller, overload.before(route)));
    },
    trustProxy: trustProxy.length === 0 ? false : [...trustProxy],
    ...(logRequests ? { loggerInstance: log } : { logger: false }),
    // On the bare request: unknown routes are answered before their body is read.
    routerOptions: {
      compile: true,
      defaultRoute: unrouted((request) => whyUnrouted(app, routes, request)),
      onBadUrl: (_path, request, response) => refuseUndecodable(request, response),
      onMaxParamLength: (_path, request, response) => refuseUndecodable(request, response),
    },
    clientErrorHandler: (error, socket) => connections.refuse(error, socket),
  });
  app.decorateRequest('route');
  app.decorateRequest('caller', undefined);
  app.decorateRequest('nowMs', 0);
  app.decorateRequest('bodyLength', 0);
  app.setValidatorCompiler(compileValidator);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', jsonReader(context));
  app.setErrorHandler((error, request, reply) => {
    const failure = failureFrom(error);
    const { route } = request;
    // Fastify closes after a refused body. A body that was read is no reason.
    if (request.bodyLength > 0) reply.header('connection', reply.raw.shouldKeepAlive ? 'keep-alive' : 'close');
    if (reply.getHeader('connection') === 'close') endPipeline(request.raw);
    if (failure === undefined) log.error({ err: error, method: route?.method, path: route?.path }, 'internal error');
    else if (failure.status >= 500)
      log.warn({ err: failure, method: route?.method, path: route?.path }, failure.message);
    const problem = problemOf(failure ?? internalError());
    counts.answersOf(route)[problem.status]! += 1;
    return sendProblem(reply, problem, failure && retryAfterSeconds(failure, context.clock));
  });
  // All methods of a gate are routed as GET.
  const mounted = routes.filter(({ method, isGate }) => !isGate || method === 'GET');
  for (const route of mounted) mount(app, { context, checkHost, log }, route);
  await app.ready();
  return app;
}

/** Never called. Without it Fastify loads a validator of its own, which takes 30 ms. */
function noOther(): never {
  throw new Bug('no schema is added to the server');
}

type Parsed = (failure: Error | null, body?: object) => void;

function jsonReader({ limits, queue, bounds }: Pick<NodeContext, 'limits' | 'queue' | 'bounds'>) {
  return (request: FastifyRequest, _payload: unknown, done: Parsed): void => {
    const { route } = request;
    readWhole(request, bodyLimitOf(route, limits), bounds, (failure, body) => {
      if (failure !== undefined) return done(failure);
      if (body === null) return done(null);
      request.bodyLength = body.length;
      // Refusing costs several times what counting costs: on other routes each body takes its turn.
      if (body.length <= PARSED_AT_ONCE && route.skipsQueue === true) parse(route, body, done);
      else queue.take(sourceOf(request), () => parse(route, body, done));
    });
  };
}

function parse({ shapes }: Route, body: Buffer, done: Parsed): void {
  const wanted = shapes?.body !== undefined && 'items' in shapes.body ? 'array' : 'object';
  let parsed: object | undefined;
  try {
    if (body.length > 0) parsed = parseBody(textOf(body), wanted);
  } catch (error) {
    done(error as Error);
    return;
  }
  done(null, parsed);
}

/** Bytes of a body that is parsed on arrival; a longer one waits for its turn. */
const PARSED_AT_ONCE = 4_096;

function mount(
  app: FastifyInstance,
  { context, checkHost, log }: Pick<ServerOptions, 'checkHost' | 'log'> & { readonly context: NodeContext },
  route: Route,
): void {
  const { method, path, tier, isGate = false, hasHead = !isGate } = route;
  const { clock, counts, host, overload, limits } = context;
  const keepAlive = `timeout=${Math.floor(limits.keepAliveTimeoutMs / 1000)}`;
  const answers = counts.answersOf(route);
  // Supervisors do not queue.
  const skipsQueue = route.skipsQueue === true || tier === 'operations (public)';
  const isAdmin = route.scope === 'admin' && changesState(route);
  const count = (request: FastifyRequest, reply: FastifyReply, startMs: number, body: unknown) => {
    answers[reply.statusCode]! += 1;
    if (isAdmin) noteAdminAction(log, route, request, { status: reply.statusCode, body });
    if (!isGate) return;
    const { slug } = request.params as { slug: string };
    counts.gateTook(host.machines.get(slug), clock.monotonicMs() - startMs);
  };
  const { follow } = context.registry;
  const once = (request: FastifyRequest, reply: FastifyReply) =>
    route.handle(context, request as RouteRequest<Shapes, 'key'>, reply);
  const handle: typeof once =
    follow === undefined ? once : (request, reply) => afterFollowing(follow, () => once(request, reply));
  const schema = schemaOf(route);
  app.route({
    method,
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    schema,
    exposeHeadRoute: method === 'GET' && hasHead,
    onRequest: authenticate(context, route, checkHost),
    ...(isHot(route) ? {} : { serializerCompiler: () => JSON.stringify }),
    handler(request, reply) {
      // Answers are private, and of the stated type. A cacheable page overrides this.
      reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
      if (reply.raw.shouldKeepAlive) reply.header('keep-alive', keepAlive);
      const startMs = overload.turn.readMs;
      const answer = skipsQueue
        ? handle(request, reply)
        : inTurn(context, request, reply, () => handle(request, reply));
      if (!(answer instanceof Promise)) {
        count(request, reply, startMs, answer);
        return answer;
      }
      return answer.then((body) => {
        count(request, reply, startMs, body);
        return body;
      });
    },
  });
}

/** Another node may just have made these. When they are thrown, nothing has happened yet. */
const MISSING: ReadonlySet<string> = new Set([
  'machine_not_found',
  'contract_not_found',
  'key_not_found',
  'unknown_event_type',
]);

/** Retries once with the newest changes of other nodes if something was missing. */
async function afterFollowing(follow: () => Promise<void>, work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || !MISSING.has(error.code)) throw error;
    await follow();
    return work();
  }
}

function inTurn(
  { queue, limits }: NodeContext,
  request: FastifyRequest,
  reply: FastifyReply,
  handle: () => unknown,
): unknown {
  const source = sourceOf(request);
  if (queue.waitingOf(source) < limits.waitingPerCaller) return queue.of(source, handle);
  reply.header('retry-after', '1');
  throw new Failure('node_overloaded', {
    what: 'The request was refused, and changed nothing.',
    why: `${limits.waitingPerCaller} requests of this owner, or of this address, wait for their turn already.`,
    fix: 'Send fewer at a time.',
  });
}

function authenticate(context: NodeContext, route: Route, checkHost: HostCheck) {
  const { access, clock } = context;
  const changes = changesState(route);
  const tryToAuthenticate = (request: FastifyRequest) => {
    request.route = route;
    request.nowMs = clock.now();
    const { headers } = request.raw;
    refuseHostLines(request.raw);
    const gateway = route.gatewayOf?.(context, request);
    if (gateway === undefined) checkHost(headers.host);
    request.caller = gateway ?? access.callerOf(request, route, changes);
    if (request.caller !== undefined) pipelineOf(request.raw).isKnown = true;
    if (changes && !route.isGate) refuseEncoded(headers);
  };
  type Done = (error?: Error) => void;
  const refused = (error: unknown, request: FastifyRequest, reply: FastifyReply, done: Done) => {
    // A browser sends an expired session until its cookie is cleared, and could not even read pages with it.
    const isExpired = error instanceof Failure && error.code === 'credential_invalid';
    if (isExpired && request.raw.headers.authorization === undefined) setSessionCookie(request, reply, '', 0);
    done(error as Error);
  };
  return (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    try {
      tryToAuthenticate(request);
    } catch (error) {
      const { follow } = context.registry;
      if (follow === undefined) {
        refused(error, request, reply, done);
        return;
      }
      // Another node may just have made the key.
      const again = () => tryToAuthenticate(request);
      follow()
        .then(again, again)
        .then(
          () => done(),
          (last) => refused(last, request, reply, done),
        );
      return;
    }
    done();
  };
}

/** A serializer compiled from the schema is a fifth faster than JSON.stringify. */
function isHot({ skipsQueue = false }: Route): boolean {
  return skipsQueue;
}

function schemaOf(route: Route): FastifySchema {
  const { method, path, shapes = {}, answers, checksBody } = route;
  const { querystring, body } = shapes;
  // Load balancers and browsers may add parameters to a page; the API refuses unknown ones.
  const query = querystring ?? (path.startsWith('/api/') ? Nothing : undefined);
  const isChecked = method !== 'GET' && !checksBody;
  const response = Object.fromEntries(
    Object.entries(answers).flatMap(([status, { schema }]) => (schema === undefined ? [] : [[status, schema]])),
  );
  return {
    ...(query === undefined ? {} : { querystring: query }),
    ...(isChecked ? { body: body ?? Nothing } : {}),
    ...(isHot(route) ? { response } : {}),
  };
}
