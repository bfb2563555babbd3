// A limit that is written as a file of a gateway is read back as the same limit.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Like } from '../../src/gateway/found.js';
import { limitersIn } from '../../src/gateway/limits-in.js';
import { limitWriters } from '../../src/gateway/write.js';
import { definitionOf } from '../../src/limiter/products/products.js';

const n = fc.integer({ min: 1, max: 1_000_000 });
const seconds = fc.integer({ min: 1, max: 100_000 });
const time = fc
  .tuple(fc.integer({ min: 1, max: 200 }), fc.constantFrom('ms', 's', 'm', 'h'))
  .map(([one, unit]) => `${one}${unit}`);
const unit = fc.constantFrom('second', 'minute', 'hour', 'day');
const fields = <T>(required: Record<string, fc.Arbitrary<T>>, optional: Record<string, fc.Arbitrary<unknown>> = {}) =>
  fc.record({ ...required, ...optional } as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: Object.keys(required),
  });

/** By product: its parameters. */
const limits: Readonly<Record<string, fc.Arbitrary<Record<string, unknown>>>> = {
  nginx: fields(
    { rate: fc.tuple(n, fc.constantFrom('s', 'm')).map(([rate, per]) => `${rate}r/${per}`) },
    { burst: fc.integer({ min: 1, max: 1000 }), delay: fc.integer({ min: 1, max: 1000 }), nodelay: fc.constant(true) },
  ).filter(({ delay, nodelay }) => delay === undefined || nodelay === undefined),
  'haproxy-http-req-rate': fields({ period: time, limit: n } as Record<string, fc.Arbitrary<unknown>>),
  'envoy-ratelimit': fields({ requests_per_unit: fc.nat(1000), unit } as Record<string, fc.Arbitrary<unknown>>),
  kong: fc.tuple(fc.constantFrom('second', 'minute', 'hour', 'day'), n).map(([window, limit]) => ({ [window]: limit })),
  'kong-advanced': fields(
    { limit: n, window_size: seconds },
    { window_type: fc.constant('fixed'), disable_penalty: fc.constant(true) },
  ),
  'apisix-limit-count': fields({ count: n, time_window: seconds }),
  traefik: fields({ average: n }, { burst: n, period: time }),
  caddy: fields({ max_events: n, window: time } as Record<string, fc.Arbitrary<unknown>>),
  spring: fields({ replenishRate: n }, { burstCapacity: n }),
  'aws-waf': fields({ limit: n }, { evaluation_window_sec: fc.constantFrom(60, 120, 300, 600) }),
  'aws-api-gateway': fields({ rate_limit: n, burst_limit: n }),
  cloudflare: fields({ requests_per_period: n, period: seconds }, { mitigation_timeout: seconds }),
  'google-cloud-armor': fields({ count: n, interval_sec: seconds }, { ban_duration_sec: seconds }),
  'api-commons': fields({ limit: n, timeframe: unit } as Record<string, fc.Arbitrary<unknown>>),
  'x-rate-limit': fields({ limit: n, window: time } as Record<string, fc.Arbitrary<unknown>>),
};

describe.each(Object.entries(limitWriters))('%s', (_, { file, like, write }) => {
  it('is read back as it was', () => {
    fc.assert(
      fc.property(limits[like]!, fc.constantFrom('client' as const, 'all' as const), (parameters, key) => {
        const limit: Like = { like, ...parameters };
        const read = limitersIn(write(limit, key).join('\n'), file);
        expect(read.limiters.map((one) => one.limit)).toEqual([limit]);
        expect(read.notApplied).toEqual([]);
        expect(definitionOf(read.limiters[0]!.limit, 777)).toEqual(definitionOf(limit, 777));
      }),
      { numRuns: 60 },
    );
  });

  it('has its key', () => {
    const [limit] = fc.sample(limits[like]!, { numRuns: 1, seed: 1 });
    const keyed = (key: 'client' | 'all') =>
      limitersIn(write({ like, ...limit }, key).join('\n'), file).limiters[0]!.key.parts;
    const known = { client: keyed('client'), all: keyed('all') };
    // Keys of an API, of an application and of a resolver are in no log; Traefik knows no key for all but the host.
    if (known.client !== undefined) expect(known.client).toEqual(['client']);
    if (known.all !== undefined) expect(known.all).toEqual(like === 'traefik' ? ['host'] : []);
  });
});
