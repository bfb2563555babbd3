// What gateways, clouds and frameworks count, by their documents and sources.
import { Type } from '../../schema/json-schema.js';
import { strict } from '../rule/fields.js';
import type { RuleDefinition } from '../rule/rule-definition.js';
import {
  atClockSecond,
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
  windowed,
  yesNo,
} from './product.js';

const unitsMs = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  month: 2_592_000_000,
  year: 31_536_000_000,
} as const;
type Unit = keyof typeof unitsMs;

const unit = (description: string) => Type.Enum(Object.keys(unitsMs) as Unit[], { description });

/** The product departs from the rule: it counts in many places, or publishes no rule. */
const roughly = (definition: RuleDefinition): RuleDefinition => ({ ...definition, approx: true });

const fixed = (limit: number, window_ms: number, align: 'epoch' | 'first', more: object = {}) =>
  rule('fixed_window', { ...windowed(limit, window_ms), align, ...more });

/** Nothing is admitted: a bucket that never holds a whole token. */
const never = () => rule('token_bucket', { rate: 0.000001, per_ms: 1000, capacity: 0.5 }, unannounced);

export const gateways = {
  'in-flight': product({
    product: 'requests in flight: Traefik inFlightReq, APISIX limit-conn, published limits',
    params: Type.Object({ limit: whole('Requests of a key in progress.') }, strict),
    example: { limit: 10 },
    refused: nothing,
    rule: ({ limit }) => rule('concurrency', { limit }, unannounced, 0),
  }),
  'envoy-ratelimit': product({
    product: 'envoyproxy/ratelimit, the service that Envoy and Envoy Gateway ask',
    params: Type.Object(
      { requests_per_unit: whole('Requests of a unit; 0 refuses all.', 0), unit: unit('Length of the window.') },
      strict,
    ),
    example: { requests_per_unit: 10, unit: 'second' },
    refused: counts,
    rule: ({ requests_per_unit, unit }) =>
      requests_per_unit === 0 ? never() : fixed(requests_per_unit, unitsMs[unit], 'epoch'),
  }),
  'kong-advanced': product({
    product: 'Kong rate-limiting-advanced',
    params: Type.Object(
      {
        limit: whole('Requests of a window.'),
        window_size: positive('Length of the window in s.'),
        window_type: Type.Optional(Type.Enum(['sliding', 'fixed'], { description: 'Default: sliding.' })),
        disable_penalty: yesNo('Refused requests do not count in a sliding window. Default: false.'),
      },
      strict,
    ),
    example: { limit: 10, window_size: 1 },
    refused: counts,
    rule: ({ limit, window_size, window_type = 'sliding', disable_penalty = false }) =>
      window_type === 'fixed'
        ? fixed(limit, 1000 * window_size, 'epoch')
        : rule('sliding_counter', {
            limit,
            window_ms: 1000 * window_size,
            align: 'epoch',
            count_refused: !disable_penalty,
          }),
  }),
  'apisix-limit-count': product({
    product: 'APISIX limit-count, policy local',
    params: Type.Object(
      { count: whole('Requests of a window.'), time_window: positive('Length of the window in s.') },
      strict,
    ),
    example: { count: 10, time_window: 1 },
    refused: counts,
    rule: ({ count, time_window }) => fixed(count, 1000 * time_window, 'first'),
  }),
  'apisix-limit-req': product({
    product: 'APISIX limit-req (lua-resty-limit-traffic)',
    params: Type.Object(
      {
        rate: positive('Requests per second.'),
        burst: Type.Optional(whole('Requests that may be ahead of the rate. Default: 0.', 0)),
        nodelay: yesNo('They are not held. Default: false.'),
      },
      strict,
    ),
    example: { rate: 10, burst: 5 },
    refused: nothing,
    rule: ({ rate, burst = 0, nodelay }) =>
      rule('nginx_limit_req', { rate_1000: Math.max(1, Math.round(1000 * rate)), burst, nodelay }, unannounced),
  }),
  'aws-waf': product({
    product: 'AWS WAF rate-based rule: an estimate about every 10 s, up to 30 s late',
    params: Type.Object(
      {
        limit: whole('Requests of a window; beyond them clients are blocked.'),
        evaluation_window_sec: Type.Optional(
          Type.Enum([60, 120, 300, 600], { description: 'Length of the window in s. Default: 300.' }),
        ),
      },
      strict,
    ),
    example: { limit: 100, evaluation_window_sec: 60 },
    refused: counts,
    rule: ({ limit, evaluation_window_sec = 300 }) =>
      roughly(
        rule('rolling_count', { threshold: limit, within: evaluation_window_sec / 10, cycle_ms: 10_000 }, unannounced),
      ),
  }),
  'aws-api-gateway': product({
    product: 'AWS API Gateway throttling, best effort',
    params: Type.Object(
      { rate_limit: positive('Requests per second.'), burst_limit: whole('The most tokens.') },
      strict,
    ),
    example: { rate_limit: 10, burst_limit: 20 },
    refused: nothing,
    rule: ({ rate_limit, burst_limit }) =>
      roughly(rule('token_bucket', { rate: rate_limit, per_ms: 1000, capacity: burst_limit }, unannounced)),
  }),
  'aws-quota': product({
    product: 'AWS API Gateway quota of a usage plan, best effort',
    params: Type.Object(
      {
        limit: whole('Requests of a period.'),
        period: Type.Enum(['DAY', 'WEEK', 'MONTH'], { description: 'Length of the period; a month counts 30 days.' }),
      },
      strict,
    ),
    example: { limit: 1000, period: 'DAY' },
    refused: counts,
    rule: ({ limit, period }) => roughly(fixed(limit, unitsMs[period.toLowerCase() as Unit], 'epoch')),
  }),
  'google-cloud-armor': product({
    product: 'Google Cloud Armor throttle and rate_based_ban',
    params: Type.Object(
      {
        count: whole('Requests of an interval.'),
        interval_sec: positive('Length of the interval in s.'),
        ban_duration_sec: Type.Optional(positive('How long a client that exceeds is banned, in s. Default: no ban.')),
      },
      strict,
    ),
    example: { count: 10, interval_sec: 10 },
    refused: counts,
    rule: ({ count, interval_sec, ban_duration_sec: ban }) =>
      roughly(
        rule('sliding_counter', {
          limit: count,
          window_ms: 1000 * interval_sec,
          align: 'first',
          count_refused: ban !== undefined,
          block_ms: ban === undefined ? undefined : 1000 * ban,
        }),
      ),
  }),
  'azure-front-door': product({
    product: 'Azure Front Door and Application Gateway rate limit rules',
    params: Type.Object(
      {
        threshold: whole('Requests of a window.'),
        minutes: Type.Enum([1, 5], { description: 'Length of the window in minutes.' }),
      },
      strict,
    ),
    example: { threshold: 100, minutes: 1 },
    refused: counts,
    rule: ({ threshold, minutes }) => roughly(fixed(threshold, 60_000 * minutes, 'epoch')),
  }),
  'azure-apim': product({
    product: 'Azure API Management rate-limit',
    params: Type.Object(
      {
        calls: whole('Calls of a period.'),
        renewal_period: positive('Length of the period in s.'),
        tier: Type.Optional(
          Type.Enum(['classic', 'v2'], {
            description: 'classic slides a window, v2 fills a bucket. Default: classic.',
          }),
        ),
      },
      strict,
    ),
    example: { calls: 10, renewal_period: 1 },
    refused: nothing,
    rule: ({ calls, renewal_period, tier = 'classic' }) =>
      roughly(
        tier === 'v2'
          ? rule('token_bucket', { rate: calls, per_ms: 1000 * renewal_period, capacity: calls })
          : rule('sliding_log', { limit: calls, window_ms: 1000 * renewal_period }),
      ),
  }),
  tyk: product({
    product: 'Tyk rate limit',
    params: Type.Object(
      {
        rate: whole('Requests of a period.'),
        per: positive('Length of the period in s.'),
        limiter: Type.Optional(
          Type.Enum(['drl', 'redis', 'fixed-window'], {
            description:
              'In each gateway (drl), a log in Redis that counts refused requests, or windows. Default: drl.',
          }),
        ),
      },
      strict,
    ),
    example: { rate: 10, per: 1 },
    refused: 'nothing; with redis it counts, too',
    rule: ({ rate, per, limiter = 'drl' }) =>
      limiter === 'redis'
        ? rule('sliding_counter', { limit: rate, window_ms: 1000 * per, align: 'first', count_refused: true })
        : fixed(rate, 1000 * per, limiter === 'drl' ? 'first' : 'epoch', { count_refused: limiter !== 'drl' }),
  }),
  laravel: product({
    product: 'Laravel throttle (Illuminate RateLimiter)',
    params: Type.Object(
      { maxAttempts: whole('Requests of a window.'), decaySeconds: whole('Length of the window in s.') },
      strict,
    ),
    example: { maxAttempts: 10, decaySeconds: 1 },
    refused: nothing,
    rule: ({ maxAttempts, decaySeconds }) =>
      rule(
        'fixed_window',
        { limit: maxAttempts, window_ms: 1000 * decaySeconds, align: 'first', count_refused: false },
        inWholeSeconds,
        1000,
      ),
  }),
  'rack-attack': product({
    product: 'Rack::Attack throttle',
    params: Type.Object({ limit: whole('Requests of a period.'), period: whole('Length of the period in s.') }, strict),
    example: { limit: 10, period: 1 },
    refused: counts,
    rule: ({ limit, period }) =>
      rule('fixed_window', { ...windowed(limit, 1000 * period), align: 'epoch' }, atClockSecond, 1000),
  }),
  governor: product({
    product: 'governor (Rust)',
    params: Type.Object(
      {
        period: time('Time after which one more is admitted.', 's'),
        burst: Type.Optional(whole('Requests at once. Default: 1.')),
      },
      strict,
    ),
    example: { period: '100ms', burst: 10 },
    refused: nothing,
    rule({ period, burst = 1 }) {
      const T_ms = msOf(period, 1000);
      return rule('gcra', { T_ms, tau_ms: (burst - 1) * T_ms }, undefined, 0);
    },
  }),
  gubernator: product({
    product: 'Gubernator',
    params: Type.Object(
      {
        limit: whole('Requests of a duration.'),
        duration: whole('Length of the window in ms.'),
        algorithm: Type.Optional(
          Type.Enum(['TOKEN_BUCKET', 'LEAKY_BUCKET'], { description: 'Default: TOKEN_BUCKET, a window.' }),
        ),
        burst: Type.Optional(whole('The most tokens of LEAKY_BUCKET. Default: the limit.')),
      },
      strict,
    ),
    example: { limit: 10, duration: 1000 },
    refused: nothing,
    rule: ({ limit, duration, algorithm = 'TOKEN_BUCKET', burst = limit }) =>
      algorithm === 'TOKEN_BUCKET'
        ? fixed(limit, duration, 'first', { count_refused: false })
        : rule('token_bucket', { rate: limit, per_ms: duration, capacity: burst }, untilTokens),
  }),
  unkey: product({
    product: 'Unkey ratelimit',
    params: Type.Object(
      { limit: whole('Requests of a duration.'), duration: whole('Length of the window in ms.') },
      strict,
    ),
    example: { limit: 10, duration: 1000 },
    refused: nothing,
    rule: ({ limit, duration }) => rule('sliding_counter', { limit, window_ms: duration, align: 'epoch' }),
  }),
  'api-commons': product({
    product: 'API Commons rate limit: it names no rule, and is read as a fixed window',
    params: Type.Object({ limit: whole('Requests of a timeframe.'), timeframe: unit('Length of the window.') }, strict),
    example: { limit: 10, timeframe: 'second' },
    refused: counts,
    rule: ({ limit, timeframe }) => roughly(fixed(limit, unitsMs[timeframe], 'epoch')),
  }),
  'x-rate-limit': product({
    product: 'x-rate-limit of OpenAPI: it names no rule, and is read as a fixed window',
    params: Type.Object({ limit: whole('Requests of a window.'), window: time('Length of the window.', 's') }, strict),
    example: { limit: 10, window: '1s' },
    refused: counts,
    rule: ({ limit, window }) => roughly(fixed(limit, msOf(window, 1000), 'epoch')),
  }),
};
