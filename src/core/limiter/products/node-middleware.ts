// Middleware of Node.js, for Express, Fastify, Hono, Koa, NestJS and functions.
import {
  atClockSecond,
  counts,
  inWholeSeconds,
  optional,
  orNone,
  paced,
  product,
  rule,
  store,
  time,
  whole,
  windowed,
  yesNo,
} from './product.js';

const windowMs = optional(time('Length of the window.', 'ms'), 60_000);

const express = (name: string) =>
  product({
    product: name,
    params: { windowMs, limit: optional(orNone('Requests of a window.'), 5) },
    paced: paced('limit', 'windowMs'),
    example: { windowMs: 1000, limit: 10 },
    refused: counts,
    rule: ({ windowMs, limit }) => rule('fixed_window', windowed(limit, windowMs), inWholeSeconds),
  });

export const nodeMiddleware = {
  'express-rate-limit': express('express-rate-limit 8, memory or Redis'),
  'hono-rate-limiter': express('hono-rate-limiter 0.5'),
  'express-slow-down': product({
    product: 'express-slow-down 3',
    params: {
      windowMs,
      delayAfter: optional(whole('Requests that are not held.', 0), 1),
      delayMs: whole('How much longer each further one is held, in ms.', 0),
    },
    paced: paced('delayAfter', 'windowMs'),
    example: { windowMs: 1000, delayAfter: 10, delayMs: 100 },
    refused: 'refuses nothing',
    rule: ({ windowMs: window_ms, delayAfter: free, delayMs: step_ms }) =>
      rule('fixed_window_delay', { free, step_ms, window_ms }),
  }),
  fastify: product({
    product: '@fastify/rate-limit 11',
    params: {
      max: optional(orNone('Requests of a window.'), 1000),
      timeWindow: optional(time('Length of the window.', 'ms'), '1 minute'),
      continueExceeding: yesNo('A refused request starts the window again.'),
      exponentialBackoff: yesNo('The announced wait doubles with each refused request.'),
      store: store('local', 'redis'),
      ban: optional(whole('From this number of refused requests on, the status is 403.', -1)),
    },
    paced: paced('max', 'timeWindow'),
    example: { max: 10, timeWindow: '1 second' },
    refused: counts,
    rule({ max, timeWindow, continueExceeding, exponentialBackoff = false, store: at, ban }) {
      const isRedis = at === 'redis';
      const backsOff = exponentialBackoff && continueExceeding !== true;
      const more = {
        refused_restart_window: continueExceeding === true || (backsOff && !isRedis) || undefined,
        refused_backoff: backsOff && isRedis ? 2 : undefined,
        edge: isRedis ? 'reset_after_end' : 'reset_at_end',
        ban_status_after: ban,
      };
      const announces = backsOff ? ({ wait: 'backoff', round: 'up_to_s' } as const) : inWholeSeconds;
      return rule('fixed_window', windowed(max, timeWindow, more), announces);
    },
  }),
  'koa-ratelimit': product({
    product: 'koa-ratelimit 6, memory or Redis',
    params: {
      max: optional(whole('Requests of a window.'), 2500),
      duration: optional(time('Length of the window.', 'ms'), '1 hour'),
      driver: store('memory', 'redis'),
    },
    paced: paced('max', 'duration'),
    example: { max: 10, duration: 1000 },
    rule({ max: limit, duration: window_ms, driver }) {
      const window = { limit, window_ms };
      if (driver === 'redis') return rule('sliding_log', { ...window, edge: 'expires_at_end' }, atClockSecond, 0);
      const params = { ...window, align: 'first', edge: 'reset_after_end' };
      return rule('fixed_window', params, { wait: 'window_end', round: 'down_to_s' }, 0.001);
    },
  }),
  'async-ratelimiter': product({
    product: 'async-ratelimiter 1.6',
    params: { max: whole('Requests of a window.'), duration: time('Length of the window.', 'ms') },
    paced: paced('max', 'duration'),
    example: { max: 10, duration: 1000 },
    rule: ({ max: limit, duration: window_ms }) =>
      rule('sliding_log', { limit, window_ms, edge: 'expires_at_end' }, atClockSecond, 0),
  }),
  'nestjs-throttler': product({
    product: '@nestjs/throttler 6',
    params: {
      ttl: time('How long a request counts.', 'ms'),
      limit: orNone('Requests that count at once.'),
      blockDuration: optional(time('How long the request that exceeds blocks. Default: ttl.', 'ms')),
    },
    paced: paced('limit', 'ttl'),
    example: { ttl: 1000, limit: 10 },
    refused: 'the first blocks',
    rule({ ttl: window_ms, limit, blockDuration: block_ms = window_ms }) {
      if (block_ms === 0) return rule('sliding_log', { limit, window_ms }, inWholeSeconds);
      return rule('sliding_log_block', { limit, window_ms, block_ms }, inWholeSeconds);
    },
  }),
  'lambda-rate-limiter': product({
    product: 'lambda-rate-limiter 4',
    params: { interval: time('Length of the window.', 'ms'), limit: orNone('Requests of a window.') },
    paced: paced('limit', 'interval'),
    example: { interval: 1000, limit: 10 },
    refused: counts,
    rule: ({ interval, limit }) => rule('fixed_window', windowed(limit, interval, { edge: 'reset_after_end' })),
  }),
};
