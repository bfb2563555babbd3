// Servers and proxies: nginx, HAProxy, Varnish, Traefik, Envoy, Kong, Caddy.
import { Type } from '../../schema/json-schema.js';
import { parseRate } from '../../schema/quantity.js';
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
  unannounced,
  untilTokens,
  whole,
  yesNo,
} from './product.js';

/** nginx counts in thousandths of a request per second, cut: 7r/m is 116. */
function thousandths(rate: string): number {
  const { requests, cycles } = parseRate(rate.replace(/r\//, '/'), 1000);
  return Math.trunc((1000 * requests) / cycles);
}

const period = time('Period over which requests are counted.', 'ms');
const limit = whole('Requests of a period that are let through.');

/** HAProxy raises a general purpose counter, or counts each request that is tracked. */
const haproxyRate = (counted: 'all' | 'admitted') => ({
  params: Type.Object({ period, limit }, strict),
  example: { period: '1s', limit: 10 },
  rule: (given: { period: number | string; limit: number }) =>
    rule(
      'sliding_counter',
      {
        limit: given.limit,
        window_ms: msOf(given.period, 1),
        align: 'first',
        count_refused: counted === 'all',
        floor_total: counted === 'admitted' ? true : undefined,
        even_ms: true,
      },
      unannounced,
    ),
});

export const servers = {
  nginx: product({
    product: 'nginx 1.22 limit_req',
    params: Type.Object(
      {
        rate: Type.String({
          pattern: '^[0-9]+r/[sm]$',
          maxLength: 20,
          description: 'Requests per second or minute: 10r/s, 60r/m.',
        }),
        burst: Type.Optional(whole('Requests that may be ahead of the rate. Default: 0.', 0)),
        nodelay: yesNo('They are not held. Default: false.'),
        delay: Type.Optional(whole('How many of them are not held. Default: 0.', 0)),
      },
      strict,
    ),
    example: { rate: '10r/s', burst: 5 },
    refused: nothing,
    rule: ({ rate, burst, nodelay, delay }) =>
      rule('nginx_limit_req', { rate_1000: thousandths(rate), burst: burst ?? 0, nodelay, delay }, unannounced),
  }),
  'nginx-limit-conn': product({
    product: 'nginx 1.22 limit_conn',
    params: Type.Object({ connections: whole('Requests of a key in progress.') }, strict),
    example: { connections: 10 },
    refused: nothing,
    rule: ({ connections }) => rule('concurrency', { limit: connections }, unannounced, 0),
  }),
  'haproxy-http-req-rate': product({
    product: 'HAProxy 2.6 http_req_rate(period), deny gt limit',
    refused: 'counts, too: it stays denied while it goes on',
    ...haproxyRate('all'),
  }),
  'haproxy-gpc0-rate': product({
    product: 'HAProxy 2.6 gpc0_rate(period), raised after the deny',
    refused: nothing,
    ...haproxyRate('admitted'),
  }),
  'haproxy-http-req-cnt': product({
    product: 'HAProxy 2.6 http_req_cnt with expire, deny gt limit',
    params: Type.Object({ expire: time('How long an entry lives after its last use.', 'ms'), limit }, strict),
    example: { expire: '1s', limit: 10 },
    refused: 'counts, and keeps the entry alive',
    rule: (given) =>
      rule(
        'fixed_window',
        { limit: given.limit, window_ms: msOf(given.expire, 1), count_refused: true, every_hit_restarts_window: true },
        unannounced,
      ),
  }),
  'haproxy-maxconn': product({
    product: 'HAProxy 2.6 server maxconn with timeout queue',
    params: Type.Object(
      { maxconn: whole('Requests at the server.'), queue: time('Longest wait in the queue.', 'ms') },
      strict,
    ),
    example: { maxconn: 10, queue: '400ms' },
    refused: nothing,
    rule: ({ maxconn, queue }) =>
      rule('concurrency_queue', { limit: maxconn, max_wait_ms: msOf(queue, 1) }, unannounced, 0),
  }),
  varnish: product({
    product: 'Varnish vsthrottle (varnish-modules 0.20)',
    params: Type.Object(
      { limit, period, block: Type.Optional(time('How long a refusal blocks. Default: 0.', 's')) },
      strict,
    ),
    example: { limit: 10, period: '1s' },
    refused: nothing,
    rule: (given) =>
      rule(
        'token_bucket',
        {
          rate: given.limit,
          per_ms: msOf(given.period, 1000),
          capacity: given.limit,
          refill: 'interval_trunc',
          block_ms: msOf(given.block, 1000),
        },
        unannounced,
        0.001,
      ),
  }),
  traefik: product({
    product: 'Traefik 3 RateLimit',
    params: Type.Object(
      {
        average: positive('Requests per period.'),
        period: Type.Optional(time('Default: 1s.', 's')),
        burst: Type.Optional(whole('Requests at once. Default: 1.')),
      },
      strict,
    ),
    example: { average: 10, burst: 5 },
    refused: nothing,
    rule({ average, period = '1s', burst = 1 }) {
      const per_ms = msOf(period, 1000);
      const perSecond = (average / per_ms) * 1000;
      return rule(
        'token_bucket',
        {
          rate: average,
          per_ms,
          capacity: burst,
          refill: 'continuous',
          max_wait_ms: perSecond < 1 ? 500 : 500 / perSecond,
          state_ttl_from_last_admit_ms: 1000 * (perSecond >= 1 ? 2 : 1 + Math.trunc(1 / perSecond)),
        },
        untilTokens,
        0,
      );
    },
  }),
  'envoy-local': product({
    product: 'Envoy local rate limit 1.31 (up to 1.30 with timer)',
    params: Type.Object(
      {
        max_tokens: whole('The most tokens.'),
        tokens_per_fill: Type.Optional(whole('Tokens of one fill. Default: 1.')),
        fill_interval: time('Time between fills.', 's'),
        timer: yesNo('Tokens come in fills on a timer of the process, as up to 1.30. Default: false.'),
      },
      strict,
    ),
    example: { max_tokens: 10, tokens_per_fill: 10, fill_interval: '1s' },
    refused: nothing,
    rule: ({ max_tokens, tokens_per_fill = 1, fill_interval, timer = false }) =>
      rule(
        'token_bucket',
        {
          rate: tokens_per_fill,
          per_ms: msOf(fill_interval, 1000),
          capacity: max_tokens,
          refill: timer ? 'interval' : 'continuous',
          align: timer ? 'construction' : undefined,
        },
        unannounced,
        0,
      ),
  }),
  kong: product({
    product: 'Kong rate-limiting, policy local',
    params: Type.Object(
      Object.fromEntries(
        ['second', 'minute', 'hour', 'day'].map((unit) => [unit, Type.Optional(whole(`Requests per ${unit}.`))]),
      ) as Record<'second' | 'minute' | 'hour' | 'day', ReturnType<typeof optionalWhole>>,
      { ...strict, minProperties: 1 },
    ),
    example: { second: 10 },
    refused: nothing,
    rule(given) {
      const lengths = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
      const windows = (Object.keys(lengths) as (keyof typeof lengths)[])
        .filter((unit) => given[unit] !== undefined)
        .map((unit) => ({
          primitive: 'fixed_window' as const,
          params: { limit: given[unit], window_ms: lengths[unit], align: 'epoch', count_refused: false },
        }));
      return windows.length === 1
        ? rule('fixed_window', windows[0]!.params, inWholeSeconds)
        : rule('and', { of: windows });
    },
  }),
  caddy: product({
    product: 'Caddy plugin mholt/caddy-ratelimit',
    params: Type.Object(
      { max_events: whole('Requests of a window.'), window: time('Length of the window.', 's') },
      strict,
    ),
    example: { max_events: 10, window: '1s' },
    refused: nothing,
    rule: ({ max_events, window }) =>
      rule(
        'sliding_log',
        { limit: max_events, window_ms: msOf(window, 1000), edge: 'expires_after_end' },
        inWholeSeconds,
        0,
      ),
  }),
  cloudflare: product({
    product: 'Cloudflare rate limiting rules (as described in 2017)',
    params: Type.Object(
      {
        requests_per_period: whole('Requests of a period.'),
        period: time('Length of the period.', 's'),
        mitigation_timeout: Type.Optional(time('How long a client that exceeds is blocked. Default: the period.', 's')),
      },
      strict,
    ),
    example: { requests_per_period: 10, period: '1s' },
    refused: counts,
    rule: ({ requests_per_period, period, mitigation_timeout = period }) =>
      rule('sliding_counter', {
        limit: requests_per_period,
        window_ms: msOf(period, 1000),
        align: 'epoch',
        count_refused: true,
        block_ms: msOf(mitigation_timeout, 1000),
      }),
  }),
  aws: product({
    product: 'AWS EC2 API throttling',
    params: Type.Object(
      { bucket: whole('The most tokens.'), refill_per_s: positive('Tokens added each second.') },
      strict,
    ),
    example: { bucket: 10, refill_per_s: 10 },
    refused: nothing,
    rule: ({ bucket, refill_per_s }) =>
      rule(
        'token_bucket',
        { rate: refill_per_s, per_ms: 1000, capacity: bucket, refill: 'interval', align: 'construction' },
        unannounced,
      ),
  }),
};

function optionalWhole() {
  return Type.Optional(whole(''));
}
