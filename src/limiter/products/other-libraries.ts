// Libraries of Python, PHP and .NET, and a module of Redis.
import { Type } from '../../schema/json-schema.js';
import { parseRate } from '../../schema/quantity.js';
import { strict } from '../rule/fields.js';
import {
  atClockSecond,
  counts,
  msOf,
  nothing,
  product,
  rule,
  time,
  toWindowEnd,
  unannounced,
  whole,
} from './product.js';

function perOf(rate: string): { readonly limit: number; readonly window_ms: number } {
  const [, amount = '', times = '1', unit = ''] = /^\s*(\d+)\s*(?:\/|per)\s*(\d+)?\s*([a-z]+)\s*$/i.exec(rate) ?? [];
  // What does not fit is refused in the words of a rate.
  if (amount === '') parseRate(rate, 1000);
  return { limit: Number(amount), window_ms: Number(times) * msOf(`1 ${unit}`, 1) };
}

const rateText = Type.String({ minLength: 3, maxLength: 64, description: 'How often: 10/s, 5/m, 10 per 1 second.' });

/** CRC-32 (IEEE 802.3), by which django-ratelimit moves the windows of a key. */
function crc32(text: string): number {
  let crc = ~0;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc >>> 0;
}

export const otherLibraries = {
  'python-limits': product({
    product: 'Python limits (flask-limiter, slowapi)',
    params: Type.Object(
      {
        rate: rateText,
        strategy: Type.Optional(
          Type.Enum(['fixed-window', 'fixed-window-elastic-expiry', 'moving-window', 'sliding-window-counter'], {
            description: 'The rule. Default: fixed-window.',
          }),
        ),
      },
      strict,
    ),
    example: { rate: '10 per 1 second' },
    refused: 'counts (fixed windows) or nothing',
    rule({ rate, strategy = 'fixed-window' }) {
      const per = perOf(rate);
      switch (strategy) {
        case 'moving-window':
          return rule(
            'sliding_log',
            { ...per, edge: 'expires_after_end' },
            { wait: 'newest_leaves', round: 'clock_second' },
            0,
          );
        case 'sliding-window-counter':
          return rule('sliding_counter', { ...per, align: 'epoch', floor_total: true }, undefined, 0);
        default: {
          const elastic = strategy === 'fixed-window-elastic-expiry' || undefined;
          const window = { ...per, align: 'first', count_refused: true, every_hit_restarts_window: elastic };
          return rule('fixed_window', window, atClockSecond, 0);
        }
      }
    },
  }),
  'django-ratelimit': product({
    product: 'django-ratelimit 4.1',
    params: Type.Object(
      {
        rate: rateText,
        key: Type.Optional(
          Type.String({ maxLength: 200, description: 'Value of the key, which moves its windows. Default: empty.' }),
        ),
      },
      strict,
    ),
    example: { rate: '10/s' },
    refused: counts,
    rule({ rate, key = '' }) {
      const { limit, window_ms } = perOf(rate);
      const seconds = window_ms / 1000;
      // The second of the edge is in the old window; windows of one second are those of the clock.
      const phase_ms = seconds <= 1 ? 0 : (((crc32(key) % seconds) + 1) % seconds) * 1000;
      return rule('fixed_window', { limit, window_ms, align: 'epoch', phase_ms, count_refused: true }, unannounced);
    },
  }),
  symfony: product({
    product: 'Symfony RateLimiter 5.4',
    params: Type.Object(
      {
        policy: Type.Enum(['fixed_window', 'sliding_window', 'token_bucket'], { description: 'The rule.' }),
        limit: whole('Requests of a window, or the most tokens.'),
        interval: time('Length of the window, or of the interval of the bucket.', 's'),
        amount: Type.Optional(whole('Tokens of an interval, for token_bucket. Default: 1.')),
      },
      strict,
    ),
    example: { policy: 'sliding_window', limit: 10, interval: '1 second' },
    refused: nothing,
    rule({ policy, limit, interval, amount = 1 }) {
      const window_ms = msOf(interval, 1000);
      const window = { limit, window_ms, align: 'first', edge: 'reset_after_end' };
      switch (policy) {
        case 'fixed_window':
          return rule(
            'fixed_window',
            { ...window, state_ttl_from_last_admit_ms: window_ms },
            { wait: 'window_end', round: 'second' },
            0,
          );
        case 'sliding_window':
          return rule(
            'sliding_counter',
            { ...window, floor_total: true, state_ttl_whole_seconds: true, double_seconds: true },
            toWindowEnd,
            0,
          );
        default: {
          const bucket = { rate: amount, per_ms: window_ms, capacity: limit, refill: 'interval', align: 'first' };
          const ttl = { state_ttl_from_last_admit_ms: Math.ceil(limit / amount) * window_ms };
          return rule('token_bucket', { ...bucket, ...ttl }, { wait: 'whole_intervals', round: 'second' }, 0);
        }
      }
    },
  }),
  aspnet: product({
    product: 'ASP.NET Core System.Threading.RateLimiting',
    params: Type.Object(
      {
        limiter: Type.Enum(['FixedWindow', 'SlidingWindow', 'TokenBucket', 'Concurrency'], {
          description: 'The rule.',
        }),
        PermitLimit: whole('Requests of a window, in flight, or the most tokens.'),
        Window: Type.Optional(time('Length of the window, or of the period of the bucket. Default: 1s.', 's')),
        SegmentsPerWindow: Type.Optional(whole('Segments of a sliding window. Default: 1.')),
        TokensPerPeriod: Type.Optional(whole('Tokens of a period. Default: the limit.')),
      },
      strict,
    ),
    example: { limiter: 'SlidingWindow', PermitLimit: 10, Window: '1s', SegmentsPerWindow: 4 },
    refused: nothing,
    rule({ limiter, PermitLimit: limit, Window = '1s', SegmentsPerWindow: segments = 1, TokensPerPeriod = limit }) {
      const window_ms = msOf(Window, 1000);
      if (limiter === 'SlidingWindow') return rule('segmented_window', { limit, window_ms, segments }, unannounced, 0);
      if (limiter === 'Concurrency') return rule('concurrency', { limit }, unannounced, 0);
      const rate = limiter === 'FixedWindow' ? limit : TokensPerPeriod;
      const bucket = { rate, per_ms: window_ms, capacity: limit, refill: 'interval', align: 'construction' };
      return rule('token_bucket', bucket, undefined, 0);
    },
  }),
  'redis-cell': product({
    product: 'redis-cell 0.5 CL.THROTTLE',
    params: Type.Object(
      {
        max_burst: whole('Requests ahead of the rate.', 0),
        count_per_period: whole('Requests of a period.'),
        period: time('Length of the period.', 's'),
      },
      strict,
    ),
    example: { max_burst: 9, count_per_period: 10, period: 1 },
    refused: nothing,
    rule({ max_burst, count_per_period, period }) {
      const T_ms = msOf(period, 1000) / count_per_period;
      return rule('gcra', { T_ms, tau_ms: max_burst * T_ms }, { wait: 'earliest', round: 'down_to_s' }, 0);
    },
  }),
};
