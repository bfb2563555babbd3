// The same limit for each framework. The types of the frameworks are declared here as far as needed, so none has to be installed.
import type { CounterAnswer } from './counters.js';
import type { SetField } from './limit-headers.js';

export type Awaitable<T> = T | Promise<T>;

export function isPending<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof (value as Partial<Promise<T>> | undefined)?.then === 'function';
}

/** In the same turn if nothing waits: a promise costs more than the count. */
export function proceed<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return isPending(value) ? value.then(next) : next(value);
}

/** A counted request: `request.rateLimit` in Express and Fastify. */
export interface RateLimitInfo extends Pick<CounterAnswer, 'limit' | 'used' | 'remaining' | 'windowMs'> {
  readonly key: string;
  /** When the window ends, or a request would be admitted; undefined for never. */
  readonly resetTime: Date | undefined;
}

export interface LimitVerdict {
  readonly isAdmitted: boolean;
  readonly info: RateLimitInfo;
  /** Sets the header fields. */
  readonly write: (set: SetField) => void;
  /** Called once with the response status, 0 if the client disconnected; undefined if nothing depends on it. */
  readonly settle: ((statusCode: number) => void) | undefined;
}

export interface Limit {
  verdictOn(request: unknown, address: string | undefined): Awaitable<LimitVerdict | undefined>;
  readonly statusCode: number;
  messageFor(request: unknown): Promise<string | object>;
  readonly handler:
    | ((request: unknown, response: unknown, next: () => void, info: RateLimitInfo) => unknown)
    | undefined;
}

interface NodeResponse {
  readonly statusCode: number;
  readonly writableEnded: boolean;
  setHeader(name: string, value: string): unknown;
  once(event: string, listener: () => void): unknown;
}

interface ExpressRequest {
  readonly ip?: string | undefined;
}

interface ExpressResponse extends NodeResponse {
  status(code: number): unknown;
  send(body: unknown): unknown;
}

interface FastifyRequest {
  readonly ip: string;
}

interface FastifyReply {
  readonly raw: NodeResponse;
  readonly sent: boolean;
  header(name: string, value: string): unknown;
  code(status: number): unknown;
  send(body: unknown): unknown;
}

interface FastifyInstance {
  addHook(
    name: 'onRequest',
    hook: (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void,
  ): unknown;
}

interface HonoContext {
  readonly env?: unknown;
  res: Response;
  header(name: string, value: string): void;
}

type FetchHandler<Rest extends unknown[]> = (request: Request, ...rest: Rest) => Response | Promise<Response>;

export interface Adapters {
  /** `app.use(limiter.express)`. Sets `request.rateLimit`. */
  readonly express: (request: ExpressRequest, response: ExpressResponse, next: (error?: unknown) => void) => void;
  /** `app.register(limiter.fastify)`. Limits the routes beside it and below. */
  readonly fastify: (app: FastifyInstance) => Promise<void>;
  /** `app.use(limiter.hono)`. */
  readonly hono: (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined>;
  readonly fetch: <Rest extends unknown[]>(handler: FetchHandler<Rest>) => FetchHandler<Rest>;
}

export function adaptersOf(limit: Limit): Adapters {
  return { express: express(limit), fastify: fastify(limit), hono: hono(limit), fetch: fetchHandler(limit) };
}

function express(limit: Limit): Adapters['express'] {
  return (request, response, next) =>
    pass(limit, request, response, next, {
      set: (name, value) => response.setHeader(name, value),
      refuse: async (info) => {
        if (limit.handler !== undefined) return void (await limit.handler(request, response, next, info));
        response.status(limit.statusCode);
        const message = await limit.messageFor(request);
        if (!response.writableEnded) response.send(message);
      },
    });
}

function fastify(limit: Limit): Adapters['fastify'] {
  const plugin = async (app: FastifyInstance) => {
    app.addHook('onRequest', (request, reply, done) =>
      pass(limit, request, reply.raw, done, {
        set: (name, value) => reply.header(inLowerCase(name), value),
        refuse: async (info) => {
          if (limit.handler === undefined) {
            reply.code(limit.statusCode);
            reply.send(await limit.messageFor(request));
            return;
          }
          await limit.handler(request, reply, () => {}, info);
          if (!reply.sent) done();
        },
      }),
    );
  };
  // As fastify-plugin does: the hooks apply to the instance that registers the plugin.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}

const lowerCase = new Map<string, string>();

/** Fastify sends names so. Made once: a new string is searched among all strings before it is the name of a property. */
function inLowerCase(name: string): string {
  if (!lowerCase.has(name)) lowerCase.set(name, name.toLowerCase());
  return lowerCase.get(name)!;
}

/**
 * Goes on with the verdict, at once if it is there; `next` takes a request that is skipped, and errors. Sets `request.rateLimit`, and
 * settles when the response ends.
 */
function pass(
  limit: Limit,
  request: ExpressRequest & { rateLimit?: RateLimitInfo },
  response: NodeResponse,
  next: (error?: Error) => void,
  { set, refuse }: { readonly set: SetField; readonly refuse: (info: RateLimitInfo) => Promise<void> },
): void {
  let verdict: Awaitable<LimitVerdict | undefined>;
  try {
    verdict = limit.verdictOn(request, request.ip);
  } catch (error) {
    next(error as Error);
    return;
  }
  const done = proceed(verdict, (made): Awaitable<void> => {
    if (made === undefined) return next();
    const { isAdmitted, info, settle } = made;
    made.write(set);
    request.rateLimit = info;
    if (settle !== undefined) response.once('close', () => settle(response.writableEnded ? response.statusCode : 0));
    return isAdmitted ? next() : refuse(info);
  });
  if (isPending(done)) done.catch(next);
}

function hono(limit: Limit): Adapters['hono'] {
  return async (context, next) => {
    const verdict = await limit.verdictOn(context, addressIn(context.env));
    if (verdict === undefined) {
      await next();
      return undefined;
    }
    verdict.write((name, value) => context.header(name, value));
    if (!verdict.isAdmitted) {
      const response = await limitedResponse(limit, context, next, verdict.info);
      verdict.write((name, value) => response.headers.set(name, value));
      verdict.settle?.(response.status);
      return response;
    }
    try {
      await next();
      verdict.settle?.(context.res.status);
    } catch (error) {
      verdict.settle?.(500);
      throw error;
    }
    return undefined;
  };
}

function fetchHandler(limit: Limit): Adapters['fetch'] {
  return (handler) =>
    async (request, ...rest) => {
      const verdict = await limit.verdictOn(request, undefined);
      if (verdict === undefined) return handler(request, ...rest);
      try {
        const response = verdict.isAdmitted
          ? await handler(request, ...rest)
          : await limitedResponse(limit, request, () => {}, verdict.info);
        verdict.settle?.(response.status);
        // The headers of a response of `fetch` are immutable.
        const { status, statusText, body } = response;
        const headers = new Headers(response.headers);
        verdict.write((name, value) => headers.set(name, value));
        return new Response(body, { status, statusText, headers });
      } catch (error) {
        verdict.settle?.(500);
        throw error;
      }
    };
}

async function limitedResponse(
  limit: Limit,
  request: unknown,
  next: () => unknown,
  info: RateLimitInfo,
): Promise<Response> {
  const made = await limit.handler?.(request, undefined, () => void next(), info);
  if (made instanceof Response) return new Response(made.body, made);
  const message = await limit.messageFor(request);
  const { statusCode: status } = limit;
  return typeof message === 'string' ? new Response(message, { status }) : Response.json(message, { status });
}

function addressIn(env: unknown): string | undefined {
  const { incoming } = (env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } };
  return incoming?.socket?.remoteAddress;
}
