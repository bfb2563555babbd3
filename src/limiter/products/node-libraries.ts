// Libraries of Node.js.
import { Type } from '../../schema/json-schema.js';
import { strict } from '../rule/fields.js';
import {
  counts,
  inWholeSeconds,
  msOf,
  nothing,
  positive,
  product,
  rule,
  time,
  toWindowEnd,
  untilTokens,
  whole,
  yesNo,
} from './product.js';

const windowMs = time('Length of the window. Default: 60000.', 'ms');
const store = (a: string, b: string) =>
  Type.Optional(Type.Enum([a, b], { description: `Where counts are kept. Default: ${a}.` }));
const duration = positive('Length of the window in s.');
const points = whole('Points of a window.');

const windowed = (limit: number, window_ms: number, more: object = {}) => ({
  limit,
  window_ms,
  align: 'first',
  count_refused: true,
  ...more,
});

/** express-rate-limit and what was made after it. */
const express = (product_: string) =>
  product({
    product: product_,
    params: Type.Object(
      { windowMs: Type.Optional(windowMs), limit: Type.Optional(whole('Requests of a window. Default: 5.')) },
      strict,
    ),
    example: { windowMs: 1000, limit: 10 },
    refused: counts,
    rule: ({ windowMs = 60_000, limit = 5 }) =>
      rule('fixed_window', windowed(limit, msOf(windowMs, 1)), inWholeSeconds),
  });

export const nodeLibraries = {
  'express-rate-limit': express('express-rate-limit 8, memory or Redis'),
  'hono-rate-limiter': express('hono-rate-limiter 0.5'),
  'express-slow-down': product({
    product: 'express-slow-down 3',
    params: Type.Object(
      {
        windowMs: Type.Optional(windowMs),
        delayAfter: Type.Optional(whole('Requests that are not held. Default: 1.', 0)),
        delayMs: whole('How much longer each further one is held, in ms.', 0),
      },
      strict,
    ),
    example: { windowMs: 1000, delayAfter: 10, delayMs: 100 },
    refused: 'refuses nothing',
    rule: ({ windowMs = 60_000, delayAfter = 1, delayMs }) =>
      rule('fixed_window_delay', { free: delayAfter, step_ms: delayMs, window_ms: msOf(windowMs, 1) }),
  }),
  fastify: product({
    product: '@fastify/rate-limit 11',
    params: Type.Object(
      {
        max: Type.Optional(whole('Requests of a window. Default: 1000.')),
        timeWindow: Type.Optional(time('Length of the window. Default: 1 minute.', 'ms')),
        continueExceeding: yesNo('A refused request starts the window again. Default: false.'),
        exponentialBackoff: yesNo('The announced wait doubles with each refused request. Default: false.'),
        store: store('local', 'redis'),
        ban: Type.Optional(whole('From so many refused requests on the status is 403.', -1)),
      },
      strict,
    ),
    example: { max: 10, timeWindow: '1 second' },
    refused: counts,
    rule({ max = 1000, timeWindow = 60_000, continueExceeding, exponentialBackoff = false, store: at = 'local', ban }) {
      const isRedis = at === 'redis';
      const restarts = continueExceeding === true || (exponentialBackoff && !isRedis);
      const more = {
        refused_restart_window: restarts || undefined,
        refused_backoff: exponentialBackoff && isRedis ? 2 : undefined,
        edge: isRedis ? 'reset_after_end' : 'reset_at_end',
        ban_status_after: ban,
      };
      return rule(
        'fixed_window',
        windowed(max, msOf(timeWindow, 1), more),
        exponentialBackoff ? { wait: 'backoff', round: 'up_to_s' } : inWholeSeconds,
      );
    },
  }),
  'rate-limiter-flexible': product({
    product: 'rate-limiter-flexible 11, memory or Redis',
    params: Type.Object(
      {
        points,
        duration,
        blockDuration: Type.Optional(positive('How long the request that exceeds blocks, in s.')),
        execEvenly: yesNo('Admitted requests are spread over the window. Default: false.'),
        inMemoryBlockDuration: Type.Optional(positive('How long a refusal blocks in this process, in s.')),
        store: store('memory', 'redis'),
      },
      strict,
    ),
    example: { points: 10, duration: 1 },
    refused: counts,
    rule({ points: limit, duration: s, blockDuration: block, execEvenly, inMemoryBlockDuration: local, store: at }) {
      const window_ms = s * 1000;
      if (execEvenly === true) return rule('fixed_window_exec_evenly', { limit, window_ms }, toWindowEnd);
      const more = {
        edge: at === 'redis' ? 'reset_after_end' : 'reset_at_end',
        block_ms: block === undefined ? undefined : block * 1000,
        local_block_ms: local === undefined ? undefined : local * 1000,
      };
      return rule('fixed_window', windowed(limit, window_ms, more), toWindowEnd);
    },
  }),
  'rate-limiter-flexible-bursty': product({
    product: 'rate-limiter-flexible 11 BurstyRateLimiter',
    params: Type.Object(
      {
        points,
        duration,
        burstPoints: whole('Points of the burst, used where the others are spent.'),
        burstDuration: positive('Length of the window of the burst in s.'),
      },
      strict,
    ),
    example: { points: 10, duration: 1, burstPoints: 5, burstDuration: 10 },
    refused: counts,
    rule({ points: limit, duration: s, burstPoints, burstDuration }) {
      const one = (most: number, seconds: number) => ({
        primitive: 'fixed_window',
        params: windowed(most, seconds * 1000),
      });
      return rule('or', { a: one(limit, s), b: one(burstPoints, burstDuration) }, toWindowEnd);
    },
  }),
  'rate-limiter-flexible-union': product({
    product: 'rate-limiter-flexible 11 RateLimiterUnion',
    params: Type.Object(
      {
        limits: Type.Array(Type.Array(Type.Number({ minimum: 1, maximum: 1e9 }), { minItems: 2, maxItems: 2 }), {
          minItems: 1,
          maxItems: 16,
          description: 'Pairs of points and seconds.',
        }),
      },
      strict,
    ),
    example: {
      limits: [
        [10, 1],
        [50, 10],
      ],
    },
    refused: 'counts in all of them',
    rule: ({ limits }) =>
      rule('and_all_charged', { limits: limits.map(([most, s]) => [most, s! * 1000]), align: 'first' }, toWindowEnd),
  }),
  'koa-ratelimit': product({
    product: 'koa-ratelimit 6, memory or Redis',
    params: Type.Object(
      {
        max: Type.Optional(whole('Requests of a window. Default: 2500.')),
        duration: Type.Optional(time('Length of the window. Default: 1 hour.', 'ms')),
        driver: store('memory', 'redis'),
      },
      strict,
    ),
    example: { max: 10, duration: 1000 },
    refused: nothing,
    rule({ max = 2500, duration: length = 3_600_000, driver = 'memory' }) {
      const window_ms = msOf(length, 1);
      if (driver === 'redis')
        return rule('sliding_log', { limit: max, window_ms, edge: 'expires_at_end' }, undefined, 0);
      const params = { limit: max, window_ms, align: 'first', edge: 'reset_after_end' };
      return rule('fixed_window', params, { wait: 'window_end', round: 'down_to_s' }, 0.001);
    },
  }),
  'async-ratelimiter': product({
    product: 'async-ratelimiter 1.6',
    params: Type.Object({ max: whole('Requests of a window.'), duration: time('Length of the window.', 'ms') }, strict),
    example: { max: 10, duration: 1000 },
    refused: nothing,
    rule: ({ max, duration: length }) =>
      rule('sliding_log', { limit: max, window_ms: msOf(length, 1), edge: 'expires_at_end' }, undefined, 0),
  }),
  'nestjs-throttler': product({
    product: '@nestjs/throttler 6',
    params: Type.Object(
      {
        ttl: time('How long a request counts.', 'ms'),
        limit: whole('Requests that count at once.'),
        blockDuration: Type.Optional(time('How long the request that exceeds blocks. Default: ttl.', 'ms')),
      },
      strict,
    ),
    example: { ttl: 1000, limit: 10 },
    refused: 'the first blocks',
    rule({ ttl, limit, blockDuration = ttl }) {
      const window_ms = msOf(ttl, 1);
      const block_ms = msOf(blockDuration, 1);
      return block_ms === 0
        ? rule('sliding_log', { limit, window_ms }, inWholeSeconds)
        : rule('sliding_log_block', { limit, window_ms, block_ms }, inWholeSeconds);
    },
  }),
  'lambda-rate-limiter': product({
    product: 'lambda-rate-limiter 4',
    params: Type.Object(
      { interval: time('Length of the window.', 'ms'), limit: whole('Requests of a window.') },
      strict,
    ),
    example: { interval: 1000, limit: 10 },
    refused: counts,
    rule: ({ interval, limit }) =>
      rule('fixed_window', windowed(limit, msOf(interval, 1), { edge: 'reset_after_end' })),
  }),
  limiter: product({
    product: 'limiter 4 RateLimiter',
    params: Type.Object(
      { tokensPerInterval: whole('Tokens of an interval.'), interval: time('Length of the interval.', 'ms') },
      strict,
    ),
    example: { tokensPerInterval: 10, interval: 1000 },
    refused: nothing,
    rule({ tokensPerInterval: rate, interval }) {
      const per_ms = msOf(interval, 1);
      return rule('token_bucket_and_interval', { rate, per_ms, capacity: rate, interval_ms: per_ms });
    },
  }),
  'limiter-token-bucket': product({
    product: 'limiter 4 TokenBucket, empty at first',
    params: Type.Object(
      {
        bucketSize: whole('The most tokens.'),
        tokensPerInterval: whole('Tokens of an interval.'),
        interval: time('Length of the interval.', 'ms'),
      },
      strict,
    ),
    example: { bucketSize: 10, tokensPerInterval: 10, interval: 1000 },
    refused: nothing,
    rule: ({ bucketSize, tokensPerInterval, interval }) =>
      rule(
        'token_bucket',
        { rate: tokensPerInterval, per_ms: msOf(interval, 1), capacity: bucketSize, initial: 0, exact_float: true },
        { wait: 'whole_tokens', round: 'up_to_ms' },
      ),
  }),
  convex: product({
    product: '@convex-dev/rate-limiter 0.4',
    params: Type.Object(
      {
        kind: Type.Enum(['token bucket', 'fixed window'], { description: 'How tokens come back.' }),
        rate: whole('Tokens of a period.'),
        period: time('Length of the period.', 'ms'),
        capacity: Type.Optional(whole('The most tokens. Default: the rate.')),
        start: Type.Optional(time('Where windows begin. Default: 0; the product draws it.', 'ms')),
      },
      strict,
    ),
    example: { kind: 'token bucket', rate: 10, period: 1000 },
    refused: nothing,
    rule({ kind, rate, period, capacity = rate, start = 0 }) {
      const bucket = { rate, per_ms: msOf(period, 1), capacity };
      const more =
        kind === 'token bucket'
          ? { refill: 'continuous', exact_float: true }
          : { refill: 'interval', align: 'epoch', phase_ms: msOf(start, 1) % bucket.per_ms };
      return rule('token_bucket', { ...bucket, ...more }, untilTokens);
    },
  }),
  upstash: product({
    product: '@upstash/ratelimit 2',
    params: Type.Object(
      {
        algorithm: Type.Enum(['fixedWindow', 'slidingWindow', 'tokenBucket'], { description: 'The rule.' }),
        tokens: whole('Requests of a window, or the most tokens.'),
        window: time('Length of the window, or of the interval of the bucket.', 'ms'),
        refillRate: Type.Optional(whole('Tokens of an interval, for tokenBucket. Default: tokens.')),
        ephemeralCache: yesNo(
          'A refusal of slidingWindow blocks in this process until the window ends. Default: true.',
        ),
      },
      strict,
    ),
    example: { algorithm: 'slidingWindow', tokens: 10, window: '1 s' },
    refused: 'nothing, or counts (fixedWindow)',
    rule({ algorithm, tokens: limit, window, refillRate = limit, ephemeralCache = true }) {
      const window_ms = msOf(window, 1);
      switch (algorithm) {
        case 'fixedWindow':
          return rule('fixed_window', { limit, window_ms, align: 'epoch', count_refused: true }, toWindowEnd);
        case 'tokenBucket': {
          const bucket = { rate: refillRate, per_ms: window_ms, capacity: limit, refill: 'interval', align: 'first' };
          return rule('token_bucket', { ...bucket, forget_when_full: true });
        }
        default: {
          const upstash = {
            floor_prev: true,
            cost_overshoot: true,
            block_until_window_end: ephemeralCache || undefined,
          };
          return rule('sliding_counter', { limit, window_ms, align: 'epoch', ...upstash }, toWindowEnd);
        }
      }
    },
  }),
};
