// Servers and proxies: nginx, HAProxy, Varnish, Traefik, Envoy, Kong, Caddy.
import { parseMs, parseRate } from '../../schema/quantity.js';
import {
  counts,
  inWholeSeconds,
  nameOfTime,
  optional,
  orNone,
  paced,
  perSecond,
  positive,
  product,
  rule,
  text,
  time,
  unannounced,
  untilTokens,
  whole,
  yesNo,
} from './product.js';

/** nginx counts in thousandths of a request per second, truncated: 7r/m is 116. */
function thousandths(rate: string): number {
  const { requests, cycles } = parseRate(rate.replace(/r\//, '/'), 1000);
  return Math.trunc((1000 * requests) / cycles);
}

const period = time('Period over which requests are counted.', 'ms');
const limit = orNone('Requests of a period that are let through.');

/** HAProxy raises a general purpose counter, or counts each tracked request. */
const haproxyRate = (counted: 'all' | 'admitted') => ({
  params: { period, limit },
  paced: paced('limit', 'period'),
  example: { period: '1s', limit: 10 },
  rule: (given: { readonly period: number; readonly limit: number }) => {
    const window = { limit: given.limit, window_ms: given.period, align: 'first', count_refused: counted === 'all' };
    const floor_total = counted === 'admitted' ? true : undefined;
    return rule('sliding_counter', { ...window, floor_total, even_ms: true }, unannounced);
  },
});

export const servers = {
  nginx: product({
    product: 'nginx 1.22 limit_req',
    params: {
      rate: text('Requests per second or minute: 10r/s, 60r/m.', { pattern: '^[0-9]+r/[sm]$', maxLength: 20 }),
      burst: optional(whole('Requests that may be ahead of the rate.', 0), 0),
      nodelay: yesNo('They are not held.'),
      delay: optional(whole('How many of them are not held. Default: 0.', 0)),
    },
    paced(n, time) {
      const rates = (['s', 'm'] as const).map((unit) => `${n / (parseMs(time, 1) / parseMs(`1${unit}`, 1))}r/${unit}`);
      return { rate: rates.find((rate) => /^\d+r/.test(rate)) };
    },
    example: { rate: '10r/s', burst: 5 },
    rule: ({ rate, ...given }) => rule('nginx_limit_req', { rate_1000: thousandths(rate), ...given }, unannounced),
  }),
  'nginx-limit-conn': product({
    product: 'nginx 1.22 limit_conn',
    params: { connections: whole('Requests of a key in progress.') },
    example: { connections: 10 },
    rule: ({ connections }) => rule('concurrency', { limit: connections }, unannounced, 0),
  }),
  'haproxy-http-req-rate': product({
    product: 'HAProxy 2.6 http_req_rate(period), deny gt limit',
    refused: 'counts, too: it stays denied while it goes on',
    ...haproxyRate('all'),
  }),
  'haproxy-gpc0-rate': product({
    product: 'HAProxy 2.6 gpc0_rate(period), raised after the deny',
    ...haproxyRate('admitted'),
  }),
  'haproxy-http-req-cnt': product({
    product: 'HAProxy 2.6 http_req_cnt with expire, deny gt limit',
    params: { expire: time('How long an entry lives after its last use.', 'ms'), limit },
    example: { expire: '1s', limit: 10 },
    refused: 'counts, and keeps the entry alive',
    rule({ limit, expire: window_ms }) {
      const window = { limit, window_ms, count_refused: true, every_hit_restarts_window: true };
      return rule('fixed_window', window, unannounced);
    },
  }),
  'haproxy-maxconn': product({
    product: 'HAProxy 2.6 server maxconn with timeout queue',
    params: { maxconn: whole('Requests at the server.'), queue: time('Longest wait in the queue.', 'ms') },
    example: { maxconn: 10, queue: '400ms' },
    rule: ({ maxconn, queue }) => rule('concurrency_queue', { limit: maxconn, max_wait_ms: queue }, unannounced, 0),
  }),
  varnish: product({
    product: 'Varnish vsthrottle (varnish-modules 0.20)',
    params: {
      limit,
      period: time('Period over which requests are counted.', 's'),
      block: optional(time('How long a refusal blocks. Default: 0.', 's')),
    },
    paced: paced('limit', 'period'),
    example: { limit: 10, period: '1s' },
    rule({ limit, period: per_ms, block: block_ms }) {
      const bucket = { rate: limit, per_ms, capacity: limit, refill: 'interval_trunc', block_ms };
      return rule('token_bucket', bucket, unannounced, 0.001);
    },
  }),
  traefik: product({
    product: 'Traefik 3 RateLimit',
    params: {
      average: positive('Requests per period.'),
      period: optional(time('', 's'), '1s'),
      burst: optional(whole('Requests at once.'), 1),
    },
    paced: paced('average', 'period'),
    example: { average: 10, burst: 5 },
    rule({ average, period: per_ms, burst }) {
      const perSecond = (average / per_ms) * 1000;
      const waits = {
        max_wait_ms: perSecond < 1 ? 500 : 500 / perSecond,
        state_ttl_from_last_admit_ms: 1000 * (perSecond >= 1 ? 2 : 1 + Math.trunc(1 / perSecond)),
      };
      const bucket = { rate: average, per_ms, capacity: burst, refill: 'continuous', ...waits };
      return rule('token_bucket', bucket, untilTokens, 0);
    },
  }),
  'envoy-local': product({
    product: 'Envoy local rate limit 1.31 (up to 1.30 with timer)',
    params: {
      max_tokens: whole('The most tokens.'),
      tokens_per_fill: optional(whole('Tokens of one fill.'), 1),
      fill_interval: time('Time between fills.', 's'),
      timer: yesNo('Tokens come in fills on a timer of the process, as up to 1.30.'),
    },
    paced: (n, fill_interval) => ({ max_tokens: n, tokens_per_fill: n, fill_interval }),
    example: { max_tokens: 10, tokens_per_fill: 10, fill_interval: '1s' },
    rule({ max_tokens: capacity, tokens_per_fill: rate, fill_interval: per_ms, timer = false }) {
      const refill = timer ? { refill: 'interval', align: 'construction' } : { refill: 'continuous' };
      return rule('token_bucket', { rate, per_ms, capacity, ...refill }, unannounced, 0);
    },
  }),
  kong: product({
    product: 'Kong rate-limiting, policy local',
    params: {
      second: optional(whole('Requests per second.')),
      minute: optional(whole('Requests per minute.')),
      hour: optional(whole('Requests per hour.')),
      day: optional(whole('Requests per day.')),
    },
    needsOne: true,
    paced(n, time) {
      const unit = nameOfTime(time);
      return { [unit ?? 'second']: unit && n };
    },
    example: { second: 10 },
    rule({ second, minute, hour, day }) {
      const limits = [
        [second, 1000],
        [minute, 60_000],
        [hour, 3_600_000],
        [day, 86_400_000],
      ] as const;
      const windows = limits
        .filter(([limit]) => limit !== undefined)
        .map(([limit, window_ms]) => ({ limit, window_ms, align: 'epoch', count_refused: false }));
      if (windows.length === 1) return rule('fixed_window', windows[0]!, inWholeSeconds);
      return rule('and', { of: windows.map((params) => ({ primitive: 'fixed_window', params })) });
    },
  }),
  caddy: product({
    product: 'Caddy plugin mholt/caddy-ratelimit',
    params: { max_events: orNone('Requests of a window.'), window: time('Length of the window.', 's') },
    paced: paced('max_events', 'window'),
    example: { max_events: 10, window: '1s' },
    rule: ({ max_events: limit, window: window_ms }) =>
      rule('sliding_log', { limit, window_ms, edge: 'expires_after_end' }, inWholeSeconds, 0),
  }),
  cloudflare: product({
    product: 'Cloudflare rate limiting rules (as described in 2017)',
    params: {
      requests_per_period: whole('Requests of a period.'),
      period: time('Length of the period.', 's'),
      mitigation_timeout: optional(time('How long a client that exceeds is blocked. Default: the period.', 's')),
    },
    paced: paced('requests_per_period', 'period'),
    example: { requests_per_period: 10, period: '1s' },
    refused: counts,
    rule({ requests_per_period: limit, period: window_ms, mitigation_timeout: block_ms = window_ms }) {
      return rule('sliding_counter', { limit, window_ms, align: 'epoch', count_refused: true, block_ms });
    },
  }),
  aws: product({
    product: 'AWS EC2 API throttling',
    params: { bucket: whole('The most tokens.'), refill_per_s: positive('Tokens added each second.') },
    paced: perSecond('refill_per_s'),
    example: { bucket: 10, refill_per_s: 10 },
    rule({ bucket: capacity, refill_per_s: rate }) {
      const bucket = { rate, per_ms: 1000, capacity, refill: 'interval', align: 'construction' };
      return rule('token_bucket', bucket, unannounced);
    },
  }),
};
