// `@weir/cli/limit`: a rate limit in front of handlers, with the options of express-rate-limit.
//
//   const limiter = limit({ limit: '100 in 60s', standardHeaders: 'draft-8' });
//   app.use(limiter.express);            app.use(limiter.hono);
//   await app.register(limiter.fastify); export default { fetch: limiter.fetch(handler) };
//
//   request ─► skip? ─► key ─► counted ─► header fields ─► admitted: the handler     limited: 429 and message, or `handler`
import type { LimiterOptions } from '../../core/limiter/create-limiter.js';
import { networkOf } from '../../core/schema/address-network.js';
import { meantOr } from '../../core/schema/did-you-mean.js';
import { Failure, firstOf } from '../../core/schema/failure.js';
import { wallNowMs } from '../../core/time/wall.js';
import {
  type Adapters,
  type Awaitable,
  adaptersOf,
  isPending,
  type Limit,
  type LimitVerdict,
  proceed,
  type RateLimitInfo,
} from './adapters.js';
import {
  type Counter,
  type CounterAnswer,
  type NodeTarget,
  nodeCounter,
  ruleCounter,
  windowCounter,
} from './counters.js';
import { fieldsOf, type StandardHeaders } from './limit-headers.js';

export type { RateLimitInfo } from './adapters.js';

/** `Req` and `Res` are the framework's request and response: in Hono the context, in fetch handlers a `Request`. */
export interface LimitOptions<Req = unknown, Res = unknown> {
  /** Length of the window of a number as `limit`, in ms, from 1. Default: 60,000. */
  readonly windowMs?: number | undefined;
  /**
   * Requests of a window, from 0; or any limiter, in the words of `--limit` or as an object: `100 in 60s`, `nginx 10r/s burst=5`,
   * `{ threshold, within }`, `{ like: 'nginx', … }`, `{ primitive, params }`. Default: 5.
   */
  readonly limit?: number | LimiterOptions | undefined;
  /** Counts on a node instead of in this process. */
  readonly node?: NodeTarget | undefined;
  /** The key to count by. Default: the address, for IPv6 its /56 network. A fetch handler has no address. */
  readonly keyGenerator?: ((request: Req) => Awaitable<string>) | undefined;
  /** Whether not to count a request. Default: false. */
  readonly skip?: ((request: Req) => Awaitable<boolean>) | undefined;
  /** Body of a limited response; objects become JSON. Default: `Too many requests, please try again later.` */
  readonly message?: string | object | ((request: Req) => Awaitable<string | object>) | undefined;
  /** Status of a limited response. Default: 429. */
  readonly statusCode?: number | undefined;
  /** Answers a limited request: by `response` in Express and Fastify; Hono and fetch handlers return a `Response`. */
  readonly handler?: ((request: Req, response: Res, next: () => void, info: RateLimitInfo) => unknown) | undefined;
  /** The RateLimit fields to send; true: draft-6. Default: false. */
  readonly standardHeaders?: StandardHeaders | undefined;
  /** Whether X-RateLimit fields are sent. Default: true. */
  readonly legacyHeaders?: boolean | undefined;
  /** Name of the policy in draft-8. Default: for example `5-in-1min`. */
  readonly identifier?: string | undefined;
  /** Whether to admit while the node cannot be reached. Default: false: the framework gets the error. */
  readonly passOnStoreError?: boolean | undefined;
  /** Whether failed requests are taken back after the response; only for windows in this process. Default: false. */
  readonly skipFailedRequests?: boolean | undefined;
  /** The same for successful requests. Default: false. */
  readonly skipSuccessfulRequests?: boolean | undefined;
  /** Default: a status below 400. */
  readonly requestWasSuccessful?:
    | ((request: Req, response: { readonly statusCode: number }) => Awaitable<boolean>)
    | undefined;
  /** Maximum number of keys in this process, from 1. Default: 100,000. */
  readonly maxKeys?: number | undefined;
  /** What a new key gets when the table is full: refusal, or a count shared by all such keys. Default: `refuse`. */
  readonly overflow?: 'refuse' | 'share' | undefined;
}

const known: { readonly [Option in keyof Required<LimitOptions>]: true } = {
  windowMs: true,
  limit: true,
  node: true,
  keyGenerator: true,
  skip: true,
  message: true,
  statusCode: true,
  handler: true,
  standardHeaders: true,
  legacyHeaders: true,
  identifier: true,
  passOnStoreError: true,
  skipFailedRequests: true,
  skipSuccessfulRequests: true,
  requestWasSuccessful: true,
  maxKeys: true,
  overflow: true,
};

export interface Limiter extends Adapters {
  resetKey(key: string): void;
}

/**
 * A rate limit for Express, Fastify, Hono and fetch handlers; those of one limiter share its counts.
 * @throws Failure `invalid_input` (options out of range or exclusive), `invalid_definition` (the rule is not valid)
 */
export function limit<Req = unknown, Res = unknown>(options: LimitOptions<Req, Res> = {}): Limiter {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  // express-rate-limit called its limit `max` before.
  const asked = unknown === 'max' ? 'limit' : unknown;
  if (asked !== undefined)
    throw refused(unknown!, `is no option; ${meantOr(asked, Object.keys(known), 'see LimitOptions')}`);
  const counter = counterOf(options as LimitOptions);
  return { ...adaptersOf(coreOf(options as LimitOptions, counter)), resetKey: (key) => counter.reset?.(key) };
}

function coreOf(options: LimitOptions, counter: Counter): Limit {
  const {
    keyGenerator,
    skip,
    message = 'Too many requests, please try again later.',
    statusCode = 429,
    handler,
    standardHeaders = false,
    legacyHeaders = true,
    identifier,
    passOnStoreError = false,
    skipFailedRequests = false,
    skipSuccessfulRequests = false,
    requestWasSuccessful = (_, response) => response.statusCode < 400,
  } = options;
  const isTakenBack = skipFailedRequests || skipSuccessfulRequests;
  const writeFields = fieldsOf({ standardHeaders, legacyHeaders, identifier });
  const settle = async (request: unknown, status: number, undo: CounterAnswer['undo']) => {
    const hasSucceeded = status > 0 && (await requestWasSuccessful(request, { statusCode: status }));
    if (hasSucceeded ? skipSuccessfulRequests : skipFailedRequests) undo?.(wallNowMs());
  };
  const verdictOf = (request: unknown, key: string, nowMs: number, counted: CounterAnswer): LimitVerdict => {
    const { isAdmitted, limit, used, remaining, windowMs, resetMs, undo } = counted;
    const resetTime = Number.isFinite(resetMs) ? new Date(nowMs + resetMs) : undefined;
    return {
      isAdmitted,
      info: { limit, used, remaining, windowMs, key, resetTime },
      write: (set) => writeFields(counted, key, nowMs, set),
      // If `requestWasSuccessful` throws, the request stays counted.
      settle: isTakenBack ? (status) => void settle(request, status, undo).catch(() => {}) : undefined,
    };
  };
  const count = (request: unknown, key: string): Awaitable<LimitVerdict | undefined> => {
    const nowMs = wallNowMs();
    const counted = counter.hit(key, nowMs);
    const verdict = proceed(counted, (answer) => verdictOf(request, key, nowMs, answer));
    if (!passOnStoreError || !isPending(verdict)) return verdict;
    return verdict.catch(() => undefined);
  };
  return {
    statusCode,
    handler,
    messageFor: async (request) => (typeof message === 'function' ? message(request) : message),
    verdictOn: (request, address) =>
      proceed(skip?.(request), (isSkipped) => {
        if (isSkipped) return undefined;
        const key = keyGenerator === undefined ? keyOf(address) : keyGenerator(request);
        return proceed(key, (own) => count(request, own));
      }),
  };
}

function counterOf({ windowMs, limit: most = 5, node, ...options }: LimitOptions): Counter {
  const { maxKeys = 100_000, overflow = 'refuse', skipFailedRequests, skipSuccessfulRequests } = options;
  const bounds = { maxKeys, overflow };
  const isWindow = typeof most === 'number';
  const lengthMs = windowMs ?? 60_000;
  if (!(lengthMs >= 1 && lengthMs <= 2 ** 31)) throw refused('windowMs', 'must be from 1 to 2147483648');
  if (isWindow && !(Number.isSafeInteger(most) && most >= 0)) throw refused('limit', 'must be a whole number from 0');
  if (!Number.isSafeInteger(maxKeys) || maxKeys < 1) throw refused('maxKeys', 'must be a whole number from 1');
  if (!isWindow && windowMs !== undefined)
    throw refused('windowMs', 'is the window of a number: this limit has its own');
  if (!isWindow && node !== undefined) throw refused('node', 'excludes `limit`: the contract of the node has its own');
  const isOther = !isWindow || node !== undefined;
  if (isOther && (skipFailedRequests === true || skipSuccessfulRequests === true))
    throw refused(
      'skipFailedRequests',
      'works with a number as `limit` alone: other counts cannot take a request back',
    );
  if (node !== undefined) return nodeCounter(node);
  return isWindow ? windowCounter(lengthMs, most, bounds) : ruleCounter(most, bounds);
}

function keyOf(address: string | undefined): string {
  if (address !== undefined) return networkOf(address, 56);
  throw new Failure('wrong_usage', {
    what: 'The request was not counted.',
    why: 'It has no address, by which it could be counted.',
    fix: 'Give `keyGenerator`.',
  });
}

function refused(path: string, message: string): Failure {
  const what = 'The limit cannot be made.';
  const why = firstOf([{ path, message }]);
  return new Failure('invalid_input', { what, why, faults: [{ path: `/${path}`, message }] });
}
