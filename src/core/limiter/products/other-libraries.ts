// Libraries of Python, PHP and .NET, and a module of Redis.
import { parseMs, parseRate } from '../../schema/quantity.js';
import {
  atClockSecond,
  counts,
  namedMs,
  never,
  oneOf,
  optional,
  paced,
  product,
  rule,
  text,
  time,
  toWindowEnd,
  unannounced,
  whole,
  windowed,
} from './product.js';

/** @param longer units in ms that only this product has */
function perOf(rate: string, longer: Readonly<Record<string, number>> = {}) {
  const [, amount = '', times = '1', unit = ''] = /^\s*(\d+)\s*(?:\/|per)\s*(\d+)?\s*([a-z]+)\s*$/i.exec(rate) ?? [];
  if (amount === '') parseRate(rate, 1000);
  const unitMs = longer[unit.toLowerCase().replace(/s$/, '')] ?? parseMs(`1 ${unit}`, 1);
  return { limit: Number(amount), window_ms: Number(times) * unitMs };
}

const rateOf = (n: number, time: string) => ({ rate: `${n} per ${time}` });

const rateText = text('How often: 10/s, 5/m, 10 per 1 second.', { minLength: 3, maxLength: 64 });

/** CRC-32 (IEEE 802.3), by which django-ratelimit shifts the windows of a key. */
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
    params: {
      rate: rateText,
      strategy: optional(
        oneOf(['fixed-window', 'fixed-window-elastic-expiry', 'moving-window', 'sliding-window-counter'], 'The rule.'),
        'fixed-window',
      ),
    },
    paced: rateOf,
    example: { rate: '10 per 1 second' },
    refused: 'counts (fixed windows) or nothing',
    rule({ rate, strategy }) {
      const per = perOf(rate, { month: namedMs.month, year: 12 * namedMs.month });
      if (per.limit === 0) return never();
      if (strategy === 'moving-window') {
        const announces = { wait: 'newest_leaves', round: 'clock_second' } as const;
        return rule('sliding_log', { ...per, edge: 'expires_after_end' }, announces, 0);
      }
      if (strategy === 'sliding-window-counter')
        return rule('sliding_counter', { ...per, align: 'epoch', floor_total: true }, undefined, 0);
      const elastic = strategy === 'fixed-window-elastic-expiry' || undefined;
      const window = windowed(per.limit, per.window_ms, { every_hit_restarts_window: elastic });
      return rule('fixed_window', window, atClockSecond, 0);
    },
  }),
  'django-ratelimit': product({
    product: 'django-ratelimit 4.1',
    params: {
      rate: rateText,
      key: optional(text('Value of the key, which moves its windows. Default: empty.', { maxLength: 200 })),
    },
    paced: rateOf,
    example: { rate: '10/s' },
    refused: counts,
    rule({ rate, key = '' }) {
      const { limit, window_ms } = perOf(rate);
      if (limit === 0) return never();
      const windowS = window_ms / 1000;
      // The second of the edge is in the old window; windows of one second are those of the clock.
      const phase_ms = windowS <= 1 ? 0 : (((crc32(key) % windowS) + 1) % windowS) * 1000;
      return rule('fixed_window', windowed(limit, window_ms, { align: 'epoch', phase_ms }), unannounced);
    },
  }),
  symfony: product({
    product: 'Symfony RateLimiter 5.4',
    params: {
      policy: oneOf(['fixed_window', 'sliding_window', 'token_bucket'], 'The rule.'),
      limit: whole('Requests of a window, or the most tokens.'),
      interval: time('Length of the window, or of the interval of the bucket.', 's'),
      amount: optional(whole('Tokens of an interval, for token_bucket.'), 1),
    },
    paced: paced('limit', 'interval'),
    example: { policy: 'sliding_window', limit: 10, interval: '1 second' },
    rule({ policy, limit, interval: window_ms, amount }) {
      const window = { limit, window_ms, align: 'first', edge: 'reset_after_end' };
      if (policy === 'fixed_window') {
        const ttl = { state_ttl_from_last_admit_ms: window_ms };
        return rule('fixed_window', { ...window, ...ttl }, { wait: 'window_end', round: 'second' }, 0);
      }
      if (policy === 'sliding_window') {
        const rounds = { floor_total: true, state_ttl_whole_seconds: true, double_seconds: true };
        return rule('sliding_counter', { ...window, ...rounds }, toWindowEnd, 0);
      }
      const bucket = { rate: amount, per_ms: window_ms, capacity: limit, refill: 'interval', align: 'first' };
      const ttl = { state_ttl_from_last_admit_ms: Math.ceil(limit / amount) * window_ms };
      return rule('token_bucket', { ...bucket, ...ttl }, { wait: 'whole_intervals', round: 'second' }, 0);
    },
  }),
  aspnet: product({
    product: 'ASP.NET Core System.Threading.RateLimiting',
    params: {
      limiter: oneOf(['FixedWindow', 'SlidingWindow', 'TokenBucket', 'Concurrency'], 'The rule.'),
      PermitLimit: whole('Requests of a window, in flight, or the most tokens.'),
      Window: optional(time('Length of the window, or of the period of the bucket.', 's'), '1s'),
      SegmentsPerWindow: optional(whole('Segments of a sliding window.'), 1),
      TokensPerPeriod: optional(whole('Tokens of a period. Default: the limit.')),
    },
    paced: paced('PermitLimit', 'Window'),
    example: { limiter: 'SlidingWindow', PermitLimit: 10, Window: '1s', SegmentsPerWindow: 4 },
    rule({ limiter, PermitLimit: limit, Window: window_ms, SegmentsPerWindow: segments, TokensPerPeriod = limit }) {
      if (limiter === 'SlidingWindow') return rule('segmented_window', { limit, window_ms, segments }, unannounced, 0);
      if (limiter === 'Concurrency') return rule('concurrency', { limit }, unannounced, 0);
      const rate = limiter === 'FixedWindow' ? limit : TokensPerPeriod;
      const bucket = { rate, per_ms: window_ms, capacity: limit, refill: 'interval', align: 'construction' };
      return rule('token_bucket', bucket, undefined, 0);
    },
  }),
  'redis-cell': product({
    product: 'redis-cell 0.5 CL.THROTTLE',
    params: {
      max_burst: whole('Requests ahead of the rate.', 0),
      count_per_period: whole('Requests of a period.'),
      period: time('Length of the period.', 's'),
    },
    paced: paced('count_per_period', 'period'),
    example: { max_burst: 9, count_per_period: 10, period: 1 },
    rule({ max_burst, count_per_period, period }) {
      const T_ms = period / count_per_period;
      return rule('gcra', { T_ms, tau_ms: max_burst * T_ms }, { wait: 'earliest', round: 'down_to_s' }, 0);
    },
  }),
};
