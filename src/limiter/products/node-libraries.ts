// Libraries of Node.js that are asked by the program itself.
import { Type } from '../../schema/json-schema.js';
import { strict } from '../rule/fields.js';
import {
  counts,
  msOf,
  nothing,
  positive,
  product,
  rule,
  store,
  time,
  toWindowEnd,
  untilTokens,
  whole,
  windowed,
  yesNo,
} from './product.js';

const duration = positive('Length of the window in s.');

const points = whole('Points of a window.');

export const nodeLibraries = {
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
