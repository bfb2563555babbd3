// Libraries of Go and of the JVM.
import {
  oneOf,
  optional,
  orNone,
  paced,
  perSecond,
  positive,
  product,
  rule,
  time,
  unannounced,
  untilTokens,
  whole,
} from './product.js';

/** Tokens at the ticks of a grid that starts with the process. */
const onGrid = { refill: 'interval', align: 'construction' } as const;

export const goAndJvm = {
  'x-time': product({
    product: 'golang.org/x/time/rate',
    params: {
      limit: positive('Events per second.'),
      burst: orNone('Events at once.'),
      wait: optional(time('Longest wait of a reservation. Default: none (Allow).', 'ms')),
    },
    paced: perSecond('limit'),
    example: { limit: 10, burst: 10 },
    rule({ limit: rate, burst: capacity, wait: max_wait_ms }) {
      const bucket = { rate, per_ms: 1000, capacity, refill: 'continuous', max_wait_ms };
      return rule('token_bucket', bucket, untilTokens, 0);
    },
  }),
  juju: product({
    product: 'juju/ratelimit 1.0',
    params: {
      fillInterval: time('Time between fills.', 'ms'),
      capacity: whole('The most tokens.'),
      quantum: optional(whole('Tokens of a fill.'), 1),
      maxWait: optional(time('Longest wait. Default: none (TakeAvailable).', 'ms')),
    },
    paced: paced('quantum', 'fillInterval'),
    example: { fillInterval: '100ms', capacity: 10 },
    rule({ fillInterval: per_ms, capacity, quantum: rate, maxWait: max_wait_ms }) {
      const waits = max_wait_ms === undefined ? {} : { max_wait_ms, allow_over_capacity: true };
      const bucket = { rate, per_ms, capacity, ...onGrid, stale_tick_when_full: true, ...waits };
      return rule('token_bucket', bucket, unannounced, 0);
    },
  }),
  uber: product({
    product: 'go.uber.org/ratelimit 0.3',
    params: {
      rate: positive('Starts per period.'),
      per: optional(time('', 's'), '1s'),
      slack: optional(whole('Starts that were not used and are kept.', 0), 10),
    },
    paced: paced('rate', 'per'),
    example: { rate: 10 },
    refused: 'refuses nothing: it holds',
    rule: ({ rate, per, slack }) => rule('uber_slack', { spacing_ms: per / rate, slack }, undefined, 0),
  }),
  guava: product({
    product: 'Guava 31 RateLimiter',
    params: {
      permitsPerSecond: positive('Permits per second.'),
      warmupPeriod: optional(time('How long it takes to warm up. Default: none (bursty).', 'ms')),
      call: optional(oneOf(['tryAcquire', 'acquire'], 'Refuse, or wait.'), 'tryAcquire'),
      timeout: optional(time('Longest wait of tryAcquire. Default: 0.', 'ms')),
    },
    paced: perSecond('permitsPerSecond'),
    example: { permitsPerSecond: 10 },
    rule({ permitsPerSecond: max_stored, warmupPeriod: warmup_ms, call, timeout: max_wait_ms }) {
      const waits = { interval_ms: 1000 / max_stored, queue: call === 'acquire' || undefined, max_wait_ms };
      if (warmup_ms === undefined) return rule('guava_bursty', { ...waits, max_stored, initial: 0 }, unannounced, 0);
      return rule('guava_warmup', { ...waits, warmup_ms, cold_factor: 3 }, unannounced, 0);
    },
  }),
  resilience4j: product({
    product: 'Resilience4j 2 AtomicRateLimiter',
    params: {
      limitForPeriod: whole('Permits of a period.'),
      limitRefreshPeriod: time('Length of the period.', 'ms'),
      timeoutDuration: optional(time('Longest wait.', 'ms'), '5s'),
    },
    paced: paced('limitForPeriod', 'limitRefreshPeriod'),
    example: { limitForPeriod: 10, limitRefreshPeriod: '1s', timeoutDuration: 0 },
    rule({ limitForPeriod: rate, limitRefreshPeriod: per_ms, timeoutDuration: max_wait_ms }) {
      const waits = max_wait_ms === 0 ? {} : { max_wait_ms, allow_over_capacity: true };
      return rule('token_bucket', { rate, per_ms, capacity: rate, ...onGrid, ...waits }, unannounced, 0);
    },
  }),
  bucket4j: product({
    product: 'Bucket4j 8',
    params: {
      capacity: whole('The most tokens.'),
      tokens: optional(whole('Tokens of a period. Default: the capacity.')),
      period: time('Length of the period.', 'ms'),
      refill: optional(oneOf(['greedy', 'intervally'], 'How tokens come back.'), 'greedy'),
    },
    paced: paced('tokens', 'period'),
    example: { capacity: 10, period: '1s' },
    rule({ capacity, tokens: rate = capacity, period: per_ms, refill }) {
      const comesBack = refill === 'greedy' ? { refill: 'continuous' } : onGrid;
      return rule('token_bucket', { rate, per_ms, capacity, ...comesBack }, undefined, 0);
    },
  }),
  spring: product({
    product: 'Spring Cloud Gateway RedisRateLimiter',
    params: {
      replenishRate: whole('Tokens of each second.'),
      burstCapacity: optional(whole('The most tokens. Default: the rate.')),
    },
    paced: perSecond('replenishRate'),
    example: { replenishRate: 10, burstCapacity: 20 },
    rule({ replenishRate: rate, burstCapacity: capacity = rate }) {
      const bucket = { rate, per_ms: 1000, capacity, refill: 'interval', align: 'epoch' };
      return rule('token_bucket', bucket, unannounced);
    },
  }),
};
