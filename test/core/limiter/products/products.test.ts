// Products in their own words: what they translate to, held to the decisions of the real ones.
import { expect, it } from 'vitest';
import { planRule } from '../../../../src/core/limiter/planned-rule.js';
import { gateways } from '../../../../src/core/limiter/products/gateways.js';
import { limitFiles } from '../../../../src/core/limiter/products/limit-files.js';
import { readLimit } from '../../../../src/core/limiter/products/limit-text.js';
import { checkLimiter, limiterDefinition, limiterNotes } from '../../../../src/core/limiter/products/limiter-spec.js';
import { definitionOf, productOf, products } from '../../../../src/core/limiter/products/products.js';
import { profileOf } from '../../../../src/core/limiter/products/profile.js';
import { announcedWait } from '../../../../src/core/limiter/rule/announced.js';
import { LIMITED } from '../../../../src/core/limiter/rule/rule.js';
import { ruleOf } from '../../../../src/core/limiter/rule/rule-definition.js';
import { failureOf } from '../../../failures.js';
import { compare, limiters } from '../rule/decisions.js';

const byName = new Map(limiters.map((limiter) => [limiter.name, limiter]));

/** Parameters as a person writes them, and the run of the real thing that had these. */
const real: readonly (readonly [limit: string, name: string])[] = [
  ['nginx rate=10r/s', 'nginx-limit_req-10rs.exact'],
  ['nginx rate=10r/s burst=5', 'nginx-limit_req-10rs-burst5.exact'],
  ['nginx rate=10r/s burst=10 delay=3', 'nginx-limit_req-10rs-burst10-delay3.exact'],
  ['nginx rate=60r/m burst=2 nodelay', 'nginx-limit_req-60rm-burst2-nodelay.exact'],
  ['nginx rate=7r/m burst=3 nodelay', 'nginx-limit_req-7rm-burst3-nodelay.exact'],
  ['nginx-limit-conn connections=3', 'nginx-limit_conn-3'],
  ['haproxy period=1s limit=10', 'haproxy-http_req_rate-1s.exact'],
  ['haproxy-gpc0-rate period=1s limit=10', 'haproxy-gpc0_rate-1s-admitted-only.exact'],
  ['haproxy-http-req-cnt expire=1000 limit=10', 'haproxy-http_req_cnt-expire1s.exact'],
  ['haproxy-maxconn maxconn=2 queue=400ms', 'haproxy-maxconn2-queue400'],
  ['varnish limit=10 period=1', 'varnish-vsthrottle-10-1s.exact'],
  ['varnish limit=10 period=1s block=2s', 'varnish-vsthrottle-10-1s-block2s.exact'],
  ['traefik average=10 period=1s burst=5', 'traefik-ratelimit-avg10-burst5'],
  ['envoy-local max_tokens=10 tokens_per_fill=10 fill_interval=1s', 'doc-envoy-local_ratelimit-atomic'],
  ['envoy max_tokens=10 tokens_per_fill=10 fill_interval=1 timer', 'doc-envoy-local_ratelimit-timer'],
  ['kong second=10', 'doc-kong-rate-limiting-local'],
  ['caddy max_events=10 window=1s', 'doc-caddy-ratelimit'],
  ['aws bucket=100 refill_per_s=20', 'doc-aws-ec2-DescribeHosts'],
  ['express-rate-limit windowMs=1000 limit=10', 'express-rate-limit-memory'],
  ['express-slow-down windowMs=1000 delayAfter=5 delayMs=100', 'express-slow-down'],
  ['hono windowMs=1000 limit=10', 'hono-rate-limiter-memory'],
  ['fastify max=10 timeWindow="1 second"', 'fastify-rate-limit-local'],
  ['fastify max=10 timeWindow=1000 store=redis', 'fastify-rate-limit-redis'],
  ['fastify max=10 timeWindow=1000 ban=2', 'fastify-rate-limit-local-ban2'],
  ['fastify max=10 timeWindow=1000 continueExceeding', 'fastify-rate-limit-local-continueExceeding'],
  ['fastify max=10 timeWindow=1000 exponentialBackoff', 'fastify-rate-limit-local-exponentialBackoff'],
  ['fastify max=10 timeWindow=1000 exponentialBackoff store=redis', 'fastify-rate-limit-redis-exponentialBackoff'],
  ['rate-limiter-flexible points=10 duration=1', 'rate-limiter-flexible-memory'],
  ['rate-limiter-flexible points=10 duration=1 store=redis', 'rate-limiter-flexible-redis'],
  ['rate-limiter-flexible points=10 duration=1 blockDuration=3', 'rate-limiter-flexible-memory-block3s'],
  [
    'rate-limiter-flexible points=10 duration=1 store=redis inMemoryBlockDuration=3',
    'rate-limiter-flexible-redis-inMemoryBlock',
  ],
  ['rate-limiter-flexible points=10 duration=1 execEvenly', 'rate-limiter-flexible-memory-execEvenly'],
  ['rate-limiter-flexible-bursty points=2 duration=1 burstPoints=5 burstDuration=10', 'rate-limiter-flexible-bursty'],
  ['rate-limiter-flexible-union limits=[[5,1],[12,5]]', 'rate-limiter-flexible-union'],
  ['koa-ratelimit max=10 duration=1000', 'koa-ratelimit-memory'],
  ['koa-ratelimit max=10 duration=1000 driver=redis', 'async-ratelimiter'],
  ['async-ratelimiter max=10 duration=1s', 'async-ratelimiter'],
  ['nestjs ttl=1000 limit=10', 'nestjs-throttler'],
  ['nestjs ttl=1000 limit=10 blockDuration=0', 'nestjs-throttler-block0'],
  ['lambda interval=1000 limit=10', 'lambda-rate-limiter'],
  ['limiter tokensPerInterval=10 interval=1000', 'limiter-RateLimiter-try'],
  ['limiter-token-bucket bucketSize=10 tokensPerInterval=10 interval=1000', 'limiter-TokenBucket-try'],
  ['convex kind="token bucket" rate=10 period=1000', 'convex-rate-limiter-token-bucket'],
  ['convex kind="fixed window" rate=10 period=1000 capacity=20', 'convex-rate-limiter-fixed-window-cap20'],
  ['upstash algorithm=fixedWindow tokens=10 window="1 s" ephemeralCache=false', 'upstash-fixedWindow'],
  ['upstash algorithm=slidingWindow tokens=10 window="1 s"', 'upstash-slidingWindow-ephemeralCache'],
  ['upstash algorithm=slidingWindow tokens=10 window="1 s" ephemeralCache=false', 'upstash-slidingWindow'],
  ['upstash algorithm=tokenBucket tokens=10 window="500 ms" refillRate=5 ephemeralCache=false', 'upstash-tokenBucket'],
  ['x/time limit=10 burst=10', 'go-x-time-rate-allow'],
  ['x-time limit=10 burst=5 wait=500ms', 'go-x-time-rate-reserve-wait500'],
  ['juju fillInterval=100ms capacity=10', 'juju-ratelimit-take-available'],
  ['juju fillInterval=200ms capacity=10 quantum=2 maxWait=300ms', 'juju-ratelimit-take-maxwait300'],
  ['uber rate=10', 'doc-uber-ratelimit-slack10'],
  ['guava permitsPerSecond=10', 'guava-SmoothBursty-tryAcquire'],
  ['guava permitsPerSecond=10 call=acquire', 'guava-SmoothBursty-acquire'],
  ['guava permitsPerSecond=10 warmupPeriod=1s', 'guava-SmoothWarmingUp-tryAcquire'],
  ['resilience4j limitForPeriod=10 limitRefreshPeriod=1s timeoutDuration=500ms', 'doc-resilience4j-atomic-timeout500'],
  ['bucket4j capacity=10 period=1s', 'doc-bucket4j-greedy'],
  ['bucket4j capacity=10 period=1s refill=intervally', 'doc-bucket4j-intervally'],
  ['spring replenishRate=10 burstCapacity=20', 'doc-spring-cloud-gateway'],
  ['python-limits rate="10 per 1 second"', 'python-limits-fixed'],
  ['slowapi rate=10/second strategy=moving-window', 'python-limits-moving'],
  ['python-limits rate=10/second strategy=fixed-window-elastic-expiry', 'python-limits-fixed-elastic'],
  ['python-limits rate=10/s strategy=sliding-window-counter', 'doc-python-limits5-sliding-window-counter'],
  ['django rate=5/m key=127.0.0.1', 'doc-django-ratelimit-5m'],
  ['symfony policy=fixed_window limit=10 interval="1 second"', 'symfony-fixed-window'],
  ['symfony policy=sliding_window limit=10 interval="1 second"', 'symfony-sliding-window'],
  ['symfony policy=token_bucket limit=10 interval="1 second" amount=5', 'symfony-token-bucket'],
  ['aspnet limiter=FixedWindow PermitLimit=10 Window=1s', 'doc-aspnet-FixedWindow'],
  ['aspnet limiter=SlidingWindow PermitLimit=10 Window=1s SegmentsPerWindow=4', 'doc-aspnet-SlidingWindow-4'],
  ['aspnet limiter=TokenBucket PermitLimit=10 Window=200ms TokensPerPeriod=2', 'doc-aspnet-TokenBucket'],
  ['redis-cell max_burst=9 count_per_period=10 period=1', 'doc-redis-cell'],
];

it.each(real)('%s decides as the real one: %s', (given, name) => {
  const limiter = { ...byName.get(name)!, rule: definitionOf(readLimit(given), 777) };
  const { wrong, wrongDelays, wrongWaits } = compare(limiter);
  // What these announce is not in the decisions that were computed from their documentation.
  const isSilent = name.startsWith('doc-');
  expect([wrong, wrongDelays, isSilent ? 0 : wrongWaits]).toEqual([0, 0, 0]);
});

it('every product but cloudflare is held to the real one, or to its documents in gateways.test.ts', () => {
  const held = new Set([...real.map(([given]) => productOf(given.split(' ')[0]!).name), ...Object.keys(gateways)]);
  expect(Object.keys(products).filter((name) => !held.has(name))).toEqual(['cloudflare']);
});

// Ten requests at 0.3 s of a clock second, one each 50 ms; what is announced to the refused, in ms from then.
const python = (strategy: string) => ({ like: 'python-limits', rate: '10 per 1 second', strategy });
it.each([
  // The window ends at 1.3 s, and is announced as 1 s of the clock.
  [python('fixed-window'), 900, 100],
  [python('fixed-window'), 1250, -250],
  // Each request moves the end: 2.2 s.
  [python('fixed-window-elastic-expiry'), 1200, 800],
  // The newest admitted came at 0.75 s and leaves at 1.75 s.
  [python('moving-window'), 900, 100],
  [python('moving-window'), 1250, -250],
  // The oldest of the log leaves at 1.3 s.
  [{ like: 'async-ratelimiter', max: 10, duration: 1000 }, 1250, -250],
  [{ like: 'koa-ratelimit', max: 10, duration: 1000, driver: 'redis' }, 900, 100],
])('a product announces what the real one announces, not the true wait: %j refused at %i: %i', (given, at, wait) => {
  const definition = definitionOf(given, 777);
  const rule = ruleOf(definition);
  const secondMs = 1_700_000_000_000;
  const state = rule.fresh(secondMs);
  for (let i = 0; i < 10; i += 1) expect(rule.admit(state, secondMs + 300 + 50 * i, 1, 0)).toBe(0);
  expect(rule.admit(state, secondMs + at, 1, 0)).toBe(LIMITED);
  expect(announcedWait(rule, definition.announces, state, secondMs + at, 1)).toBe(wait);
});

// After two requests at once: seen with the libraries, and computed from freq_ctr.c of HAProxy, which keeps the turn at 11 ms as 10. In ms.
// biome-ignore format: one case a line
it.each<[limit: string, more: [ms: number, n: number][], decided: string[]]>([
  ['fastify max=2 timeWindow=2000 exponentialBackoff', [[0, 1], [100, 1]], ['told 2000', 'told 4000']],
  ['fastify max=2 timeWindow=2000 exponentialBackoff continueExceeding', [[0, 1], [100, 1]], ['told 2000', 'told 2000']],
  ['fastify max=2 timeWindow=2000 exponentialBackoff continueExceeding store=redis', [[0, 1], [100, 1], [2100, 1]], ['told 2000', 'told 2000', 'told 2000']],
  ['flexible points=2 duration=1 blockDuration=3 execEvenly', [[100, 1], [1000, 1], [3100, 1]], ['told 3000', 'told 2100', 'held 0']],
  ['flexible points=7 duration=60 execEvenly', [[50000, 1]], ['held 25716']],
  ['flexible points=2 duration=1 execEvenly store=redis', [[1000, 1], [1001, 1]], ['told 0', 'held 0']],
  ['flexible points=2 duration=1.9 store=redis', [[1000, 1], [1001, 1]], ['told 0', 'held 0']],
  ['flexible points=2 duration=1 blockDuration=2.5 store=redis', [[0, 1], [2000, 1], [2001, 1]], ['told 2000', 'told 0', 'held 0']],
  ['flexible points=2 duration=1 inMemoryBlockDuration=3', [[0, 1], [1000, 1]], ['told 1000', 'held 0']],
  ['upstash algorithm=fixedWindow tokens=2 window="1 s"', [[5, 1], [1000, 1], [1001, 2]], ['told 995', 'told 0', 'held 0']],
  ['upstash algorithm=fixedWindow tokens=2 window="1 s" ephemeralCache=false', [[5, 1], [1000, 2]], ['told 995', 'held 0']],
  ['upstash algorithm=tokenBucket tokens=2 window="1 s"', [[1000, 2], [1200, 3], [2000, 1], [2001, 2]], ['held 0', 'told 800', 'told 0', 'held 0']],
  ['express 0 in 1s', [[5, 1]], ['told undefined']],
  ['fastify max=0 timeWindow=1000', [[5, 1]], ['told undefined']],
  ['flexible points=0 duration=1', [[5, 1]], ['told undefined']],
  ['nestjs 0 in 1s', [[5, 1]], ['told undefined']],
  ['laravel 0 in 1 min', [[5, 1]], ['told undefined']],
  ['varnish 0 in 1s', [[5, 1]], ['told undefined']],
  ['caddy 0 in 1s', [[5, 1]], ['told undefined']],
  ['django rate=0/m', [[5, 1]], ['told undefined']],
  ['x-time limit=10 burst=0', [[5, 1]], ['told undefined']],
  ['haproxy period=11ms limit=2', [[11, 1]], ['held 0']],
  ['haproxy-gpc0-rate period=11ms limit=2', [[12, 1], [16, 1]], ['held 0', 'held 0']],
])('%s decides the requests after two as the product does', (limit, more, decided) => {
  const definition = definitionOf(readLimit(limit), 777);
  const rule = ruleOf(definition);
  const state = rule.fresh(0);
  for (let sent = 0; sent < 2; sent += 1) rule.admit(state, 0, 1, 0);
  const seen = more.map(([ms, n]) => {
    const heldMs = rule.admit(state, ms, n, 0);
    return heldMs === LIMITED ? `told ${announcedWait(rule, definition.announces, state, ms, n)}` : `held ${heldMs}`;
  });
  expect(seen).toEqual(decided);
});

it.each([
  ['10 per 1 year', 10, 360],
  ['5/2Months', 5, 60],
  ['7 per day', 7, 1],
])('a rate of Python limits is read as there, where a year has twelve months of 30 days: %s', (rate, limit, days) => {
  const definition = definitionOf({ like: 'python-limits', rate }, 777);
  expect(definition.params).toMatchObject({ limit, window_ms: days * 86_400_000 });
});

// Taken at 0, back by 200. Full, the tick of the grid stands still, and the first taken comes back at once by the ticks since then: those
// since 0, or since the request of cost 3 found it full.
// biome-ignore format: one case a line
it.each<[costs: [ms: number, n: number][], admitted: number[]]>([
  [[[0, 2], [1050, 1], [1050, 1], [1050, 1]], [1, 1, 1, 0]],
  [[[0, 1], [950, 3], [1050, 1], [1050, 1], [1050, 1]], [1, 0, 1, 1, 1]],
  [[[0, 1], [1020, 3], [1050, 1], [1050, 1], [1050, 1]], [1, 0, 1, 1, 0]],
])('a request that costs more than the capacity brings a bucket of juju up to date: %j', (costs, admitted) => {
  const rule = ruleOf(definitionOf({ like: 'juju', fillInterval: '100ms', capacity: 2 }, 777));
  const state = rule.fresh(0);
  expect(costs.map(([ms, n]) => (rule.admit(state, ms, n, 0) === LIMITED ? 0 : 1))).toEqual(admitted);
});

it.each([
  ['ngnix', 'Did you mean nginx?', 'did you mean "nginx"?'],
  ['zzzzqqq', '`weir limiter` lists those that there are.', '`weir limiter` lists those that there are'],
])('the name %s, which no product has, is refused with what to write', (name, fix, hint) => {
  const failure = failureOf(() => productOf(name));
  expect(failure).toMatchObject({ what: `No limiter is called "${name}".`, fix });
  expect(failure?.faults).toEqual([{ path: '/like', message: `"${name}" is no limiter that is known; ${hint}` }]);
});

it.each(Object.entries(products))('%s has an example that fits, and a profile', (name, { example }) => {
  const profile = profileOf(definitionOf({ like: name, ...example }, 777));
  expect(profile.mostInASecond ?? Number.POSITIVE_INFINITY).toBeGreaterThan(0);
  expect(profile.atRate.admitted).toBeGreaterThan(0);
});

// biome-ignore format: one case a line
it.each([
    ['limit_req_zone $binary_remote_addr zone=a:10m rate=10r/s;\nlimit_req zone=a burst=5 nodelay;',
      [{ like: 'nginx', rate: '10r/s', burst: 5, nodelay: true }]],
    [
      'limit_req_zone $host zone=a:1m rate=1r/s; limit_req_zone $uri zone=b:1m rate=60r/m; limit_req zone=b; limit_req zone=a delay=2 burst=8;',
      [{ like: 'nginx', rate: '60r/m' }, { like: 'nginx', rate: '1r/s', burst: 8, delay: 2 }],
    ],
    ['limit_conn_zone $host zone=c:1m; limit_conn c 3;', [{ like: 'nginx-limit-conn', connections: 3 }]],
    [
      'stick-table type ip size 1m expire 10s store http_req_rate(10s)\nhttp-request track-sc0 src\nhttp-request deny deny_status 429 if { sc_http_req_rate(0) gt 20 }',
      [{ like: 'haproxy-http-req-rate', period: '10s', limit: 20 }],
    ],
    ['stick-table type ip size 1m store gpc0_rate(1s)\nhttp-request deny if { sc0_gpc0_rate ge 10 }',
      [{ like: 'haproxy-gpc0-rate', period: '1s', limit: 10 }]],
    ['stick-table type ip size 1m expire 2000 store http_req_cnt\nhttp-request deny if { sc_http_req_cnt(0) gt 10 }',
      [{ like: 'haproxy-http-req-cnt', expire: 2000, limit: 10 }]],
    ['timeout queue 400ms\nserver a 127.0.0.1:80 maxconn 2', [{ like: 'haproxy-maxconn', maxconn: 2, queue: '400ms' }]],
  ])('a stanza is read as its limits: %s', (text, expected) => {
    expect(limitFiles().readStanza(text)).toEqual({ limiters: [{ name: undefined, limits: expected }], notes: [] });
  });

it('a stanza of HAProxy says which conditions it leaves out', () => {
  const text = `stick-table type ip size 1m expire 10s store http_req_rate(10s)
  http-request track-sc0 src
  http-request deny if { sc_http_req_rate(0) gt 20 } { path_beg /api } !office`;
  expect(limitFiles().readStanza(text)).toMatchObject({
    limiters: [{ name: '/api' }],
    notes: [
      'Line 3: it refuses only if path begins with /api and not (what office asks); here it may refuse every request of the place.',
    ],
  });
});

it('a stanza with several limits is all of them', () => {
  const paste =
    'limit_req_zone $host zone=a:1m rate=1r/s; limit_conn_zone $host zone=c:1m; limit_req zone=a; limit_conn c 3;';
  expect(definitionOf({ paste }, 777)).toMatchObject({
    primitive: 'and',
    params: { of: [{ primitive: 'nginx_limit_req' }, { primitive: 'concurrency' }] },
  });
});

it.each(['server { listen 80; }', 'limit_req zone=a;', 'http-request deny if { sc_http_req_rate(0) gt 20 }'])(
  'a text that is no stanza is refused: %s',
  (text) => {
    expect(() => limitFiles().readStanza(text)).toThrow(expect.objectContaining({ code: 'invalid_definition' }));
  },
);

it("a limiter of Weir's own is a rolling count", () => {
  expect(definitionOf({ threshold: 5, within: '7770ms' }, 777)).toEqual({
    primitive: 'rolling_count',
    params: { threshold: 5, within: 10, cycle_ms: 777 },
  });
});

// biome-ignore format: one case a line
it.each([
    ['an unknown product', { like: 'ngnix', rate: '10r/s' }, '/like'],
    ['an unknown parameter', { like: 'nginx', rate: '10r/s', brust: 5 }, '/brust'],
    ['a parameter that does not fit', { like: 'nginx', rate: '10' }, '/rate'],
    ['a time that Redis is not told', { like: 'flexible', points: 2, duration: 0.5, store: 'redis' }, undefined],
    ['an unknown primitive', { primitive: 'gcro', params: {} }, '/primitive'],
    ['a parameter out of bounds', { primitive: 'gcra', params: { T_ms: 0, tau_ms: 1 } }, '/params/T_ms'],
    ['a member that does not fit', { primitive: 'and', params: { of: [{ primitive: 'gcra', params: {} }] } }, '/params/of/0/params/T_ms'],
  ])('a limiter that does not fit is refused with its place: %s', (_, given, path) => {
    expect(failureOf(() => definitionOf(given, 777))?.faults[0]?.path).toBe(path);
  });

const conf = `
http {
  map $http_x_partner $limit_key {   # partners are not limited
    default $binary_remote_addr;
    ~.+ "";
  }
  limit_req_zone $limit_key zone=api:10m rate=10r/s;
  limit_req_zone $binary_remote_addr zone=login:10m rate=5r/m;
  limit_req_zone $binary_remote_addr zone=spare:10m rate=1r/s;
  limit_conn_zone $binary_remote_addr zone=conns:10m;
  include /etc/nginx/local.conf;
  server {
    limit_conn conns 20;
    location /api { limit_req zone=api burst=20 nodelay; proxy_pass "http://{app}"; }
    location = /login { limit_req zone=login; limit_req_status 429; }
    location /trial { limit_req zone=spare; limit_req_dry_run on; limit_conn conns 2; }
    location / { root /srv; }
  }
}`;

it('a whole nginx.conf says what is not in its limiters, with its line', () => {
  expect(limitFiles().readStanza(conf).notes).toEqual([
    'Line 11: /etc/nginx/local.conf is included, and was not read.',
    'Line 14: it counts by the header x-partner, and no request without one; here it counts every request.',
    'Line 16: limit_req_dry_run is on: its limit_req refuse nothing, and are left out.',
  ]);
});

it('a whole nginx.conf is one limiter only if a location is named', () => {
  expect(() => definitionOf({ paste: conf }, 777)).toThrow(
    expect.objectContaining({
      code: 'invalid_definition',
      why: 'Each place has its own: server; location /api; location = /login; location /trial.',
    }),
  );
  expect(definitionOf({ paste: conf, location: 'location /trial' }, 777)).toMatchObject({
    primitive: 'concurrency',
    params: { limit: 2 },
  });
  expect(() => definitionOf({ paste: conf, location: 'location /ap' }, 777)).toThrow(
    expect.objectContaining({ code: 'invalid_definition' }),
  );
});

// biome-ignore format: one case a line
it.each([
  ['limit_req_zone $host zone=a:1m rate=1r/s; limit_req_dry_run on; limit_req zone=a;', 'Line 1: limit_req_dry_run is on'],
  ['limit_req_zone $host zone=a:1m rate=1r/s; location / { }', 'the zone a limits nothing'],
  ['limit_req_zone $host zone=a:1m rate=1r/s; limit_req zone=a burst=$b;', 'Line 1: nginx refuses burst=$b.'],
  ['limit_req_zone $host zone=a:1m rate=1r/s;\nlimit_req zone=a', 'Line 2: nginx refuses the file: limit_req has no semicolon.'],
])('what nginx refuses, and what limits nothing, is refused: %j', (text, why) => {
  expect(() => limitFiles().readStanza(text)).toThrow(expect.objectContaining({ why: expect.stringContaining(why) }));
});

it.each(Object.entries(products))('%s forgets a burst in a time that can be named', (name, { example }) => {
  // Two years, the longest that is looked for: none was found. A run with such a rule would look on for as long.
  expect(planRule(definitionOf({ like: name, ...example }, 777)).spanMs).toBeLessThan(2 ** 36);
});

const window = { threshold: 5, within: 60, near_limit: 0.8 };
const other = { threshold: 50, within: 600 };
it.each([
  ['in one of several windows', { and: [other, window] }, '/limiter/and/1/near_limit'],
  ['out of its range', { and: [{ ...window, near_limit: 7 }, other] }, '/limiter/and/0/near_limit'],
  ['misspelt', { and: [{ ...other, near_limt: 0.8 }, other] }, '/limiter/and/0/near_limt'],
])('near_limit is refused %s', (_, limiter, path) => {
  expect(failureOf(() => checkLimiter(limiter, '/limiter'))?.faults.map((fault) => fault.path)).toEqual([path]);
});
it('near_limit is refused beside what makes a rule of the window', () => {
  for (const more of [{ hold_ms: 100 }, { counts: 'cost' }])
    expect(failureOf(() => definitionOf({ ...window, ...more }, 777))?.faults).toMatchObject([{ path: '/near_limit' }]);
});
it('near_limit of one window is a state of its contract, and a note says that it limits nothing', () => {
  expect(Object.keys(limiterDefinition(window, 777).states)).toEqual(['allowing', 'nearing', 'limiting']);
  expect(limiterNotes(window)).toEqual([
    'near_limit=0.8 limits nothing: from 4 requests in the window on, the contract is in the state nearing.',
  ]);
  expect([other, undefined].map(limiterNotes)).toEqual([[], []]);
});
