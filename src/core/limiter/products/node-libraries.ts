// Rate limiting libraries of Node.js that a program calls itself.
import { Failure } from '../../schema/failure.js';
import { Type } from '../../schema/json-schema.js';
import {
  counts,
  oneOf,
  optional,
  orNone,
  paced,
  product,
  rule,
  seconds,
  store,
  time,
  toWindowEnd,
  untilTokens,
  whole,
  windowed,
  yesNo,
} from './product.js';

const duration = seconds('Length of the window in s.');

const pairs = {
  schema: () =>
    Type.Array(Type.Array(Type.Number({ minimum: 1, maximum: 1e9 }), { minItems: 2, maxItems: 2 }), {
      minItems: 1,
      maxItems: 16,
      description: 'Pairs of points and seconds.',
    }),
  read: (given: unknown) => given as readonly (readonly [points: number, seconds: number])[],
};

/** Redis keeps whole seconds. */
function expiryMs(ms: number): number {
  if (ms >= 1000) return Math.floor(ms / 1000) * 1000;
  const why = 'rate-limiter-flexible gives Redis whole seconds: below 1 s, its keys never expire.';
  throw new Failure('invalid_definition', { what: 'The limiter was refused.', why, fix: 'Give at least 1 s.' });
}

export const nodeLibraries = {
  'rate-limiter-flexible': product({
    product: 'rate-limiter-flexible 11, memory or Redis',
    params: {
      points: orNone('Points of a window.'),
      duration,
      blockDuration: optional(seconds('How long the request that exceeds blocks, in s.')),
      execEvenly: yesNo('Admitted requests are spread over the window.'),
      inMemoryBlockDuration: optional(seconds('How long a refusal blocks in this process, in s.')),
      store: store('memory', 'redis'),
    },
    paced: paced('points', 'duration', 1000),
    example: { points: 10, duration: 1 },
    refused: counts,
    rule({ points: limit, execEvenly, store: at, ...given }) {
      const isRedis = at === 'redis';
      const kept = (ms: number) => (isRedis ? expiryMs(ms) : ms);
      const window_ms = kept(given.duration);
      const block_ms = given.blockDuration && kept(given.blockDuration);
      const window = { edge: isRedis ? 'reset_after_end' : 'reset_at_end', block_ms };
      if (execEvenly === true) return rule('fixed_window_exec_evenly', { limit, window_ms, ...window }, toWindowEnd);
      // Only a limiter with a store has it.
      const local_block_ms = isRedis ? given.inMemoryBlockDuration : undefined;
      return rule('fixed_window', windowed(limit, window_ms, { ...window, local_block_ms }), toWindowEnd);
    },
  }),
  'rate-limiter-flexible-bursty': product({
    product: 'rate-limiter-flexible 11 BurstyRateLimiter',
    params: {
      points: whole('Points of a window.'),
      duration,
      burstPoints: whole('Points of the burst, used where the others are spent.'),
      burstDuration: seconds('Length of the window of the burst in s.'),
    },
    paced: paced('points', 'duration', 1000),
    example: { points: 10, duration: 1, burstPoints: 5, burstDuration: 10 },
    refused: counts,
    rule({ points: most, duration: ms, burstPoints, burstDuration }) {
      const a = { primitive: 'fixed_window', params: windowed(most, ms) };
      return rule('or', { a, b: { ...a, params: windowed(burstPoints, burstDuration) } }, toWindowEnd);
    },
  }),
  'rate-limiter-flexible-union': product({
    product: 'rate-limiter-flexible 11 RateLimiterUnion',
    params: { limits: pairs },
    example: {
      limits: [
        [10, 1],
        [50, 10],
      ],
    },
    refused: 'counts in all of them',
    rule: ({ limits }) =>
      rule('and_all_charged', { limits: limits.map(([most, s]) => [most, s * 1000]), align: 'first' }, toWindowEnd),
  }),
  limiter: product({
    product: 'limiter 4 RateLimiter',
    params: { tokensPerInterval: whole('Tokens of an interval.'), interval: time('Length of the interval.', 'ms') },
    paced: paced('tokensPerInterval', 'interval'),
    example: { tokensPerInterval: 10, interval: 1000 },
    rule: ({ tokensPerInterval: rate, interval: per_ms }) =>
      rule('token_bucket_and_interval', { rate, per_ms, capacity: rate, interval_ms: per_ms }),
  }),
  'limiter-token-bucket': product({
    product: 'limiter 4 TokenBucket, empty at first',
    params: {
      bucketSize: whole('The most tokens.'),
      tokensPerInterval: whole('Tokens of an interval.'),
      interval: time('Length of the interval.', 'ms'),
    },
    paced: paced('tokensPerInterval', 'interval'),
    example: { bucketSize: 10, tokensPerInterval: 10, interval: 1000 },
    rule({ bucketSize: capacity, tokensPerInterval: rate, interval: per_ms }) {
      const bucket = { rate, per_ms, capacity, initial: 0, exact_float: true };
      return rule('token_bucket', bucket, { ...untilTokens, round: 'up_to_ms' });
    },
  }),
  convex: product({
    product: '@convex-dev/rate-limiter 0.4',
    params: {
      kind: oneOf(['token bucket', 'fixed window'], 'How tokens come back.'),
      rate: whole('Tokens of a period.'),
      period: time('Length of the period.', 'ms'),
      capacity: optional(whole('The most tokens. Default: the rate.')),
      start: optional(time('Where windows begin. Default: 0; the product draws it.', 'ms')),
    },
    paced: paced('rate', 'period'),
    example: { kind: 'token bucket', rate: 10, period: 1000 },
    rule({ kind, rate, period: per_ms, capacity = rate, start = 0 }) {
      const more =
        kind === 'token bucket'
          ? { refill: 'continuous', exact_float: true }
          : { refill: 'interval', align: 'epoch', phase_ms: start % per_ms };
      return rule('token_bucket', { rate, per_ms, capacity, ...more }, untilTokens);
    },
  }),
  upstash: product({
    product: '@upstash/ratelimit 2',
    params: {
      algorithm: oneOf(['fixedWindow', 'slidingWindow', 'tokenBucket'], 'The rule.'),
      tokens: orNone('Requests of a window, or the most tokens.'),
      window: time('Length of the window, or of the interval of the bucket.', 'ms'),
      refillRate: optional(whole('Tokens of an interval, for tokenBucket. Default: tokens.')),
      ephemeralCache: yesNo('A refusal blocks in this process until the window or interval ends.', true),
    },
    paced: paced('tokens', 'window'),
    example: { algorithm: 'slidingWindow', tokens: 10, window: '1 s' },
    refused: 'nothing, or counts (fixedWindow)',
    rule({ algorithm, tokens: limit, window: window_ms, refillRate: rate = limit, ephemeralCache = true }) {
      const cache = { block_until_window_end: ephemeralCache || undefined };
      if (algorithm === 'fixedWindow')
        return rule('fixed_window', windowed(limit, window_ms, { align: 'epoch', ...cache }), toWindowEnd);
      if (algorithm === 'tokenBucket') {
        const refill = { refill: 'interval', align: 'first', forget_when_full: true, ...cache };
        return rule('token_bucket', { rate, per_ms: window_ms, capacity: limit, ...refill }, toWindowEnd);
      }
      const upstash = { floor_prev: true, cost_overshoot: true, ...cache };
      return rule('sliding_counter', { limit, window_ms, align: 'epoch', ...upstash }, toWindowEnd);
    },
  }),
};
