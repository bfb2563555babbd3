// Products that behave like a structure, with their own parameter names where they have them. Section 3 of OTHER-LIMITERS.
import type { Parameters, Structure } from './structure.js';

const s = (ms: number) => Number((ms / 1000).toPrecision(6));

type Words = (parameters: Parameters) => readonly string[];

const perSecond = (spanMs: number) =>
  spanMs <= 1_000 ? `${Number((1_000 / spanMs).toPrecision(4))}r/s` : `${Number((60_000 / spanMs).toPrecision(4))}r/m`;

const inTicks: Words = () => [
  'juju/ratelimit, Bucket4j (intervally), Upstash tokenBucket, Spring Cloud Gateway, Envoy up to 1.30, ASP.NET Core token bucket',
];

const known: Readonly<Record<string, Words>> = {
  fixed: ({ limit, spanMs }) => [
    `express-rate-limit, hono-rate-limiter: windowMs ${spanMs}, limit ${limit}`,
    `@fastify/rate-limit: timeWindow ${spanMs}, max ${limit}`,
    `rate-limiter-flexible: duration ${s(spanMs)}, points ${limit}`,
    'koa-ratelimit in memory, lambda-rate-limiter, Python limits (fixed window)',
  ],
  'fixed-grid': ({ limit, spanMs }) => [
    `Upstash fixedWindow(${limit}, "${s(spanMs)} s"), Kong, django-ratelimit`,
    'Resilience4j, Bucket4j (intervally), ASP.NET Core fixed window, Envoy up to 1.30 with as many tokens as it fills in',
  ],
  'fixed-restart': ({ limit, spanMs }) => [
    `@fastify/rate-limit with continueExceeding: timeWindow ${spanMs}, max ${limit}`,
  ],
  'fixed-elastic': ({ limit, spanMs }) => [
    `HAProxy http_req_cnt with expire ${spanMs}ms, deny gt ${limit}`,
    'Python limits (fixed window, elastic expiry)',
  ],
  'fixed-backoff': () => ['@fastify/rate-limit on Redis with exponentialBackoff'],
  'fixed-block': ({ limit, spanMs, otherMs }) => [
    `rate-limiter-flexible: duration ${s(spanMs)}, points ${limit}, blockDuration ${s(otherMs)}`,
  ],
  log: ({ limit, spanMs }) => [
    `async-ratelimiter, koa-ratelimit on Redis: duration ${spanMs}, max ${limit}`,
    'Caddy (caddy-ratelimit), Python limits (moving window), @nestjs/throttler with blockDuration 0',
  ],
  'log-block': ({ limit, spanMs, otherMs }) => [
    `@nestjs/throttler: ttl ${spanMs}, limit ${limit}, blockDuration ${otherMs}`,
  ],
  counter: () => ['a sliding counter without rounding'],
  'counter-floor': ({ limit, spanMs }) => [
    `HAProxy gpc0_rate(${spanMs}ms), raised after the deny, ge ${limit}`,
    'Symfony RateLimiter (sliding window)',
  ],
  'counter-refused': ({ limit, spanMs }) => [`HAProxy http_req_rate(${spanMs}ms), deny gt ${limit}`],
  'counter-grid-floor': ({ limit, spanMs }) => [
    `Upstash slidingWindow(${limit}, "${s(spanMs)} s") without cache`,
    'Python limits (sliding window counter)',
  ],
  'counter-grid-cache': ({ limit, spanMs }) => [`Upstash slidingWindow(${limit}, "${s(spanMs)} s")`],
  'counter-grid-block': () => ['Cloudflare'],
  bucket: ({ limit, spanMs }) => [
    `nginx limit_req rate=${perSecond(spanMs)}${limit > 1 ? ` burst=${limit - 1} nodelay` : ''}`,
    `redis-cell CL.THROTTLE key ${limit - 1}, one each ${spanMs} ms`,
    'golang.org/x/time/rate, Envoy since 1.31, Bucket4j (greedy), Guava, throttled',
  ],
  'bucket-whole': ({ limit, spanMs }) => [`Varnish vsthrottle.is_denied(key, ${limit}, ${s(limit * spanMs)}s)`],
  'bucket-block': ({ limit, spanMs, otherMs }) => [
    `Varnish vsthrottle.is_denied(key, ${limit}, ${s(limit * spanMs)}s, ${s(otherMs)}s)`,
  ],
  'bucket-and-interval': () => ['limiter (RateLimiter) for Node.js'],
  'bucket-wait': ({ limit, spanMs }) => [
    `Traefik RateLimit: average ${Number((1_000 / spanMs).toPrecision(4))}, burst ${limit}`,
  ],
  'in-flight': ({ limit }) => [`nginx limit_conn ${limit}`],
  queue: ({ limit, spanMs, part }) => [
    `nginx limit_req rate=${perSecond(spanMs)} burst=${limit - 1}${part > 0 ? ` delay=${part}` : ''}`,
  ],
  'slow-down': ({ spanMs, otherMs, part }) => [
    `express-slow-down: windowMs ${spanMs}, delayAfter ${part}, delayMs ${otherMs}`,
  ],
  cycles: () => ['Weir: a threshold within a rolling window'],
  segments: () => ['ASP.NET Core SlidingWindowRateLimiter'],
  'bucket-ticks': inTicks,
  'bucket-ticks-first': inTicks,
};

export function productsLike({ id, part = 1 }: Structure, parameters: Parameters): readonly string[] {
  return known[id.split('/')[0]!]?.({ ...parameters, part }) ?? [];
}
