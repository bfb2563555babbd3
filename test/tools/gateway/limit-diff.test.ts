// Two versions of a gateway's limits: what differs, and which requests of a log each refuses.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { definitionOf } from '../../../src/core/limiter/products/products.js';
import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import { ruleOf } from '../../../src/core/limiter/rule/rule-definition.js';
import { limitChanges } from '../../../src/tools/gateway/limit-changes.js';
import { diffLimits } from '../../../src/tools/gateway/limit-diff.js';
import { fittingLimits } from '../../../src/tools/gateway/limit-rule.js';
import { limitersIn } from '../../../src/tools/gateway/limits-in.js';
import { forAllAsync } from '../../draws.js';
import { temporaryFiles } from '../../left-behind.js';

const { file } = temporaryFiles();

const ZONES = `limit_req_zone $binary_remote_addr zone=api:10m rate=1r/s;
limit_req_zone $binary_remote_addr zone=all:10m rate=10r/s;
limit_req_zone $uri zone=paths:10m rate=1r/s;
limit_req_zone $cookie_user zone=users:10m rate=1r/s;
`;
const nginx = (server: string) => limitersIn(`${ZONES}server { ${server} }`, 'nginx.conf');

const START = 1_767_600_000_000;
/** Rows of a log: ms after the start, who, path. */
type Row = readonly [ms: number, who: string, path: string];
let files = 0;
function logOf(rows: readonly Row[]): string {
  files += 1;
  const lines = rows.map(([ms, who, url]) => `${START + ms},${who},${url}`);
  return file(`${files}.csv`, `ms,client,path\n${lines.join('\n')}\n`);
}
const differ = (old: string, fresh: string, rows: readonly Row[], options = {}) =>
  diffLimits([logOf(rows)], { old: nginx(old), new: nginx(fresh) }, { timeColumn: 'ms', ...options }, {});

const many = (n: number, who: string, path: string, ms = 1): Row[] => Array.from({ length: n }, () => [ms, who, path]);

// biome-ignore format: one case a line
it.each([
  ['burst=5', 'burst=5', []],
  ['burst=20 nodelay', 'burst=5 nodelay', [{ kind: 'changed', differs: ['burst 20 → 5'], burst: [21, 6], burst_of: 100 }]],
  ['burst=5', 'burst=5 nodelay', [{ kind: 'changed', differs: ['nodelay none → true'], burst: [6, 6], burst_of: 100 }]],
  ['burst=5000 nodelay', 'burst=2000 nodelay', [{ burst: [5001, 2001], burst_of: 10_000 }]],
])('limits are compared by their values: %s -> %s', (old, fresh, expected) => {
  const server = (burst: string) => `location /api { limit_req zone=api ${burst}; }`;
  expect(limitChanges(nginx(server(old)), nginx(server(fresh)))).toMatchObject(expected);
});

const ROUTE =
  'kind: HTTPRoute\nmetadata: { name: web }\n---\nkind: BackendTrafficPolicy\nmetadata: { name: p }\nspec:\n  targetRefs: [{ kind: HTTPRoute, name: web }]\n  rateLimit: { global: { rules: [';
const rules = (...limits: string[]) => `${ROUTE}${limits.map((one) => `{ limit: { ${one} } }`).join(', ')}] } }`;
const haproxy = (path: string, period: string) => `frontend web
  stick-table type ip size 1m expire 10m store http_req_rate(${period})
  http-request track-sc0 src
  http-request deny if { sc_http_req_rate(0) gt 20 } { ${path} /api }`;
const traefik = (...routes: string[]) =>
  `kind: Middleware\nmetadata: { name: a }\nspec: { rateLimit: { average: 5 } }\n---\nkind: IngressRoute\nmetadata: { name: web }\nspec:\n  routes:\n${routes.map((one) => `  - { match: "PathPrefix(\`${one}\`)", middlewares: [{ name: a }] }\n`).join('')}`;
const kong = (...paths: string[]) =>
  `services:\n- name: a\n  routes:\n${paths.map((one) => `  - paths: [${one}]\n    plugins: [{ name: rate-limiting, config: { minute: 5 } }]\n`).join('')}`;
const acl = (label: string) =>
  `resource "aws_wafv2_web_acl" "${label}" {\n  name = "shop"\n  rule {\n    name = "r"\n    statement { rate_based_statement { limit = 100 } }\n  }\n}`;
// biome-ignore format: one case a line
it.each([
  ['a label of Terraform', 'main.tf', acl('a'), acl('b'), []],
  ['a server without a name further down', 'nginx.conf', `${ZONES}server { listen 81; limit_req zone=api; }\nserver { listen 82; }`, `${ZONES}\n# of the port\nserver { listen 81; limit_req zone=api; }\nserver { listen 82; }`, []],
  ['rules in another order', 'a.yaml', rules('requests: 3, unit: Hour', 'requests: 9, unit: Day'), rules('requests: 9, unit: Day', 'requests: 3, unit: Hour'), []],
  ['a rule before another', 'a.yaml', rules('requests: 9, unit: Day'), rules('requests: 3, unit: Hour', 'requests: 9, unit: Day'), [['added']]],
  ['a period in another unit', 'haproxy.cfg', haproxy('path', '60s'), haproxy('path', '1m'), []],
  ['paths that begin so', 'haproxy.cfg', haproxy('path', '60s'), haproxy('path_beg', '60s'), [['changed', 'refused if path is /api → path begins with /api']]],
  ['a route of Traefik before another', 'a.yaml', traefik('/a'), traefik('/b', '/a'), [['added']]],
  ['a route of Kong before another', 'kong.yml', kong('/a'), kong('/b', '/a'), [['added']]],
])('limits of two files are matched by what they mean: %s', (_, name, old, fresh, expected) => {
  const changes = limitChanges(limitersIn(old, name), limitersIn(fresh, name));
  expect(changes.map(({ kind, differs }) => [kind, ...differs])).toEqual(expected);
});

it('limits that are added, removed, changed or run dry are found', () => {
  const changes = limitChanges(
    nginx('location /a { limit_req zone=api; } location /b { limit_req zone=all; } limit_req zone=paths;'),
    nginx(
      'location /a { limit_req zone=api; limit_req_dry_run on; } location /c { limit_req zone=users; } limit_req zone=paths burst=1;',
    ),
  );
  expect(changes.map(({ kind, where, differs }) => [kind, where, ...differs])).toEqual([
    ['changed', 'server', 'burst none → 1'],
    ['changed', 'location /a', 'dry run off → on'],
    ['added', 'location /c'],
    ['removed', 'location /b'],
  ]);
});

it('a limit of one host and path that is written in another format is one that changed', () => {
  const old = limitersIn(
    `${ZONES}server { server_name a.example; location /api { limit_req zone=api burst=25 nodelay; } }`,
    'nginx.conf',
  );
  const router = (rule: string) =>
    limitersIn(
      `http:\n  middlewares: { m: { rateLimit: { average: 1, burst: 25 } } }\n  routers: { r: { rule: "${rule}", middlewares: [m] } }`,
      'traefik.yml',
    );
  const kinds = (rule: string) => limitChanges(old, router(rule)).map(({ kind, burst = [] }) => [kind, ...burst]);
  expect(kinds('Host(`a.example`) && PathPrefix(`/api`)')).toEqual([['changed', 26, 25]]);
  expect(kinds('Host(`b.example`) && PathPrefix(`/api`)')).toEqual([
    ['added', 100, 25],
    ['removed', 26, 100],
  ]);
});

it('a limit out of its bounds is not understood, with its line', () => {
  const found = fittingLimits(limitersIn('plugins:\n- name: rate-limiting\n  config:\n    minute: 0', 'kong.yml'));
  expect(found.limiters).toEqual([]);
  expect(found.notUnderstood).toMatchObject([{ file: 'kong.yml', line: 4 }]);
});

it('a diff over a log counts what is newly refused and newly admitted, by client, path, minute and limit', async () => {
  const rows: Row[] = [
    ...many(10, 'a', '/api/x'),
    ...many(3, 'b', '/api/x'),
    ...many(30, 'a', '/other'),
    ...many(4, 'b', '/api/y?q=1', 60_001),
  ];
  const found = await differ(
    'location /api { limit_req zone=api burst=5 nodelay; } location / { limit_req zone=all burst=9 nodelay; }',
    'location /api { limit_req zone=api burst=1 nodelay; } location / { limit_req zone=all burst=19 nodelay; }',
    rows,
  );
  expect(found).toMatchObject({
    ...{ requests: 47, refused_old: 24, refused_new: 21, newly_refused: 7, newly_admitted: 10 },
    ...{ clients: 2, clients_newly_refused: 2, clients_newly_admitted: 1 },
    by_client: [
      { name: 'a', requests: 40, refused_old: 24, refused_new: 18, newly_refused: 4, newly_admitted: 10 },
      { name: 'b', requests: 7, refused_old: 0, refused_new: 3, newly_refused: 3, newly_admitted: 0 },
    ],
    by_path: [
      { name: '/api/x', newly_refused: 5 },
      { name: '/api/y', newly_refused: 2 },
      { name: '/other', newly_admitted: 10 },
    ],
    by_minute: [
      { name: '2026-01-05T08:00Z', newly_refused: 5, newly_admitted: 10 },
      { name: '2026-01-05T08:01Z', newly_refused: 2, newly_admitted: 0 },
    ],
    warnings: [],
  });
  expect([...found.by_limiter].map(([{ where }, n]) => [where, n])).toEqual([['location /api', 7]]);
});

const SHARED =
  'location /a { limit_req zone=api burst=1 nodelay; } location /b { limit_req zone=api burst=9 nodelay; }';
const BOTH =
  'location /a { limit_req zone=api burst=1 nodelay; limit_req zone=all burst=9 nodelay; } location /b { limit_req zone=all burst=9 nodelay; }';
const inOrder = (...paths: string[]) => paths.map((path): Row => [1, 'x', path]);
const dryRun = { refused_new: 0, left_out: { new: [{ why: expect.stringContaining('dry run') }] } };
it.each<[rule: string, fresh: string, rows: Row[], found: object]>([
  [
    'one zone in two places is one count, with the ceiling of each',
    SHARED,
    [...many(6, 'x', '/b'), ...many(2, 'x', '/a', 2)],
    { refused_new: 2 },
  ],
  ['requests of one ms keep the order of the log', SHARED, inOrder('/a', '/b', '/a'), { refused_new: 1 }],
  ['so do they where all pass, in another order', SHARED, inOrder('/a', '/a', '/b'), { refused_new: 0 }],
  [
    'several limits of a place are charged only if all admit',
    BOTH,
    [...many(5, 'x', '/a'), ...many(9, 'x', '/b', 2)],
    { refused_new: 3 + 1 },
  ],
  [
    'a key by path counts all clients together',
    'limit_req zone=paths;',
    [...many(1, 'x', '/a'), ...many(1, 'y', '/a'), ...many(1, 'y', '/b')],
    { newly_refused: 1, by_path: [{ name: '/a' }] },
  ],
  ['a dry run is left out', 'limit_req_dry_run on; limit_req zone=api;', many(3, 'x', '/'), dryRun],
])('%s', async (_, fresh, rows, found) => {
  expect(await differ('', fresh, rows)).toMatchObject(found);
});

// biome-ignore format: one case a line
it.each([
  ['Traefik, in the order in which the router names them', 'traefik.yml', `http:
  middlewares: { wide: { rateLimit: { average: 1, period: 1h, burst: 3 } }, narrow: { rateLimit: { average: 1 } } }
  routers: { r: { rule: "PathPrefix(\`/\`)", middlewares: [narrow, wide] } }`, { narrow: 2, wide: 1 }],
  ['an entry point of Traefik, for each of its routers', 'traefik.yml', `entryPoints: { web: { http: { middlewares: [all] } } }
http:
  middlewares: { all: { rateLimit: { average: 1, period: 1h, burst: 2 } } }
  routers: { a: { rule: "Path(\`/a\`)" }, b: { rule: "Path(\`/\`)" } }`, { all: 3 }],
  ['AWS WAF, by priority', 'main.tf', `resource "aws_wafv2_web_acl" "w" {\n${[['wide', 3, 2], ['narrow', 1, 1]].map(([name, limit, priority]) => `  rule {\n    name = "${name}"\n    priority = ${priority}\n    statement { rate_based_statement { limit = ${limit} } }\n  }`).join('\n')}\n}`, { narrow: 5 }],
  ['HAProxy, where all count, and the first rule refuses', 'haproxy.cfg', `backend paths
  stick-table type string size 1k expire 1h store http_req_rate(1h)
frontend web
  stick-table type ip size 1k expire 1h store http_req_rate(1h)
  http-request track-sc0 src
  http-request track-sc1 path table paths
  http-request deny if { sc_http_req_rate(0) gt 2 }
  http-request deny if { sc_http_req_rate(1) gt 1 }`, { 'web http_req_rate': 4, 'paths http_req_rate': 4 }],
])('a refusal is of the limit that refuses, and limits that the request does not come to are not charged: %s', async (_, name, text, expected) => {
  const rows: Row[] = [...many(2, 'a', '/'), [1, 'a', '/a'], [2, 'b', '/'], [3, 'c', '/'], [4, 'd', '/'], [2000, 'a', '/'], [4000, 'a', '/'], [6000, 'a', '/']];
  const found = await diffLimits([logOf(rows)], { old: nginx(''), new: limitersIn(text, name) }, { timeColumn: 'ms' }, {});
  expect(Object.fromEntries([...found.by_limiter].map(([one, n]) => [one.name, n]))).toEqual(expected);
});

// biome-ignore format: one case a line
it.each([
  ['a path in lower case of HAProxy', 'haproxy.cfg', 'frontend web\n  stick-table type string size 1k expire 1h store http_req_rate(1h)\n  http-request track-sc0 path,lower\n  http-request deny if { sc_http_req_rate(0) gt 1 }', 2],
  ['a table of strings of HAProxy, by 31 characters', 'haproxy.cfg', 'frontend web\n  stick-table type string size 1k expire 1h store http_req_rate(1h)\n  http-request track-sc0 path\n  http-request deny if { sc_http_req_rate(0) gt 1 }', 2, `/${'x'.repeat(30)}`],
  ['one that keeps 64', 'haproxy.cfg', 'frontend web\n  stick-table type string len 64 size 1k expire 1h store http_req_rate(1h)\n  http-request track-sc0 path\n  http-request deny if { sc_http_req_rate(0) gt 1 }', 1, `/${'x'.repeat(30)}`],
  ['a path in lower case of AWS WAF', 'main.tf', 'resource "aws_wafv2_web_acl" "w" {\n  rule {\n    statement {\n      rate_based_statement {\n        limit = 1\n        aggregate_key_type = "CUSTOM_KEYS"\n        custom_key {\n          uri_path {\n            text_transformation {\n              priority = 0\n              type = "LOWERCASE"\n            }\n          }\n        }\n      }\n    }\n  }\n}', 2],
  ['address and path of Cloud Armor', 'main.tf', `resource "google_compute_security_policy" "p" {\n  rule {\n    action = "throttle"\n    rate_limit_options {\n${['IP', 'HTTP_PATH'].map((one) => `      enforce_on_key_configs {\n        enforce_on_key_type = "${one}"\n      }\n`).join('')}      rate_limit_threshold {\n        count = 1\n        interval_sec = 60\n      }\n    }\n  }\n}`, 1],
])('a key of a changed text, or of several parts, counts as it says: %s', async (_, name, text, expected, before = '') => {
  const log = logOf([[1, 'a', `${before}/A`], [2, 'a', `${before}/a`], [3, 'a', `${before}/a`]]);
  const found = await diffLimits([log], { old: nginx(''), new: limitersIn(text, name) }, { timeColumn: 'ms' }, {});
  expect(found).toMatchObject({ refused_new: expected });
});

it('a key that a log does not have is left out, unless a column is named', async () => {
  const rows: Row[] = [...many(2, 'x', '/a'), ...many(2, 'y', '/a')];
  const without = await differ('', 'limit_req zone=users;', rows);
  expect(without).toMatchObject({
    newly_refused: 0,
    left_out: { old: [], new: [{ why: 'its key is a cookie, which this log has not' }] },
  });
  const by = await differ('', 'limit_req zone=users;', rows, { keyColumn: 'client' });
  expect(by).toMatchObject({ newly_refused: 2, left_out: { new: [] } });
});

it('whole seconds of one client are spread together, whatever its paths', async () => {
  const line = (url: number) => `10.0.0.1 - - [05/Jan/2026:08:00:00 +0000] "GET /p${url} HTTP/1.1" 200 1\n`;
  const later = Array.from({ length: 200 }, (_, i) =>
    line(i).replace(':00:00 +', `:0${1 + Math.floor(i / 60)}:${String(i % 60).padStart(2, '0')} +`),
  );
  const path = file('seconds.log', [0, 1, 2, 3, 4].map(line).join('') + later.join(''));
  const sides = { old: nginx(''), new: nginx('limit_req zone=all;') };
  const found = await diffLimits([path], sides, {}, {});
  const figures = { requests: 205, newly_refused: 0, newly_refused_at_once: 4 };
  expect(found).toMatchObject({ ...figures, warnings: [{ code: 'whole_seconds' }] });
});

it('more paths than are kept are shown together, and decided as they are', async () => {
  const rows = Array.from({ length: 9000 }, (_, i): Row => [i * 1000, 'x', `/p${i}`]);
  const found = await differ('', 'limit_req zone=all; location = /p8999 { limit_req zone=api; }', [
    ...rows,
    ...many(2, 'x', '/p8999', 8_999_500),
  ]);
  expect(found).toMatchObject({ requests: 9002, newly_refused: 2, warnings: [{ code: 'many_paths' }] });
  expect(found.by_path.map(({ name }) => name)).toEqual(['(other paths)']);
});

it('limits of some paths are not judged by a log without paths', async () => {
  const path = file('no-path.csv', `ms,client\n${START},a\n`);
  const unjudged = async (old: string, server: string) => {
    const sides = { old: nginx(old), new: nginx(server) };
    return (await diffLimits([path], sides, { timeColumn: 'ms' }, {})).unjudged.map(({ why }) => why);
  };
  const api = (burst: number) => `location /api { limit_req zone=api burst=${burst}; }`;
  expect(await unjudged('', api(9))).toEqual(['it depends on the path of a request, which this log has not']);
  expect(await unjudged(api(9), api(2))).toEqual(['it depends on the path of a request, which this log has not']);
  expect(await unjudged(api(9), api(9))).toEqual([]);
  expect(await unjudged(api(9), '')).toEqual([]);
  expect(await unjudged('', 'limit_req zone=api;')).toEqual([]);
});

it('a log without a client is refused', async () => {
  const path = file('bare.csv', `ms,path\n${START},/a\n`);
  const sides = { old: nginx(''), new: nginx('limit_req zone=all;') };
  await expect(diffLimits([path], sides, { timeColumn: 'ms' }, {})).rejects.toMatchObject({ code: 'invalid_input' });
});

it('each request of a log is decided as the rule of its limit decides it', async () => {
  const request = fc.tuple(
    fc.integer({ min: 0, max: 5000 }),
    fc.constantFrom('x', 'y'),
    fc.constantFrom('/api', '/'),
  ) as fc.Arbitrary<Row>;
  await forAllAsync(
    [fc.array(request, { minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 6 })],
    async (some, burst) => {
      const rows = [...some].sort((a, b) => a[0] - b[0]);
      const rule = ruleOf(definitionOf({ like: 'nginx', rate: '1r/s', burst, nodelay: true }, 777));
      const states = new Map<string, unknown>();
      let refused = 0;
      for (const [ms, who, path] of rows) {
        if (path !== '/api') continue;
        if (!states.has(who)) states.set(who, rule.fresh(START + ms));
        if (rule.admit(states.get(who), START + ms, 1, 0) === LIMITED) refused += 1;
      }
      const found = await differ('', `location /api { limit_req zone=api burst=${burst} nodelay; }`, rows);
      expect(found.newly_refused).toBe(refused);
    },
  );
});

// 1r/s without a burst: of three at once one passes; the others are to come 1 and 2 s later.
const [old, fresh] = ['', 'limit_req zone=api; limit_req_status 429;'];

it('requests that come again meet the new limits between those of the log, until one is admitted', async () => {
  const found = await differ(old, fresh, many(3, 'x', '/'), { clients: 'axios-retry' });
  const { refused, retries, served, given_up, wait_ms } = found.retries!;
  expect({ refused, given_up: given_up + served }).toEqual({ refused: 2, given_up: 2 });
  expect(retries).toBeGreaterThanOrEqual(2);
  expect(found.retries!.extra_load).toBe(retries / 3);
  expect(served === 0 ? wait_ms : wait_ms!.max > 0).toBe(served === 0 ? null : true);
  expect(found.newly_refused).toBe(2);
});

it('a request of the log that came alone is refused behind a retry, which counts', async () => {
  const rows: Row[] = [
    ...many(2, 'x', '/', 0),
    ...Array.from({ length: 60 }, (_, i): Row => [1000 * (i + 1), 'x', '/']),
  ];
  const found = await differ(old, fresh, rows, { clients: 'aws-sdk-2026' });
  expect(found.newly_refused).toBe(1);
  expect(found.retries!.refused).toBeGreaterThanOrEqual(1);
  expect(found.retries!.retries).toBeGreaterThanOrEqual(1);
  expect(await differ(old, fresh, rows, { clients: 'aws-sdk-2026' })).toMatchObject({ retries: found.retries! });
});

it('requests do not come again where none is newly refused, nor at a status that is not tried again', async () => {
  const none = await differ(fresh, fresh, many(3, 'x', '/'), { clients: 'axios-retry' });
  expect(none.retries).toMatchObject({ refused: 0, retries: 0, wait_ms: null });
  const forbidden = await differ(old, 'limit_req zone=api; limit_req_status 403;', many(3, 'x', '/'), {
    clients: 'axios-retry',
  });
  expect(forbidden.retries).toMatchObject({ refused: 2, not_retried: 2, retries: 0 });
});
