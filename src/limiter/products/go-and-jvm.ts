// Libraries of Go and of the JVM.
import { Type } from '../../schema/json-schema.js';
import { strict } from '../rule/fields.js';
import { msOf, nothing, positive, product, rule, time, unannounced, untilTokens, whole } from './product.js';

export const goAndJvm = {
  'x-time': product({
    product: 'golang.org/x/time/rate',
    params: Type.Object(
      {
        limit: positive('Events per second.'),
        burst: whole('Events at once.'),
        wait: Type.Optional(time('Longest wait of a reservation. Default: none (Allow).', 'ms')),
      },
      strict,
    ),
    example: { limit: 10, burst: 10 },
    refused: nothing,
    rule: ({ limit, burst, wait }) =>
      rule(
        'token_bucket',
        {
          rate: limit,
          per_ms: 1000,
          capacity: burst,
          refill: 'continuous',
          max_wait_ms: msOf(wait, 1),
        },
        untilTokens,
        0,
      ),
  }),
  juju: product({
    product: 'juju/ratelimit 1.0',
    params: Type.Object(
      {
        fillInterval: time('Time between fills.', 'ms'),
        capacity: whole('The most tokens.'),
        quantum: Type.Optional(whole('Tokens of a fill. Default: 1.')),
        maxWait: Type.Optional(time('Longest wait. Default: none (TakeAvailable).', 'ms')),
      },
      strict,
    ),
    example: { fillInterval: '100ms', capacity: 10 },
    refused: nothing,
    rule({ fillInterval, capacity, quantum = 1, maxWait }) {
      const bucket = {
        rate: quantum,
        per_ms: msOf(fillInterval, 1),
        capacity,
        refill: 'interval',
        align: 'construction',
      };
      const waits = maxWait === undefined ? {} : { max_wait_ms: msOf(maxWait, 1), allow_over_capacity: true };
      return rule('token_bucket', { ...bucket, stale_tick_when_full: true, ...waits }, unannounced, 0);
    },
  }),
  uber: product({
    product: 'go.uber.org/ratelimit 0.3',
    params: Type.Object(
      {
        rate: positive('Starts per period.'),
        per: Type.Optional(time('Default: 1s.', 's')),
        slack: Type.Optional(whole('Starts that were not used and are kept. Default: 10.', 0)),
      },
      strict,
    ),
    example: { rate: 10 },
    refused: 'refuses nothing: it holds',
    rule: ({ rate, per = '1s', slack = 10 }) =>
      rule('uber_slack', { spacing_ms: msOf(per, 1000) / rate, slack }, undefined, 0),
  }),
  guava: product({
    product: 'Guava 31 RateLimiter',
    params: Type.Object(
      {
        permitsPerSecond: positive('Permits per second.'),
        warmupPeriod: Type.Optional(time('How long it takes to warm up. Default: none (bursty).', 'ms')),
        call: Type.Optional(
          Type.Enum(['tryAcquire', 'acquire'], { description: 'Refuse, or wait. Default: tryAcquire.' }),
        ),
        timeout: Type.Optional(time('Longest wait of tryAcquire. Default: 0.', 'ms')),
      },
      strict,
    ),
    example: { permitsPerSecond: 10 },
    refused: nothing,
    rule({ permitsPerSecond, warmupPeriod, call, timeout }) {
      const waits = {
        queue: call === 'acquire' || undefined,
        max_wait_ms: msOf(timeout, 1),
      };
      const interval_ms = 1000 / permitsPerSecond;
      return warmupPeriod === undefined
        ? rule('guava_bursty', { interval_ms, max_stored: permitsPerSecond, initial: 0, ...waits }, unannounced, 0)
        : rule(
            'guava_warmup',
            { interval_ms, warmup_ms: msOf(warmupPeriod, 1), cold_factor: 3, ...waits },
            unannounced,
            0,
          );
    },
  }),
  resilience4j: product({
    product: 'Resilience4j 2 AtomicRateLimiter',
    params: Type.Object(
      {
        limitForPeriod: whole('Permits of a period.'),
        limitRefreshPeriod: time('Length of the period.', 'ms'),
        timeoutDuration: Type.Optional(time('Longest wait. Default: 5s.', 'ms')),
      },
      strict,
    ),
    example: { limitForPeriod: 10, limitRefreshPeriod: '1s', timeoutDuration: 0 },
    refused: nothing,
    rule({ limitForPeriod, limitRefreshPeriod, timeoutDuration = '5s' }) {
      const bucket = { rate: limitForPeriod, per_ms: msOf(limitRefreshPeriod, 1), capacity: limitForPeriod };
      const longest = msOf(timeoutDuration, 1);
      const waits = longest === 0 ? {} : { max_wait_ms: longest, allow_over_capacity: true };
      return rule('token_bucket', { ...bucket, refill: 'interval', align: 'construction', ...waits }, unannounced, 0);
    },
  }),
  bucket4j: product({
    product: 'Bucket4j 8',
    params: Type.Object(
      {
        capacity: whole('The most tokens.'),
        tokens: Type.Optional(whole('Tokens of a period. Default: the capacity.')),
        period: time('Length of the period.', 'ms'),
        refill: Type.Optional(
          Type.Enum(['greedy', 'intervally'], { description: 'How tokens come back. Default: greedy.' }),
        ),
      },
      strict,
    ),
    example: { capacity: 10, period: '1s' },
    refused: nothing,
    rule: ({ capacity, tokens = capacity, period, refill = 'greedy' }) =>
      rule(
        'token_bucket',
        {
          rate: tokens,
          per_ms: msOf(period, 1),
          capacity,
          refill: refill === 'greedy' ? 'continuous' : 'interval',
          align: refill === 'greedy' ? undefined : 'construction',
        },
        undefined,
        0,
      ),
  }),
  spring: product({
    product: 'Spring Cloud Gateway RedisRateLimiter',
    params: Type.Object(
      {
        replenishRate: whole('Tokens of each second.'),
        burstCapacity: Type.Optional(whole('The most tokens. Default: the rate.')),
      },
      strict,
    ),
    example: { replenishRate: 10, burstCapacity: 20 },
    refused: nothing,
    rule: ({ replenishRate, burstCapacity = replenishRate }) =>
      rule(
        'token_bucket',
        { rate: replenishRate, per_ms: 1000, capacity: burstCapacity, refill: 'interval', align: 'epoch' },
        unannounced,
      ),
  }),
};
