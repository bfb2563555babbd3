// A move between gateways: which limits belong together, what the products' own figures are, and lines written for another product.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { FoundLimiter } from '../../../src/tools/gateway/found.js';
import { limitChanges } from '../../../src/tools/gateway/limit-changes.js';
import { diffLimits } from '../../../src/tools/gateway/limit-diff.js';
import { moveTo } from '../../../src/tools/gateway/limit-move.js';
import { keyWords } from '../../../src/tools/gateway/limit-pairs.js';
import { admittedAtOnce, paceOf } from '../../../src/tools/gateway/limit-rule.js';
import { limitersIn, limitersInFiles } from '../../../src/tools/gateway/limits-in.js';
import { forAllAsync } from '../../draws.js';
import { temporaryFiles } from '../../left-behind.js';

const { file } = temporaryFiles();
const ingress = (annotations: string, paths = '{ path: /api, pathType: Prefix }') =>
  `kind: Ingress\nmetadata: { name: shop, annotations: { ${annotations} } }\nspec: { rules: [{ host: a.example, http: { paths: [${paths}] } }] }\n`;
const RPS = 'nginx.ingress.kubernetes.io/limit-rps: "5"';
const RPM = 'nginx.ingress.kubernetes.io/limit-rpm: "600"';
const route = (hostname = 'a.example', path = '/api') =>
  `kind: HTTPRoute\nmetadata: { name: shop }\nspec: { hostnames: [${hostname}], rules: [{ matches: [{ path: { value: ${path} } }] }] }\n---\n`;
const target = 'targetRefs: [{ kind: HTTPRoute, name: shop }]';
const kgateway = (limit: string) =>
  `kind: TrafficPolicy\nmetadata: { name: p }\nspec: { ${target}, rateLimit: { ${limit} } }\n`;
const bucket = kgateway('local: { tokenBucket: { maxTokens: 5, tokensPerFill: 5, fillInterval: 1s } }');
const envoyGateway = (limit: string) =>
  `kind: BackendTrafficPolicy\nmetadata: { name: p }\nspec: { ${target}, rateLimit: { ${limit} } }\n`;
const traefik = (limits: string[], match = 'Host(`a.example`) && PathPrefix(`/api`)') =>
  `${limits.map((limit, i) => `kind: Middleware\nmetadata: { name: m${i} }\nspec: { rateLimit: { ${limit} } }\n---\n`).join('')}kind: IngressRoute\nmetadata: { name: r }\nspec: { routes: [{ match: "${match}", middlewares: [${limits.map((_, i) => `{ name: m${i} }`)}] }] }\n`;
const f5 = ingress('nginx.org/limit-req-rate: 5r/s, nginx.org/limit-req-burst: "25"');
const DISTINCT = 'clientSelectors: [{ sourceCIDR: { type: Distinct, value: 0.0.0.0/0 } }]';

const inInstances = (replicas: number, text: string) => limitersInFiles([{ name: 'a.yaml', text }], replicas);
const changed = (old: string, fresh: string, replicas = 1) =>
  limitChanges(inInstances(replicas, old), inInstances(replicas, fresh));
const moved = (old: string, fresh: string, replicas?: number) =>
  changed(old, fresh, replicas).map(({ kind, name, differs }) => [kind, name, ...differs].join('; '));

const ALL = 'key: each client address → *all clients together*';
// biome-ignore format: one case a line
it.each([
  ['kgateway, a bucket', route() + bucket, [`changed; p; 26 → 5 at once; ${ALL}; status: 503 → 429`]],
  ['Envoy Gateway, local', route() + envoyGateway('local: { rules: [{ limit: { requests: 5, unit: Second } }] }'), [`changed; p; 26 → 5 at once; ${ALL}; status: 503 → 429`]],
  ['Envoy Gateway, global', route() + envoyGateway(`global: { rules: [{ ${DISTINCT}, limit: { requests: 300, unit: Minute } }] }`), ['changed; p; 26 → 300 at once; status: 503 → 429']],
  ['Traefik', traefik(['average: 5, burst: 25']), ['changed; m0; 26 → 25 at once; status: 503 → 429']],
  ['Traefik, by its default', traefik(['average: 5']), ['changed; m0; 26 → 1 at once; status: 503 → 429']],
  ['F5, which holds what nginx let through', f5, ['changed; shop; 26 → 1 (+ 25 held) at once; status: 503 → 429']],
  ['a gateway for every host and path', traefik(['average: 5, burst: 26'], 'PathPrefix(`/`)'), ['changed; m0; 26 → 26 at once; status: 503 → 429']],
  ['another path', route('a.example', '/other') + bucket, ['added; p', 'removed; limit-rps']],
  ['another host', route('b.example') + bucket, ['added; p', 'removed; limit-rps']],
])('a move from ingress-nginx changes the figures of the products: %s', (_, fresh, expected) => {
  expect(moved(ingress(RPS), fresh)).toEqual(expected);
});

it('each of two limits of a place goes with that of its pace, and what is left is added', () => {
  const limits = ['average: 600, period: 1m, burst: 3001', 'average: 5, burst: 26', 'average: 1, burst: 2'];
  expect(moved(ingress(`${RPS}, ${RPM}`), traefik(limits))).toEqual([
    'changed; m0; 3,001 → 3,001 at once; status: 503 → 429',
    'changed; m1; 26 → 26 at once; status: 503 → 429',
    'added; m2',
  ]);
});

it('a limit in two parts is two moves', () => {
  const old = ingress(RPS, '{ path: /api, pathType: Prefix }, { path: /v2, pathType: Exact }');
  const routes = ['/api', '/v2'].map((path, i) => route('a.example', path).replaceAll('shop', `shop${i}`));
  const parts = [0, 1].map((i) => bucket.replaceAll('shop', `shop${i}`).replaceAll('name: p ', `name: p${i} `));
  expect(moved(old, `${routes.join('')}${parts.join('---\n')}`).map((one) => one.slice(0, 31))).toEqual([
    'changed; p0; 26 → 5 at once; ke',
    'changed; p1; 26 → 5 at once; ke',
  ]);
});

const shared = route() + envoyGateway(`global: { rules: [{ ${DISTINCT}, limit: { requests: 5, unit: Second } }] }`);
const redis = traefik(['average: 5, burst: 25, redis: { endpoints: [a] }']);
const scaled = ingress('nginx.org/limit-req-rate: 6r/s, nginx.org/limit-req-scale: "true"');
it.each([
  ['both', route() + bucket, '78 → 15 at once; 15/s → 15/s'],
  ['the old ones', shared, '78 → 5 at once; 15/s → 5/s'],
  ['the old ones, and Traefik on Redis', redis, '78 → 25 at once; 15/s → 5/s'],
  ['both, one of which divides its rate', scaled, '78 → 3 at once; 15/s → 6/s'],
])('instances that count by themselves multiply a limit: %s', (_, fresh, expected) => {
  const { differs } = changed(ingress(RPS), fresh, 3)[0]!;
  expect([differs[0], differs.find((one) => one.includes('/s')) ?? '15/s → 15/s'].join('; ')).toBe(expected);
});

it('instances that count by themselves take the requests of a log in turn', async () => {
  const rows = Array.from({ length: 200 }, () => '1767600000000,x,a.example,/api/1');
  const log = file('burst.csv', `ms,client,host,path\n${rows.join('\n')}\n`);
  const sides = { old: inInstances(3, ingress(RPS)), new: inInstances(3, shared) };
  const found = await diffLimits([log], sides, { timeColumn: 'ms' }, {});
  expect([found.requests - found.refused_old, found.requests - found.refused_new]).toEqual([78, 5]);
});

const targets = ['traefik', 'envoy-gateway', 'kgateway', 'nginx', 'haproxy'];
const none = async () => undefined;

const word = fc.constantFrom('a', 'b', 'api', 'v1');
const path = fc.tuple(fc.constantFrom('Prefix', 'Exact'), fc.array(word, { minLength: 1, maxLength: 3 }));
const limits = fc.record({
  rps: fc.option(fc.integer({ min: 1, max: 500 })),
  rpm: fc.option(fc.integer({ min: 1, max: 500 })),
  multiplier: fc.integer({ min: 1, max: 9 }),
  hosts: fc.uniqueArray(fc.constantFrom('a.example', 'b.example'), { minLength: 1 }),
  paths: fc.uniqueArray(path, { minLength: 1, maxLength: 3, selector: ([, words]) => words.join('/') }),
});
const prefix = 'nginx.ingress.kubernetes.io/limit';
const written = (
  { rps, rpm, multiplier, hosts, paths }: typeof limits extends fc.Arbitrary<infer T> ? T : never,
  i: number,
) =>
  `kind: Ingress\nmetadata:\n  name: i${i}\n  annotations: { ${rps === null ? '' : `${prefix}-rps: "${rps}", `}${rpm === null ? '' : `${prefix}-rpm: "${rpm}", `}${prefix}-burst-multiplier: "${multiplier}" }\nspec:\n  rules:\n${hosts.map((host) => `  - host: ${host}\n    http: { paths: [${paths.map(([pathType, words]) => `{ path: /${words.join('/')}, pathType: ${pathType} }`)}] }\n`).join('')}`;
const lossless = (as: string) => as === 'traefik' || as === 'nginx' || as === 'haproxy';

it.each(targets)('what is written for %s is read as the same limits of the same requests', async (as) => {
  await forAllAsync(
    [
      limits,
      limits,
      fc.array(fc.tuple(fc.constantFrom('a.example', 'b.example', 'c.example'), fc.array(word, { maxLength: 4 })), {
        maxLength: 9,
      }),
    ],
    50,
    async (one, two, asked) => {
      // Of one path in two objects the first one holds.
      fc.pre(!one.paths.some(([, a]) => two.paths.some(([, b]) => a.join() === b.join())));
      const old = limitersIn([one, two].map(written).join('---\n'), 'ingress.yaml');
      const { limits: fresh, left } = await moveTo(as, old, 1, none);
      expect(left).toEqual([]);
      for (const [host, words] of asked) {
        const met = [old, fresh].map((side) =>
          side.appliesTo({ host, path: `/${words.join('/')}` }).toSorted((a, b) => paceOf(a)! - paceOf(b)!),
        );
        expect(met[1]!.map(figures(as))).toEqual(met[0]!.map(figures(as)));
        for (const [i, one] of met[1]!.entries())
          expect(Math.abs(paceOf(one)! / paceOf(met[0]![i]!)! - 1)).toBeLessThan(lossless(as) ? 0.003 : 0.07);
      }
    },
  );
});

/** Windows of a second, minute or hour have another burst. */
const figures = (as: string) => (limiter: FoundLimiter) => {
  const { atOnce, held } = admittedAtOnce(limiter);
  return [keyWords(limiter.key), ...(lossless(as) ? [atOnce, held] : [])].join(' ');
};

// biome-ignore format: one case a line
it.each([
    ['a bucket for all, in kgateway', 'kgateway', route() + envoyGateway('local: { rules: [{ limit: { requests: 90, unit: Minute } }] }'), [{ like: 'envoy-local', max_tokens: 90, tokens_per_fill: 90, fill_interval: '60s' }]],
    ['a bucket for all, in Envoy Gateway', 'envoy-gateway', route() + kgateway('local: { tokenBucket: { maxTokens: 9, fillInterval: 200ms } }'), [{ like: 'envoy-local', max_tokens: 5, tokens_per_fill: 5, fill_interval: '1s' }]],
    ['requests that are held, in nginx', 'nginx', f5, [{ like: 'nginx', rate: '5r/s', burst: 25 }]],
    ['less than one a minute, in Traefik', 'traefik', route() + envoyGateway(`global: { rules: [{ ${DISTINCT}, limit: { requests: 5, unit: Hour } }] }`), [{ like: 'traefik', average: 5, period: '3600s', burst: 5 }]],
    ['requests in flight, in Traefik', 'traefik', ingress('nginx.ingress.kubernetes.io/limit-connections: "7"'), [{ like: 'in-flight', limit: 7 }]],
    ['a header, in HAProxy', 'haproxy', traefik(['average: 5, burst: 9, sourceCriterion: { requestHeaderName: X-Key }']), [{ like: 'haproxy-gpc0-rate', period: '1800ms', limit: 9 }]],
    ['a header that logs show, in kgateway', 'kgateway', traefik(['average: 5, burst: 5, sourceCriterion: { requestHeaderName: User-Agent }']), [{ like: 'envoy-ratelimit', requests_per_unit: 5, unit: 'second' }]],
  ])('lines for another product keep the limit: %s', async (_, as, old, expected) => {
    const { limits: fresh } = await moveTo(as, limitersIn(old, 'old.yaml'), 1, none);
    expect(fresh.limiters.map(({ limit }) => limit)).toEqual(expected);
  });

const zone = 'limit_req_zone $binary_remote_addr zone=a:1m rate=10r/s;';
const odd = `server { server_name .a.example www.* "~^x{2}[.]"; location "/it's a" { limit_req zone=a burst=5 nodelay; }
location ~ '^/v\\d{1,2}/"(foo|bar)$' { limit_req zone=a burst=7 nodelay; } }`;
const plain = 'server { server_name b.example; location / { limit_req zone=a burst=9 nodelay; } }';
const closed = 'server { listen 80 default_server; return 404; }';
it.each(['nginx', 'haproxy', 'traefik'])('what is written for %s has the same hosts and paths', async (as) => {
  const old = limitersIn([zone, closed, odd, plain].join('\n'), 'nginx.conf');
  const { limits: fresh, left } = await moveTo(as, old, 1, none);
  const hosts = ['a.example', 'x.a.example', 'www.test', 'xx.test', 'x.test', 'b.example'];
  const paths = ["/it's a/b", '/its', '/v12/"foo', '/v123/"foo'];
  const asked = hosts.flatMap((host) => paths.map((path) => ({ host, path })));
  const met = (side: typeof old) => asked.map((one) => side.appliesTo(one).map((limit) => admittedAtOnce(limit)));
  // A zone is one count, however many locations name it.
  const said = [expect.stringMatching(/^the count that is shared by a, .*; a, .*; a, .*: each has its own$/)];
  expect([met(fresh), left, fresh.notUnderstood]).toEqual([met(old), said, []]);
});

it.each(['nginx', 'haproxy', 'traefik'])('what is written for %s exempts the same networks', async (as) => {
  const old = limitersIn(
    ingress(`${RPS}, nginx.ingress.kubernetes.io/limit-whitelist: "10.0.0.0/8,192.0.2.7"`),
    'a.yaml',
  );
  const { limits: fresh } = await moveTo(as, old, 1, none);
  const rows = ['10.1.1.1', '192.0.2.7', '192.0.2.8'].flatMap((who) =>
    Array.from({ length: 40 }, () => `1767600000000,${who},a.example,/api`),
  );
  const log = file(`${as}.csv`, `ms,client,host,path\n${rows.join('\n')}\n`);
  const found = await diffLimits([log], { old, new: fresh }, { timeColumn: 'ms' }, {});
  expect([found.refused_old, found.refused_new]).toEqual([14, 14]);
});

it.each(targets.slice(0, 3))('%s divides what each instance counts, and not what they share', async (as) => {
  const old = inInstances(3, ingress(RPS));
  const { limits: fresh } = await moveTo(as, old, 3, none);
  const [limiter] = fresh.limiters as [FoundLimiter];
  expect(1000 * paceOf(limiter)!).toBeCloseTo(15);
  expect(limiter.instances).toBe(as === 'traefik' ? 3 : 1);
});

// biome-ignore format: one case a line
it.each([
    ['kgateway', ingress('nginx.ingress.kubernetes.io/limit-connections: "7"'), 'requests in flight'],
    ['envoy-gateway', ingress(`${RPS}, nginx.ingress.kubernetes.io/limit-whitelist: 10.0.0.0/8`), 'would not be exempt'],
    ['traefik', f5.replace('25"', '25", nginx.org/limit-req-key: $uri'), 'its key is'],
    ['nginx', traefik(['average: 5'], 'Method(`POST`) && PathPrefix(`/`)'), 'it depends on a condition: method is POST'],
    ['traefik', route().replace('path', 'method: POST, path') + bucket, 'p, a.example, /api, /api/: it depends on a condition: method is POST'],
    ['kgateway', traefik(['average: 5'], 'HostRegexp(`^x`)'), 'host ~^x: a host is no expression there'],
  ])('what %s has no words for is said', async (as, old, why) => {
    const { left, limits: fresh } = await moveTo(as, limitersIn(old, 'old.yaml'), 1, none);
    expect(left).toEqual([expect.stringContaining(why)]);
    expect(fresh.limiters).toEqual([]);
  });
