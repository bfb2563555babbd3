// Products in their own words: what they translate to, held to the decisions of the real ones.
import { describe, expect, it } from 'vitest';
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
import { tablesBeside } from '../../../tables-beside.js';
import { compare, limiters } from '../rule/decisions.js';

const tables = tablesBeside(import.meta.url);

const byName = new Map(limiters.map((limiter) => [limiter.name, limiter]));

/** Parameters as a person writes them, and the run of the real thing that had these. */
const real: readonly (readonly [limit: string, name: string])[] = tables.real;

/** What these announce is not in the decisions that were computed from their documentation. */
const silent = (name: string) => name.startsWith('doc-');

describe('a product decides as the real one', () => {
  it.each(real)('%s: %s', (given, name) => {
    const limiter = { ...byName.get(name)!, rule: definitionOf(readLimit(given), 777) };
    const seen = limiter.runs.map((run) => compare(limiter, run));
    expect(seen.reduce((sum, { wrong }) => sum + wrong, 0)).toBe(0);
    expect(seen.reduce((sum, { wrongDelays }) => sum + wrongDelays, 0)).toBe(0);
    if (!silent(name)) expect(seen.reduce((sum, { wrongWaits }) => sum + wrongWaits, 0)).toBe(0);
  });

  it('and every product is among them, or is stated by its documents in gateways.test.ts', () => {
    const held = new Set([...real.map(([given]) => productOf(given.split(' ')[0]!).name), ...Object.keys(gateways)]);
    expect(Object.keys(products).filter((name) => !held.has(name))).toEqual(['cloudflare']);
  });
});

// Ten requests at 0.3 s of a clock second, one each 50 ms; what is announced to the refused, in ms from then.
describe('announces what the product announces, and not the true wait', () => {
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
  ])('%j refused at %i: %i', (given, at, wait) => {
    const definition = definitionOf(given, 777);
    const rule = ruleOf(definition);
    const secondMs = 1_700_000_000_000;
    const state = rule.fresh(secondMs);
    for (let i = 0; i < 10; i += 1) expect(rule.admit(state, secondMs + 300 + 50 * i, 1, 0)).toBe(0);
    expect(rule.admit(state, secondMs + at, 1, 0)).toBe(LIMITED);
    expect(announcedWait(rule, definition.announces, state, secondMs + at, 1)).toBe(wait);
  });
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

describe('every product', () => {
  it.each(Object.entries(products))('%s has an example that fits, and a profile', (name, { example }) => {
    const profile = profileOf(definitionOf({ like: name, ...example }, 777));
    expect(profile.mostInASecond ?? Number.POSITIVE_INFINITY).toBeGreaterThan(0);
    expect(profile.atRate.admitted).toBeGreaterThan(0);
  });
});

describe('a stanza', () => {
  it.each<[text: string, expected: object[]]>(tables.rules)('%s', (text, expected) => {
    expect(limitFiles().readStanza(text)).toEqual({ limiters: [{ name: undefined, limits: expected }], notes: [] });
  });

  it('of HAProxy says which conditions it leaves out', () => {
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

  it('with several limits is all of them', () => {
    const paste =
      'limit_req_zone $host zone=a:1m rate=1r/s; limit_conn_zone $host zone=c:1m; limit_req zone=a; limit_conn c 3;';
    expect(definitionOf({ paste }, 777)).toMatchObject({
      primitive: 'and',
      params: { of: [{ primitive: 'nginx_limit_req' }, { primitive: 'concurrency' }] },
    });
  });

  it.each(['server { listen 80; }', 'limit_req zone=a;', 'http-request deny if { sc_http_req_rate(0) gt 20 }'])(
    'that is none is refused: %s',
    (text) => {
      expect(() => limitFiles().readStanza(text)).toThrow(expect.objectContaining({ code: 'invalid_definition' }));
    },
  );
});

describe('a limiter', () => {
  it("of Weir's own is a rolling count", () => {
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
    ['an unknown primitive', { primitive: 'gcro', params: {} }, '/primitive'],
    ['a parameter out of bounds', { primitive: 'gcra', params: { T_ms: 0, tau_ms: 1 } }, '/params/T_ms'],
    ['a member that does not fit', { primitive: 'and', params: { of: [{ primitive: 'gcra', params: {} }] } }, '/params/of/0/params/T_ms'],
  ])('is refused with its place: %s', (_, given, path) => {
    expect(failureOf(() => definitionOf(given, 777))?.faults[0]?.path).toBe(path);
  });
});

describe('a whole nginx.conf', () => {
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

  it('has a limiter for each location with its own limits, and inherits what it does not set', () => {
    expect(limitFiles().readStanza(conf).limiters).toEqual([
      { name: 'server', limits: [{ like: 'nginx-limit-conn', connections: 20 }] },
      {
        name: 'location /api',
        limits: [
          { like: 'nginx', rate: '10r/s', burst: 20, nodelay: true },
          { like: 'nginx-limit-conn', connections: 20 },
        ],
      },
      {
        name: 'location = /login',
        limits: [
          { like: 'nginx', rate: '5r/m' },
          { like: 'nginx-limit-conn', connections: 20 },
        ],
      },
      { name: 'location /trial', limits: [{ like: 'nginx-limit-conn', connections: 2 }] },
    ]);
  });

  it('says what is not in them, with its line', () => {
    expect(limitFiles().readStanza(conf).notes).toEqual([
      'Line 11: /etc/nginx/local.conf is included, and was not read.',
      'Line 14: it counts by the header x-partner, and no request without one; here it counts every request.',
      'Line 16: limit_req_dry_run is on: its limit_req refuse nothing, and are left out.',
    ]);
  });

  it('is one limiter only if a location is named', () => {
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

  it('names the server where there are several', () => {
    const zone = 'limit_req_zone $host zone=a:1m rate=1r/s;';
    const server = (name: string) => `server { server_name ${name}; location / { limit_req zone=a; } }`;
    const names = (text: string) =>
      limitFiles()
        .readStanza(text)
        .limiters.map(({ name }) => name);
    expect(names(`${zone} ${server('a.example')} ${server('b.example')}`)).toEqual([
      'server a.example, location /',
      'server b.example, location /',
    ]);
  });

  // biome-ignore format: one case a line
  it.each([
    ['limit_req_zone $host zone=a:1m rate=1r/s; limit_req_dry_run on; limit_req zone=a;', 'Line 1: limit_req_dry_run is on'],
    ['limit_req_zone $host zone=a:1m rate=1r/s; location / { }', 'the zone a limits nothing'],
    ['limit_req_zone $host zone=a:1m rate=1r/s; limit_req zone=a burst=$b;', 'Line 1: nginx refuses burst=$b.'],
    ['limit_req_zone $host zone=a:1m rate=1r/s;\nlimit_req zone=a', 'Line 2: nginx refuses the file: limit_req has no semicolon.'],
  ])('refuses %j', (text, why) => {
    expect(() => limitFiles().readStanza(text)).toThrow(expect.objectContaining({ why: expect.stringContaining(why) }));
  });
});

it.each(Object.entries(products))('%s forgets a burst in a time that can be named', (name, { example }) => {
  // Two years, the longest that is looked for: none was found. A run with such a rule would look on for as long.
  expect(planRule(definitionOf({ like: name, ...example }, 777)).spanMs).toBeLessThan(2 ** 36);
});

describe('near_limit', () => {
  const window = { threshold: 5, within: 60, near_limit: 0.8 };
  const other = { threshold: 50, within: 600 };
  it.each([
    ['in one of several windows', { and: [other, window] }, '/limiter/and/1/near_limit'],
    ['out of its range', { and: [{ ...window, near_limit: 7 }, other] }, '/limiter/and/0/near_limit'],
    ['misspelt', { and: [{ ...other, near_limt: 0.8 }, other] }, '/limiter/and/0/near_limt'],
  ])('is refused %s, which has no state nearing', (_, limiter, path) => {
    expect(failureOf(() => checkLimiter(limiter, '/limiter'))?.faults.map((fault) => fault.path)).toEqual([path]);
  });
  it('is refused beside what makes a rule of the window', () => {
    for (const more of [{ hold_ms: 100 }, { counts: 'cost' }])
      expect(failureOf(() => definitionOf({ ...window, ...more }, 777))?.faults).toMatchObject([
        { path: '/near_limit' },
      ]);
  });
  it('of one window is a state of its contract, and a note says that it limits nothing', () => {
    expect(Object.keys(limiterDefinition(window, 777).states)).toEqual(['allowing', 'nearing', 'limiting']);
    expect(limiterNotes(window)).toEqual([
      'near_limit=0.8 limits nothing: from 4 requests in the window on, the contract is in the state nearing.',
    ]);
    expect([other, undefined].map(limiterNotes)).toEqual([[], []]);
  });
});
