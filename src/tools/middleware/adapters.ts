// The same limit for each framework. The types of the frameworks are declared here as far as needed, so none has to be installed.
import type { CounterAnswer } from './counters.js';

/** A counted request: `request.rateLimit` in Express and Fastify. */
export interface RateLimitInfo extends Omit<CounterAnswer, 'undo' | 'isAdmitted' | 'resetMs'> {
  readonly key: string;
  /** When the window ends, or a request would be admitted; undefined for never. */
  readonly resetTime: Date | undefined;
}

interface Verdict {
  readonly isAdmitted: boolean;
  readonly info: RateLimitInfo;
  readonly headers: readonly [string, string][];
  /** Called once with the response status, 0 if the client disconnected; undefined if nothing depends on it. */
  readonly settle: ((statusCode: number) => void) | undefined;
}

export interface Limit {
  decide(request: unknown, address: string | undefined): Promise<Verdict | undefined>;
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
  addHook(name: 'onRequest', hook: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
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
  const handle = async (request: ExpressRequest, response: ExpressResponse, next: () => void) => {
    const verdict = await limit.decide(request, request.ip);
    if (verdict === undefined) return void next();
    for (const [name, value] of verdict.headers) response.setHeader(name, value);
    note(request, verdict, response);
    if (verdict.isAdmitted) return void next();
    if (limit.handler !== undefined) return void (await limit.handler(request, response, next, verdict.info));
    response.status(limit.statusCode);
    const message = await limit.messageFor(request);
    if (!response.writableEnded) response.send(message);
  };
  return (request, response, next) => void handle(request, response, next).catch(next);
}

function fastify(limit: Limit): Adapters['fastify'] {
  const plugin = async (app: FastifyInstance) => {
    app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
      const verdict = await limit.decide(request, request.ip);
      if (verdict === undefined) return undefined;
      for (const [name, value] of verdict.headers) reply.header(name, value);
      note(request, verdict, reply.raw);
      if (verdict.isAdmitted) return undefined;
      if (limit.handler !== undefined) {
        await limit.handler(request, reply, () => {}, verdict.info);
        return reply.sent ? reply : undefined;
      }
      reply.code(limit.statusCode);
      reply.send(await limit.messageFor(request));
      return reply;
    });
  };
  // As fastify-plugin does: the hooks apply to the instance that registers the plugin.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}

function hono(limit: Limit): Adapters['hono'] {
  return async (context, next) => {
    const verdict = await limit.decide(context, addressIn(context.env));
    if (verdict === undefined) {
      await next();
      return undefined;
    }
    for (const [name, value] of verdict.headers) context.header(name, value);
    if (!verdict.isAdmitted) {
      const response = await limitedResponse(limit, context, next, verdict.info);
      for (const [name, value] of verdict.headers) response.headers.set(name, value);
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
      const verdict = await limit.decide(request, undefined);
      if (verdict === undefined) return handler(request, ...rest);
      try {
        const response = verdict.isAdmitted
          ? await handler(request, ...rest)
          : await limitedResponse(limit, request, () => {}, verdict.info);
        verdict.settle?.(response.status);
        // The headers of a response of `fetch` are immutable.
        const { status, statusText, body } = response;
        const headers = new Headers(response.headers);
        for (const [name, value] of verdict.headers) headers.set(name, value);
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

/** Sets `request.rateLimit`, and settles when the response ends. */
function note(request: object, { info, settle }: Verdict, response: NodeResponse): void {
  (request as { rateLimit?: RateLimitInfo }).rateLimit = info;
  if (settle !== undefined) response.once('close', () => settle(response.writableEnded ? response.statusCode : 0));
}

function addressIn(env: unknown): string | undefined {
  const { incoming } = (env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } };
  return incoming?.socket?.remoteAddress;
}
