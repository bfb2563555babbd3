// Middleware of Node.js: what stands in front of the handlers of Express, Fastify, Hono, Koa, NestJS and functions.
import { Type } from '../../schema/json-schema.js';
import { strict } from '../rule/fields.js';
import {
  atClockSecond,
  counts,
  inWholeSeconds,
  msOf,
  nothing,
  product,
  rule,
  store,
  time,
  whole,
  windowed,
  yesNo,
} from './product.js';

const windowMs = time('Length of the window. Default: 60000.', 'ms');

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

export const nodeMiddleware = {
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
        ban: Type.Optional(whole('From this number of refused requests on, the status is 403.', -1)),
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
        return rule('sliding_log', { limit: max, window_ms, edge: 'expires_at_end' }, atClockSecond, 0);
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
      rule('sliding_log', { limit: max, window_ms: msOf(length, 1), edge: 'expires_at_end' }, atClockSecond, 0),
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
};
