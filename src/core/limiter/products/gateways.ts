// What gateways, clouds and frameworks count, by their documents and sources.
import { parseMs } from '../../schema/quantity.js';
import type { RuleDefinition } from '../rule/rule-definition.js';
import {
  atClockSecond,
  counts,
  inUnit,
  inWholeSeconds,
  type Named,
  namedMs,
  nameOfTime,
  oneOf,
  optional,
  orNone,
  paced,
  perSecond,
  positive,
  product,
  rule,
  seconds,
  time,
  toWindowEnd,
  unannounced,
  untilTokens,
  whole,
  windowed,
  yesNo,
} from './product.js';

/** The product departs from the rule: it counts in many places, or publishes no rule. */
const roughly = (definition: RuleDefinition): RuleDefinition => ({ ...definition, approx: true });

const fixed = (limit: number, window_ms: number, align: 'epoch' | 'first', more: object = {}) =>
  rule('fixed_window', { ...windowed(limit, window_ms), align, ...more });

export const gateways = {
  'in-flight': product({
    product: 'requests in flight: Traefik inFlightReq, APISIX limit-conn',
    params: { limit: whole('Requests of a key in progress.') },
    example: { limit: 10 },
    rule: (given) => rule('concurrency', given, unannounced, 0),
  }),
  'envoy-ratelimit': product({
    product: 'envoyproxy/ratelimit, the service that Envoy and Envoy Gateway ask',
    params: {
      requests_per_unit: orNone('Requests of a unit; 0 refuses all.'),
      unit: oneOf(Object.keys(namedMs) as Named[], 'Length of the window.'),
    },
    paced: inUnit('requests_per_unit', 'unit'),
    example: { requests_per_unit: 10, unit: 'second' },
    refused: counts,
    rule: ({ requests_per_unit: limit, unit }) => fixed(limit, namedMs[unit], 'epoch'),
  }),
  'kong-advanced': product({
    product: 'Kong rate-limiting-advanced',
    params: {
      limit: whole('Requests of a window.'),
      window_size: seconds('Length of the window in s.'),
      window_type: optional(oneOf(['sliding', 'fixed']), 'sliding'),
      disable_penalty: yesNo('Refused requests do not count in a sliding window.'),
    },
    paced: paced('limit', 'window_size', 1000),
    example: { limit: 10, window_size: 1 },
    refused: counts,
    rule({ limit, window_size: window_ms, window_type, disable_penalty = false }) {
      if (window_type === 'fixed') return fixed(limit, window_ms, 'epoch');
      return rule('sliding_counter', { limit, window_ms, align: 'epoch', count_refused: !disable_penalty });
    },
  }),
  'apisix-limit-count': product({
    product: 'APISIX limit-count, policy local',
    params: { count: whole('Requests of a window.'), time_window: seconds('Length of the window in s.') },
    paced: paced('count', 'time_window', 1000),
    example: { count: 10, time_window: 1 },
    refused: counts,
    rule: ({ count, time_window }) => fixed(count, time_window, 'first', { edge: 'reset_after_end' }),
  }),
  'apisix-limit-req': product({
    product: 'APISIX limit-req (lua-resty-limit-traffic)',
    params: {
      rate: positive('Requests per second.'),
      burst: optional(whole('Requests that may be ahead of the rate.', 0), 0),
      nodelay: yesNo('They are not held.'),
    },
    paced: perSecond('rate'),
    example: { rate: 10, burst: 5 },
    rule({ rate, ...given }) {
      return rule('nginx_limit_req', { rate_1000: Math.max(1, Math.round(1000 * rate)), ...given }, unannounced);
    },
  }),
  'aws-waf': product({
    product: 'AWS WAF rate-based rule: an estimate about every 10 s, up to 30 s late',
    params: {
      limit: whole('Requests of a window; beyond them clients are blocked.'),
      evaluation_window_sec: optional(oneOf([60, 120, 300, 600], 'Length of the window in s.'), 300),
    },
    paced: paced('limit', 'evaluation_window_sec', 1000),
    example: { limit: 100, evaluation_window_sec: 60 },
    refused: counts,
    rule({ limit: threshold, evaluation_window_sec: windowS }) {
      return roughly(rule('rolling_count', { threshold, within: windowS / 10, cycle_ms: 10_000 }, unannounced));
    },
  }),
  'aws-api-gateway': product({
    product: 'AWS API Gateway throttling, best effort',
    params: { rate_limit: positive('Requests per second.'), burst_limit: whole('The most tokens.') },
    paced: perSecond('rate_limit'),
    example: { rate_limit: 10, burst_limit: 20 },
    rule: ({ rate_limit: rate, burst_limit: capacity }) =>
      roughly(rule('token_bucket', { rate, per_ms: 1000, capacity }, unannounced)),
  }),
  'aws-quota': product({
    product: 'AWS API Gateway quota of a usage plan, best effort',
    params: {
      limit: whole('Requests of a period.'),
      period: oneOf(['DAY', 'WEEK', 'MONTH'], 'Length of the period; a month counts 30 days.'),
    },
    paced: (limit, time) => ({ limit, period: nameOfTime(time)?.toUpperCase() }),
    example: { limit: 1000, period: 'DAY' },
    refused: counts,
    rule: ({ limit, period }) => roughly(fixed(limit, namedMs[period.toLowerCase() as Named], 'epoch')),
  }),
  'google-cloud-armor': product({
    product: 'Google Cloud Armor throttle and rate_based_ban',
    params: {
      count: whole('Requests of an interval.'),
      interval_sec: seconds('Length of the interval in s.'),
      ban_duration_sec: optional(seconds('How long a client that exceeds is banned, in s. Default: no ban.')),
    },
    paced: paced('count', 'interval_sec', 1000),
    example: { count: 10, interval_sec: 10 },
    refused: counts,
    rule({ count: limit, interval_sec: window_ms, ban_duration_sec: block_ms }) {
      const window = { limit, window_ms, align: 'first', count_refused: block_ms !== undefined, block_ms };
      return roughly(rule('sliding_counter', window));
    },
  }),
  'azure-front-door': product({
    product: 'Azure Front Door and Application Gateway rate limit rules',
    params: { threshold: whole('Requests of a window.'), minutes: oneOf([1, 5], 'Length of the window in minutes.') },
    paced: paced('threshold', 'minutes', 60_000),
    example: { threshold: 100, minutes: 1 },
    refused: counts,
    rule: ({ threshold, minutes }) => roughly(fixed(threshold, 60_000 * minutes, 'epoch')),
  }),
  'azure-apim': product({
    product: 'Azure API Management rate-limit',
    params: {
      calls: whole('Calls of a period.'),
      renewal_period: seconds('Length of the period in s.'),
      tier: optional(oneOf(['classic', 'v2'], 'classic slides a window, v2 fills a bucket.'), 'classic'),
    },
    paced: paced('calls', 'renewal_period', 1000),
    example: { calls: 10, renewal_period: 1 },
    rule({ calls, renewal_period, tier }) {
      const v2 = { rate: calls, per_ms: renewal_period, capacity: calls };
      const classic = { limit: calls, window_ms: renewal_period };
      return roughly(tier === 'v2' ? rule('token_bucket', v2) : rule('sliding_log', classic));
    },
  }),
  'azure-apim-quota': product({
    product: 'Azure API Management quota',
    params: { calls: whole('Calls of a period.'), renewal_period: seconds('Length of the period in s.') },
    paced: paced('calls', 'renewal_period', 1000),
    example: { calls: 1000, renewal_period: 3600 },
    refused: counts,
    rule: ({ calls, renewal_period }) => roughly(fixed(calls, renewal_period, 'first')),
  }),
  tyk: product({
    product: 'Tyk rate limit',
    params: {
      rate: whole('Requests of a period.'),
      per: seconds('Length of the period in s.'),
      limiter: optional(
        oneOf(
          ['drl', 'redis', 'fixed-window'],
          'In each gateway (drl), a log in Redis that counts refused requests, or windows.',
        ),
        'drl',
      ),
    },
    paced: paced('rate', 'per', 1000),
    example: { rate: 10, per: 1 },
    refused: 'nothing; with redis it counts, too',
    rule({ rate: limit, per: window_ms, limiter }) {
      if (limiter === 'redis') return rule('sliding_log', { limit, window_ms, count_refused: true }, undefined, 0);
      return fixed(limit, window_ms, limiter === 'drl' ? 'first' : 'epoch', { count_refused: limiter !== 'drl' });
    },
  }),
  laravel: product({
    product: 'Laravel throttle (Illuminate RateLimiter)',
    params: { maxAttempts: orNone('Requests of a window.'), decaySeconds: whole('Length of the window in s.') },
    paced: paced('maxAttempts', 'decaySeconds', 1000),
    example: { maxAttempts: 10, decaySeconds: 1 },
    rule({ maxAttempts, decaySeconds }) {
      const window = windowed(maxAttempts, 1000 * decaySeconds, { count_refused: false });
      return rule('fixed_window', window, inWholeSeconds, 1000);
    },
  }),
  'rack-attack': product({
    product: 'Rack::Attack throttle',
    params: { limit: orNone('Requests of a period.'), period: whole('Length of the period in s.') },
    paced: paced('limit', 'period', 1000),
    example: { limit: 10, period: 1 },
    refused: counts,
    rule: ({ limit, period }) =>
      rule('fixed_window', windowed(limit, 1000 * period, { align: 'epoch' }), atClockSecond, 1000),
  }),
  governor: product({
    product: 'governor (Rust)',
    params: {
      period: time('Time after which one more is admitted.', 's'),
      burst: optional(whole('Requests at once.'), 1),
    },
    paced: (n, time) => ({ period: `${parseMs(time, 1) / n}ms` }),
    example: { period: '100ms', burst: 10 },
    rule: ({ period: T_ms, burst }) => rule('gcra', { T_ms, tau_ms: (burst - 1) * T_ms }, undefined, 0),
  }),
  gubernator: product({
    product: 'Gubernator, its LEAKY_BUCKET roughly',
    params: {
      limit: whole('Requests of a duration.'),
      duration: whole('Length of the window in ms.'),
      algorithm: optional(oneOf(['TOKEN_BUCKET', 'LEAKY_BUCKET'], 'Default: TOKEN_BUCKET, a window.')),
      burst: optional(whole('The most tokens of LEAKY_BUCKET. Default: the limit.')),
    },
    paced: paced('limit', 'duration', 1),
    example: { limit: 10, duration: 1000 },
    rule({ limit, duration, algorithm = 'TOKEN_BUCKET', burst = limit }) {
      if (algorithm === 'TOKEN_BUCKET')
        return rule('fixed_window', { limit, window_ms: duration, edge: 'reset_after_end' }, toWindowEnd);
      // It adds what leaked only when that is a whole token or more, and forgets a bucket that is not used for a duration.
      return roughly(rule('token_bucket', { rate: limit, per_ms: duration, capacity: burst }, untilTokens));
    },
  }),
  unkey: product({
    product: 'Unkey ratelimit',
    params: { limit: whole('Requests of a duration.'), duration: whole('Length of the window in ms.') },
    paced: paced('limit', 'duration', 1),
    example: { limit: 10, duration: 1000 },
    rule: ({ limit, duration }) =>
      rule('sliding_counter', { limit, window_ms: duration, align: 'epoch', floor_prev: true }, toWindowEnd),
  }),
};
