// Products whose decisions were not recorded: what their documents and sources say, as cases.
import { expect, it } from 'vitest';
import { gateways } from '../../../../src/core/limiter/products/gateways.js';
import { definitionOf } from '../../../../src/core/limiter/products/products.js';
import { play } from '../../../../src/core/limiter/products/profile.js';
import { LIMITED } from '../../../../src/core/limiter/rule/rule.js';
import { ruleOf } from '../../../../src/core/limiter/rule/rule-definition.js';

/** One sign a request: + admitted, - refused. Times in ms after a full second. */
const cases: readonly (readonly [given: Record<string, unknown>, times: readonly number[], decided: string])[] = [
  [{ like: 'in-flight', limit: 2 }, [0, 0, 0, 100_000], '++-+'],
  [{ like: 'envoy-ratelimit', requests_per_unit: 2, unit: 'second' }, [900, 900, 900, 1000, 1000, 1000], '++-++-'],
  [{ like: 'envoy-ratelimit', requests_per_unit: 0, unit: 'minute' }, [0, 60_000, 6_000_000], '---'],
  [{ like: 'kong-advanced', limit: 2, window_size: 1, window_type: 'fixed' }, [900, 900, 900, 1000], '++-+'],
  [{ like: 'kong-advanced', limit: 2, window_size: 1 }, [0, 0, 0, 1700], '++-+'],
  [{ like: 'kong-advanced', limit: 2, window_size: 1, disable_penalty: true }, [0, 0, 0, 0, 1500, 1500], '++--+-'],
  [{ like: 'apisix-limit-count', count: 2, time_window: 1 }, [900, 900, 900, 1000, 1900, 1901], '++---+'],
  [{ like: 'apisix-limit-req', rate: 1, burst: 1, nodelay: true }, [0, 0, 0, 1000, 1000], '++-+-'],
  [{ like: 'apisix-limit-req', rate: 0.5 }, [0, 1000, 2000], '+-+'],
  [{ like: 'aws-waf', limit: 2, evaluation_window_sec: 60 }, [0, 0, 0, 30_000, 59_000, 200_000], '++---+'],
  [{ like: 'aws-api-gateway', rate_limit: 1, burst_limit: 2 }, [0, 0, 0, 1000, 1000], '++-+-'],
  [{ like: 'aws-quota', limit: 1, period: 'DAY' }, [0, 1000, 86_400_000], '+-+'],
  [{ like: 'google-cloud-armor', count: 2, interval_sec: 10 }, [0, 0, 0, 20_000], '++-+'],
  [{ like: 'google-cloud-armor', count: 1, interval_sec: 10, ban_duration_sec: 60 }, [0, 0, 50_000, 80_000], '+--+'],
  [{ like: 'azure-front-door', threshold: 1, minutes: 1 }, [0, 1000, 61_000], '+-+'],
  [{ like: 'azure-apim', calls: 2, renewal_period: 1 }, [0, 600, 700, 1000, 1100, 1600], '++-+-+'],
  [{ like: 'azure-apim', calls: 2, renewal_period: 1, tier: 'v2' }, [0, 0, 0, 500], '++-+'],
  [{ like: 'azure-apim-quota', calls: 1, renewal_period: 60 }, [500, 60_499, 60_500], '+-+'],
  [{ like: 'tyk', rate: 2, per: 1 }, [500, 500, 500, 1400, 1500], '++--+'],
  [{ like: 'tyk', rate: 2, per: 1, limiter: 'fixed-window' }, [500, 500, 500, 1000], '++-+'],
  [{ like: 'tyk', rate: 1, per: 1, limiter: 'redis' }, [0, 500, 900, 1400], '+---'],
  [{ like: 'tyk', rate: 2, per: 1, limiter: 'redis' }, [0, 900, 950, 1850, 1900], '++---'],
  [{ like: 'tyk', rate: 2, per: 1, limiter: 'redis' }, [0, 900, 1500, 1600, 2500], '+++-+'],
  [{ like: 'laravel', maxAttempts: 2, decaySeconds: 10 }, [0, 0, 0, 9000, 10_000], '++--+'],
  [{ like: 'rack-attack', limit: 2, period: 10 }, [8000, 8000, 8000, 10_000], '++-+'],
  [{ like: 'governor', period: '100ms', burst: 2 }, [0, 0, 0, 100, 100], '++-+-'],
  [{ like: 'gubernator', limit: 2, duration: 1000 }, [500, 500, 1400, 1500, 1501], '++--+'],
  [{ like: 'gubernator', limit: 2, duration: 1000, algorithm: 'LEAKY_BUCKET' }, [0, 0, 0, 500], '++-+'],
  [{ like: 'unkey', limit: 2, duration: 1000 }, [0, 0, 0, 1400, 1600, 1600], '++-++-'],
];

it.each(cases)('a product decides as its documents say: %j at %j ms', (given, times, decided) => {
  const delays = play(ruleOf(definitionOf(given, 777)), times);
  expect(delays.map((delay) => (delay === LIMITED ? '-' : '+')).join('')).toBe(decided);
});

it('every product of the table has a case', () => {
  expect([...new Set(cases.map(([{ like }]) => like))]).toEqual(Object.keys(gateways));
});
