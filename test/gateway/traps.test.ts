// What files of gateways hide: fifteen traps, each with small files of our own.
import { describe, expect, it } from 'vitest';
import type { GatewayLimits, Like, Source } from '../../src/gateway/found.js';
import { limitersIn, limitersInFiles } from '../../src/gateway/limits-in.js';

const ZONES = `limit_req_zone $binary_remote_addr zone=slow:10m rate=200r/m;
limit_req_zone $binary_remote_addr zone=fast:10m rate=12r/s;
limit_conn_zone $binary_remote_addr zone=conns:10m;
`;

const limits = (found: GatewayLimits) => found.limiters.map(({ limit }) => limit);
const names = (some: readonly { readonly name: string }[]) => some.map(({ name }) => name);
const lines = (found: GatewayLimits) => found.notUnderstood.map(({ line }) => line);
const nginx = (text: string) => limitersIn(text, 'nginx.conf');
const haproxy = (text: string) =>
  limitersIn(
    `frontend web\n  stick-table type ip size 1m expire 10s store http_req_rate(10s)\n  http-request track-sc0 src\n${text}`,
    'haproxy.cfg',
  );

describe('1: what is defined is not a limit', () => {
  it.each([
    ['a zone', 'zones.conf', ZONES, ['slow', 'fast', 'conns']],
    ['a middleware', 'dynamic.yml', 'http: { middlewares: { api: { rateLimit: { average: 10 } } } }', ['api']],
    [
      'an object of Kong',
      'plugin.yaml',
      'kind: KongPlugin\nmetadata: { name: limited }\nplugin: rate-limiting\nconfig: { minute: 5 }',
      ['limited'],
    ],
    [
      'a shared plugin of APISIX',
      'apisix.yaml',
      'plugin_configs: [{ id: a, plugins: { limit-count: { count: 1, time_window: 1 } } }]\nroutes: []',
      ['limit-count'],
    ],
    [
      'a table of HAProxy',
      'haproxy.cfg',
      'backend t\n  stick-table type ip size 1m expire 1m store http_req_rate(1m)',
      ['t'],
    ],
  ])('%s', (_, name, text, expected) => {
    const found = limitersIn(text, name);
    expect(found.limiters).toEqual([]);
    expect(names(found.notApplied)).toEqual(expected);
    expect(found.notApplied.every(({ line }) => line > 0)).toBe(true);
  });

  it('and is one as soon as something names it', () => {
    const route = 'http: { routers: { web: { rule: "PathPrefix(`/api`)", middlewares: [api@file] } } }';
    const middleware = 'http: { middlewares: { api: { rateLimit: { average: 10 } } } }';
    const found = limitersInFiles([
      { name: 'a.yml', text: middleware },
      { name: 'b.yml', text: route },
    ]);
    expect(found.notApplied).toEqual([]);
    expect(found.limiters).toMatchObject([
      { name: 'api', where: 'router web', limit: { like: 'traefik', average: 10 } },
    ]);
    expect(found.appliesTo(undefined, '/api/a')).toHaveLength(1);
    expect(found.appliesTo(undefined, '/')).toHaveLength(0);
  });
});

it.each([
  ['nginx', 'nginx.conf', 'server { # limit_req_zone $a zone=a:1m rate=1r/s; limit_req zone=a;\n}'],
  ['HAProxy', 'haproxy.cfg', 'frontend a\n  # http-request deny if { sc_http_req_rate(0) gt 1 }\n  bind :80'],
  [
    'Terraform, a block',
    'a.tf',
    '/* resource "aws_wafv2_web_acl" "a" { rule { statement { rate_based_statement { limit = 9 } } } } */',
  ],
  ['Terraform, lines', 'a.tf', 'locals {\n  # rate_based_statement = { limit = 1000 }\n  // limit = 5\n}'],
  ['YAML', 'kong.yaml', 'plugins:\n# - name: rate-limiting\n#   config: { minute: 5 }\n- name: cors'],
])('2: what is commented out is nothing: %s', (_, name, text) => {
  expect(limitersIn(text, name)).toMatchObject({ limiters: [], notApplied: [], notUnderstood: [] });
});

describe('3: several limits of one place all apply', () => {
  it('in nginx', () => {
    const { places } = nginx(
      `${ZONES}server { location / { limit_req zone=fast burst=12; limit_req zone=slow burst=100 nodelay; } }`,
    );
    expect(places.map(({ limiters }) => names(limiters))).toEqual([['fast', 'slow']]);
  });
  it('in annotations', () => {
    const text =
      'kind: Ingress\nmetadata: { annotations: { nginx.ingress.kubernetes.io/limit-rps: "4", nginx.ingress.kubernetes.io/limit-rpm: "60" } }';
    expect(limits(limitersIn(text, 'ingress.yaml'))).toEqual([
      { like: 'nginx', rate: '4r/s', burst: 20, nodelay: true },
      { like: 'nginx', rate: '60r/m', burst: 300, nodelay: true },
    ]);
  });
});

describe('4: an empty key is not counted', () => {
  it.each([
    ['a default', `map $office $key {\n  0 $binary_remote_addr;\n  default '';\n}`, 3],
    ['none', 'map $http_user_agent $key {\n  ~bot $binary_remote_addr;\n}', 1],
  ])('%s', (_, map, line) => {
    const found = nginx(`${map}\nlimit_req_zone $key zone=a:1m rate=1r/s;\nserver { limit_req zone=a; }`);
    expect(found.limiters).toMatchObject([{ key: { parts: ['client'] } }]);
    expect(lines(found)).toEqual([line]);
  });
  it('and a cookie cannot be taken from a log', () => {
    const found = nginx('limit_req_zone $cookie_session zone=a:1m rate=1r/s;\nserver { limit_req zone=a; }');
    expect(found.limiters[0]!.key).toEqual({ text: '$cookie_session', parts: undefined });
  });
  it('and neither are exempted addresses', () => {
    const text =
      'kind: Ingress\nmetadata:\n  annotations:\n    nginx.ingress.kubernetes.io/limit-rps: 4\n    nginx.ingress.kubernetes.io/limit-whitelist: 10.0.0.0/8';
    expect(lines(limitersIn(text, 'ingress.yaml'))).toEqual([5]);
  });
});

it.each([
  [
    'a map to a constant',
    'nginx.conf',
    'map $ua $key { default 1; }\nlimit_req_zone $key zone=a:1m rate=1r/s;\nserver { limit_req zone=a; }',
    [],
  ],
  [
    'a name says nothing',
    'nginx.conf',
    'limit_req_zone $binary_remote_addr zone=global:1m rate=1r/s;\nserver { limit_req zone=global; }',
    ['client'],
  ],
  [
    'a generic_key',
    'ratelimit.yaml',
    'domain: a\ndescriptors: [{ key: generic_key, value: x, rate_limit: { unit: minute, requests_per_unit: 5 } }]',
    [],
  ],
  [
    'CONSTANT',
    'waf.tf',
    'resource "aws_wafv2_web_acl" "a" {\n rule {\n  statement {\n   rate_based_statement {\n    limit = 9\n    aggregate_key_type = "CONSTANT"\n   }\n  }\n }\n}',
    [],
  ],
  [
    'a word',
    'Caddyfile',
    'a.example {\n  rate_limit {\n    zone z {\n      key static\n      events 5\n      window 1m\n    }\n  }\n}',
    [],
  ],
  [
    'an address',
    'Caddyfile',
    'a.example {\n  rate_limit {\n    zone z {\n      key {remote_host}\n      events 5\n      window 1m\n    }\n  }\n}',
    ['client'],
  ],
])('5: a constant key is one count for all: %s', (_, name, text, parts) => {
  expect(limitersIn(text, name).limiters.map(({ key }) => key.parts)).toEqual([parts]);
});

it.each([
  ['6: no burst is none', 'limit_req zone=fast', { like: 'nginx', rate: '12r/s' }],
  ['6: nodelay without a burst', 'limit_req zone=fast nodelay', { like: 'nginx', rate: '12r/s', nodelay: true }],
  [
    '7: a burst without nodelay holds requests',
    'limit_req zone=fast burst=5',
    { like: 'nginx', rate: '12r/s', burst: 5 },
  ],
  [
    '8: minutes stay minutes',
    'limit_req zone=slow burst=1 delay=1',
    { like: 'nginx', rate: '200r/m', burst: 1, delay: 1 },
  ],
  [
    '9: comments are not read',
    'limit_req zone=slow; # 5 per 15 minutes, burst 40\n# status 429',
    { like: 'nginx', rate: '200r/m' },
  ],
])('%s', (_, text, expected) => {
  const found = nginx(`${ZONES}server { ${text}\n; }`);
  expect(found.limiters).toMatchObject([{ limit: expected, status: 503 }]);
  expect(Object.keys(found.limiters[0]!.limit!)).toEqual(Object.keys(expected));
});

it('10: one zone in several locations is one counter with several ceilings', () => {
  const { limiters } = nginx(
    `${ZONES}server { location /a { limit_req zone=fast burst=5; } location /b { limit_req zone=fast burst=50; limit_conn conns 2; } location /c { limit_conn conns 9; } }`,
  );
  expect(limiters.map(({ counter, limit }) => [counter, limit!['burst'] ?? limit!['connections']])).toEqual([
    ['nginx limit_req fast', 5],
    ['nginx limit_req fast', 50],
    ['nginx limit_conn conns', 2],
    ['nginx limit_conn conns', 9],
  ]);
});

describe('11: inheritance', () => {
  const conf = `${ZONES}
http {
  limit_req_status 429;
  server {
    server_name a.example;
    limit_req zone=slow;
    limit_conn conns 20;
    location /api { limit_req zone=fast burst=9; location ~ \\.png$ { expires 1h; } }
    location = /login { limit_req zone=slow burst=1; limit_req_status 503; limit_conn conns 1; }
    location /gone { return 410; }
    location ^~ /static/ { root /srv; location /static/deep { limit_conn conns 3; } }
    location ~* \\.(css|png)$ { limit_req zone=fast; }
    if ($request_method = OPTIONS) { return 204; }
  }
  server { server_name b.example; return 301 https://a.example; limit_req zone=fast; }
}`;
  const found = nginx(conf);
  it.each([
    ['/', 'slow 20'],
    ['/api/a', 'fast:9 20'],
    ['/api/a.png', 'fast:9 20'],
    ['/login', 'slow:1 1'],
    ['/login/a', 'slow 20'],
    ['/gone', ''],
    ['/static/a.css', 'slow 20'],
    ['/static/deep/a.css', 'slow 3'],
    ['/other/a.CSS', 'fast 20'],
  ])('%s meets %s', (path, expected) => {
    const shown = found.appliesTo('a.example', path).map(({ name, limit }) => {
      const { burst, connections } = limit as Like;
      return connections === undefined ? `${name}${burst === undefined ? '' : `:${burst}`}` : String(connections);
    });
    expect(shown.join(' ')).toBe(expected);
  });
  it('says which limits are never met, and which requests do not meet them', () => {
    expect(found.notApplied).toMatchObject([{ name: 'fast', line: 18 }]);
    expect(lines(found)).toEqual([16]);
    expect(found.appliesTo('b.example', '/')).toEqual([]);
  });
  it('takes the status of the place', () => {
    const statuses = found.limiters
      .filter(({ counts }) => counts === 'requests')
      .map(({ line, status }) => [line, status]);
    expect(statuses).toEqual([
      [9, 429],
      [11, 429],
      [12, 503],
      [15, 429],
    ]);
  });
});

describe('12: gt and ge, and the order of rules', () => {
  it.each([
    ['gt', 20, 20, 403],
    ['ge', 20, 19, 403],
  ])('%s %d admits %d', (over, figure, limit, status) => {
    expect(haproxy(`  http-request deny if { sc_http_req_rate(0) ${over} ${figure} }`).limiters).toMatchObject([
      { limit: { like: 'haproxy-http-req-rate', period: '10s', limit }, status, where: 'frontend web' },
    ]);
  });
  it('an allow before the refusal exempts, one after it does not', () => {
    const deny = '  http-request deny deny_status 429 if { sc0_http_req_rate gt 5 }\n';
    const allow = '  http-request allow if { src -f office.lst }\n';
    expect(lines(haproxy(allow + deny))).toEqual([4]);
    expect(lines(haproxy(deny + allow))).toEqual([]);
  });
});

it('13: an entry with a value has precedence; 0 refuses all, unlimited nothing, shadow_mode refuses none', () => {
  const text = `domain: a
descriptors:
  - key: to
    rate_limit: { unit: minute, requests_per_unit: 50 }
  - key: to
    value: hello
    rate_limit: { unit: minute, requests_per_unit: 3 }
    descriptors:
      - key: path
        value: /banned
        rate_limit: { unit: hour, requests_per_unit: 0 }
      - key: free
        rate_limit: { unlimited: true }
      - key: trial
        shadow_mode: true
        rate_limit: { unit: second, requests_per_unit: 1 }`;
  const { limiters } = limitersIn(text, 'ratelimit.yaml');
  expect(limiters.map(({ name, limit, isDryRun }) => [name, limit?.['requests_per_unit'], isDryRun])).toEqual([
    ['to', 50, false],
    ['to=hello', 3, false],
    ['to=hello/path=/banned', 0, false],
    ['to=hello/free', undefined, false],
    ['to=hello/trial', 1, true],
  ]);
});

it.each([
  [
    'a stick-table',
    'haproxy.cfg',
    'frontend a\n stick-table type ip size 1m expire 30s store conn_rate(3s)\n tcp-request content track-sc0 src\n tcp-request content reject if { sc_conn_rate(0) ge 11 }',
    { like: 'haproxy-http-req-rate', period: '3s', limit: 10 },
  ],
  [
    'Traefik',
    'a.yml',
    'http: { middlewares: { a: { rateLimit: { average: 10, burst: 20 } } }, routers: { r: { middlewares: [a] } } }',
    { like: 'traefik', average: 10, burst: 20 },
  ],
  [
    'AWS WAF',
    'a.tf.json',
    '{"resource":{"aws_wafv2_web_acl":{"a":{"rule":[{"name":"r","statement":{"rate_based_statement":{"limit":2000,"aggregate_key_type":"IP"}}}]}}}}',
    { like: 'aws-waf', limit: 2000 },
  ],
  [
    'Cloudflare',
    'a.tf',
    'resource "cloudflare_ruleset" "a" {\n phase = "http_ratelimit"\n rules {\n  action = "block"\n  ratelimit {\n   characteristics = ["ip.src", "cf.colo.id"]\n   period = 10\n   requests_per_period = 5\n   mitigation_timeout = 600\n  }\n }\n}',
    { like: 'cloudflare', requests_per_period: 5, period: 10, mitigation_timeout: 600 },
  ],
])('14: windows hide: %s', (_, name, text, expected) => {
  expect(limits(limitersIn(text, name))).toEqual([expected]);
});

describe('15: look-alikes', () => {
  it.each([
    ['bandwidth', 'a.conf', 'server { set $limit_rate 20k; limit_rate 20k; limit_rate_after 1m; }'],
    [
      'a variable in a log format',
      'a.conf',
      `log_format a '$limit_req_status $status'; server { if ($bad) { return 429; } }`,
    ],
    [
      'a middleware of another kind',
      'a.yml',
      'http: { middlewares: { rate-limit-a: { ipAllowList: { sourceRange: [10.0.0.0/8] } } } }',
    ],
    ['a size', 'kong.yml', 'plugins: [{ name: request-size-limiting, config: { allowed_payload_size: 2 } }]'],
    [
      'a list of addresses',
      'a.cfg',
      'frontend a\n  http-request deny if { src -f bad.lst }\n  http-request track-sc0 src\n',
    ],
  ])('%s is not a limit', (_, name, text) => {
    expect(limitersIn(text, name)).toMatchObject({ limiters: [], notApplied: [], notUnderstood: [] });
  });
  it('a redirect is not a refusal, and its status says so', () => {
    expect(
      haproxy('  acl flood sc0_http_req_rate gt 60\n  http-request redirect code 302 location /challenge if flood')
        .limiters,
    ).toMatchObject([{ status: 302 }]);
  });
});

describe('what cannot be read is refused with its line', () => {
  const refused: readonly (readonly [what: string, name: string, text: string, lines: readonly number[]])[] = [
    ['a file that nginx refuses', 'a.conf', 'server {\n  limit_req zone=a\n}', [2]],
    ['a variable as a directive', 'a.conf', 'server {\n  $limits;\n  limit_rate 1k;\n}', [2]],
    [
      'a rate from a variable',
      'a.conf',
      'limit_req_zone $a zone=a:1m rate=$rater/s;\nserver { limit_req zone=a; }',
      [1, 2],
    ],
    ['a template of Jinja', 'a.conf.j2', 'server {\n  limit_req zone={{ zone }} burst=5;\n}', [2, 2]],
    ['a template of Ruby', 'a.conf.erb', '<% if @on %>\nlimit_req zone=a;\n<% end %>', [1, 2]],
    [
      'a template of Mustache',
      'haproxy.cfg.mustache',
      'frontend a\n  stick-table type ip size {{size}} store http_req_rate(1s)',
      [2, 2],
    ],
    ['a program', 'recipe.rb', "x 1\ny 'stick-table type ip'", [2]],
    ['a chart', 'values.yaml', 'plugins:\n{{- if .Values.on }}\n- name: rate-limiting\n{{- end }}', [2, 3]],
    ['a field that is there twice', 'a.yaml', 'domain: a\ndescriptors: []\ndescriptors:\n- key: a', [2, 3, 3]],
    [
      'a number that Terraform evaluates',
      'a.tf',
      'resource "aws_wafv2_web_acl" "a" {\n  rule {\n    statement {\n      rate_based_statement {\n        limit = var.limit\n      }\n    }\n  }\n}',
      [5],
    ],
    ['an input of a module', 'a.tf', 'module "waf" {\n  source = "../waf"\n  rate_limit_threshold = 5\n}', [3]],
    ['HCL that is none', 'a.tf', 'resource "a" "b" {\n  limit = 5\n', [3]],
    [
      'what Caddy refuses',
      'Caddyfile',
      'a.example {\n  rate_limit {\n    zone z {\n      events 10 per client\n      window 1m\n      burst 5\n    }\n  }\n}',
      [4, 6],
    ],
    [
      'a limit in a variable of HAProxy',
      'a.cfg',
      'frontend a\n  stick-table type ip size 1m expire 1m store http_req_rate(1m)\n  http-request set-var(txn.now) src,table_http_req_rate(a)\n  acl much var(txn.most),sub(txn.now) lt 0\n  http-request deny if much',
      [3, 5],
    ],
    ['an API that is gone', 'a.yaml', 'kind: QuotaSpec\nspec: {}', [1]],
    ['a window of a month', 'kong.yml', 'plugins:\n- name: rate-limiting\n  config:\n    month: 5', [2, 4]],
  ];
  it.each(refused)('%s', (_, name, text, expected) => {
    const found = limitersIn(text, name);
    expect([...lines(found)].sort()).toEqual(expected);
    expect(found.limiters).toEqual([]);
  });
});

it('zones are in one file, what names them in another, and an include in a third', () => {
  const files: Source[] = [
    { name: 'nginx/conf.d/limits.conf', text: ZONES },
    {
      name: 'nginx/nginx.conf',
      text: 'http { include conf.d/*.conf; server { include snippets/api.conf; include mime.types; include missing.conf; } }',
    },
    { name: 'nginx/snippets/api.conf', text: 'location /api {\n  limit_req zone=fast;\n}' },
  ];
  const found = limitersInFiles(files);
  expect(found.limiters).toMatchObject([
    { name: 'fast', file: 'nginx/snippets/api.conf', line: 2, where: 'location /api' },
  ]);
  expect(names(found.notApplied)).toEqual(['slow', 'conns']);
  expect(found.notUnderstood).toMatchObject([
    { file: 'nginx/nginx.conf', line: 1, what: 'missing.conf is included, and was not read' },
  ]);
});
