// Conditions of every format on what an access log shows: which requests meet the limit, and what is not judged.
import { describe, expect, it } from 'vitest';
import { isInRange } from '../../../src/tools/gateway/address-range.js';
import { LimitSide } from '../../../src/tools/gateway/limit-sides.js';
import { limitersInFiles } from '../../../src/tools/gateway/limits-in.js';
import {
  ALWAYS,
  allHold,
  argumentText,
  equalTo,
  fieldText,
  inWords,
  type LoggedRequest,
  missing,
  not,
  oneHolds,
  tested,
} from '../../../src/tools/gateway/request-condition.js';

/** `POST /a?x=1 192.0.2.7 curl`: method, path with query, client, agent. A dot: the log lacks it. */
function requestOf(text: string): LoggedRequest {
  const [method, url = '', client, agent] = text.split(' ').map((one) => (one === '.' ? undefined : one));
  const [path, query = ''] = url.split('?');
  return { method, path, query, url, client: client ?? '192.0.2.7', agent: agent ?? 'curl', host: 'a.example' };
}

/** Whether each request meets a limit: yes, no, or what the log lacks. */
function expectMet(name: string, text: string, expected: object): void {
  const found = Object.keys(expected).map((request) => {
    const side = new LimitSide(limitersInFiles([{ name, text }]), false);
    const { limits } = side.placeOf(requestOf(request));
    const [left] = side.leftOut;
    return [request, left?.why.replace(/^.*?(?:is|on) /, '') ?? (limits.length > 0 ? 'yes' : 'no')];
  });
  expect(Object.fromEntries(found)).toEqual(expected);
}

const nginx = (key: string, extra = '', location = '') =>
  `${extra}\nlimit_req_zone ${key} zone=z:1m rate=1r/s;\nserver { ${location.startsWith('if') || location.startsWith('set') ? `${location} ` : ''}location / { limit_req zone=z; ${/^(?:in |@)/.test(location) ? location.replace('in ', '') : ''} } }`;

const key = (map: string) => nginx('$key', map);
const client = '$binary_remote_addr';
// biome-ignore format: one case a line
it.each([
    ['a method', key(`map $request_method $key { default ""; POST ${client}; }`), { 'POST /': 'yes', 'GET /': 'no', '. /': 'the method of a request, which this log has not' }],
    ['the case of a text is no matter', key(`map $request_uri $key { /A ${client}; }`), { 'GET /a': 'yes', 'GET /a?b': 'no' }],
    ['an expression, in its case and not', key(`map $uri $key { ~^/a ${client}; ~*B$ ${client}; }`), { 'GET /a': 'yes', 'GET /A': 'no', 'GET /x/b': 'yes' }],
    ['a text before an expression', key(`map $uri $key { ~^/a ""; /ab ${client}; }`), { 'GET /ab': 'yes', 'GET /abc': 'no' }],
    ['no default is empty', key(`map $arg_key $key { "" ${client}; }`), { 'GET /': 'yes', 'GET /?key=1': 'no' }],
    ['a map of a map', key(`map $uri $kind { default small; ~big large; }\nmap $kind $key { default ""; large ${client}; }`), { 'GET /big': 'yes', 'GET /a': 'no' }],
    ['a map of two variables', key(`map "$request_method:$uri" $key { ~^POST:/a ${client}; }`), { 'POST /a': 'yes', 'GET /a': 'no' }],
    ['of names of hosts the longest', key(`map $host $key { hostnames; a.* ""; *.example ""; .a.example ${client}; b.test ""; }`), { 'GET /': 'yes' }],
    ['a network, the narrowest first', key(`geo $near { default 1; 192.0.2.0/24 0; 192.0.2.9 0; 192.0.2.9 1; 10.0.0.1 0; delete 10.0.0.1; }\nmap $near $key { 1 ${client}; }`), { 'GET /': 'no', 'GET / 192.0.2.9': 'yes', 'GET / 10.0.0.1': 'yes' }],
    ['ranges of a geo, the last first', key(`geo $near { ranges; default 0; 192.0.2.1-192.0.2.8 1; 192.0.2.5-192.0.2.6 0; }\nmap $near $key { 1 ${client}; }`), { 'GET /': 'yes', 'GET / 192.0.2.9': 'no', 'GET / 192.0.2.6': 'no' }],
    ['a user agent', key(`map $http_user_agent $key { ~*bot ${client}; }`), { 'GET / . Robot': 'yes', 'GET /': 'no' }],
    ['a cookie', key(`map $cookie_a $key { 1 ${client}; }`), { 'GET /': 'a cookie, which this log has not' }],
    ['a header', key(`map $http_x_key $key { "" ${client}; }`), { 'GET /': 'the header x-key, which this log has not' }],
    ['return in an if of the server', nginx(client, '', 'if ($request_method = OPTIONS) { return 204; }'), { 'GET /': 'yes', 'OPTIONS /': 'no' }],
    ['return in an if of the location', nginx(client, '', 'in if ($uri !~* "^/(a|b)") { return 403; }'), { 'GET /a': 'yes', 'GET /c': 'no' }],
    ['a variable alone', nginx(client, '', 'if ($arg_free) { return 200; }'), { 'GET /?free=1': 'no', 'GET /?free=0': 'yes', 'GET /': 'yes' }],
    ['set before a map, and set in an if', nginx('$key', 'map $uri $key { default 1; }', `set $key ""; if ($request_method = POST) { set $key ${client}; }`), { 'POST /': 'yes', 'GET /': 'no' }],
    ['limit_except comes after the limit', nginx(client, '', 'in limit_except GET { deny all; }'), { 'POST /': 'yes', 'GET /': 'yes' }],
    ['a status is none before the answer', key(`map $status $key { 429 ${client}; }`), { 'GET /': 'no' }],
  ])('requests meet a limit of nginx as its conditions say: %s', (_, text, expected) => {
    expectMet('nginx.conf', text, expected);
  });

it('a page of an error that an if leads to has its limits', () => {
  const text = `limit_req_zone ${client} zone=z:1m rate=1r/s;
server { location / { error_page 418 = @slow; if ($request_method = POST) { return 418; } } location @slow { limit_req zone=z; } }`;
  expectMet('nginx.conf', text, { 'POST /': 'yes', 'GET /': 'no' });
});

const traefik = (rule: string) =>
  `http:\n  middlewares: { m: { rateLimit: { average: 1 } } }\n  routers:\n    a: { rule: ${JSON.stringify(rule)}, middlewares: [m] }\n    b: { rule: "PathPrefix(\`/\`)", priority: 1 }\n`;
const haproxy = (condition: string, acl = '') => `frontend f
  ${acl}
  stick-table type ip size 1k expire 1m store http_req_rate(10s)
  http-request track-sc0 src
  http-request deny if { sc_http_req_rate(0) gt 5 } ${condition}`;
const cloudflare = (expression: string) =>
  `resource "cloudflare_ruleset" "r" {\n rules {\n  action = "block"\n  expression = ${JSON.stringify(expression)}\n  ratelimit {\n   characteristics = ["ip.src"]\n   period = 60\n   requests_per_period = 5\n  }\n }\n}`;
const waf = (statement: string) =>
  `resource "aws_wafv2_ip_set" "own" {\n addresses = ["192.0.2.0/24"]\n}\nresource "aws_wafv2_web_acl" "w" {\n rule {\n  statement {\n   rate_based_statement {\n    limit = 10\n    scope_down_statement {\n     ${statement}\n    }\n   }\n  }\n }\n}`;
const bytes = (field: string, text: string, position = 'EXACTLY', change = 'NONE') =>
  `byte_match_statement {\n search_string = "${text}"\n positional_constraint = "${position}"\n field_to_match {\n ${field}\n }\n text_transformation {\n priority = 0\n type = "${change}"\n }\n}`;
const kong = (route: string) =>
  `services:\n- name: s\n  routes:\n  - { name: a, paths: [/], ${route}, plugins: [{ name: rate-limiting, config: { minute: 3, limit_by: ip } }] }\n  - { name: b, paths: [/] }\n`;
const armor = (expression: string) =>
  `resource "google_compute_security_policy" "p" {\n rule {\n  action = "throttle"\n  priority = 1\n  match {\n   expr {\n    expression = "${expression}"\n   }\n  }\n  rate_limit_options {\n   enforce_on_key = "IP"\n   rate_limit_threshold {\n    count = 5\n    interval_sec = 60\n   }\n  }\n }\n}`;
const azure = (condition: string) =>
  `resource "azurerm_frontdoor_firewall_policy" "p" {\n custom_rule {\n  type = "RateLimitRule"\n  action = "Block"\n  rate_limit_threshold = 5\n  match_condition {\n${condition}\n  }\n }\n}`;
const envoy = (match: string) =>
  `route_config:\n  virtual_hosts:\n  - domains: ["*"]\n    routes:\n    - match: { prefix: /, ${match} }\n      typed_per_filter_config:\n        l: { "@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit, stat_prefix: a, token_bucket: { max_tokens: 5, fill_interval: 60s }, filter_enabled: { default_value: { numerator: 100 } }, filter_enforced: { default_value: { numerator: 100 } } }\n    - match: { prefix: / }\n`;

const NOT = ', which this log has not';
describe.each([
  [
    'traefik.yml',
    traefik,
    [
      ['Method(`POST`) && PathPrefix(`/a`)', { 'POST /a': 'yes', 'GET /a': 'no', 'POST /b': 'no' }],
      ['!Method(`GET`, `HEAD`)', { 'POST /': 'yes', 'HEAD /': 'no' }],
      ['Host(`a.example`) && (Path(`/x`) || Method(`PUT`))', { 'GET /x': 'yes', 'PUT /y': 'yes', 'GET /y': 'no' }],
      [
        'Header(`User-Agent`, `curl`) || HeaderRegexp(`User-Agent`, `[Bb]ot`)',
        { 'GET /': 'yes', 'GET / . Robot': 'yes', 'GET / . x': 'no' },
      ],
      [
        'ClientIP(`192.0.2.0/24`) && Query(`a`, `1`)',
        { 'GET /?a=1': 'yes', 'GET /': 'no', 'GET /?a=1 10.0.0.1': 'no' },
      ],
      ['Query(`a=1`)', { 'GET /?b=2&a=1': 'yes', 'GET /?a=2': 'no', 'GET /?A=1': 'no' }],
      ['Query(`a`)', { 'GET /?b=2&a': 'yes', 'GET /?a=': 'yes', 'GET /?a=1': 'no', 'GET /': 'no' }],
      ['QueryRegexp(`a`, `^1*$`)', { 'GET /?a=11': 'yes', 'GET /?a=2': 'no', 'GET /': 'no' }],
      ['Path(`/a/{id:[0-9]+}`)', { 'GET /a/7': 'yes', 'GET /a/x': 'no' }],
      ['Header(`X-Key`, `1`) && Method(`POST`)', { 'GET /': 'no', 'POST /': `the header x-key${NOT}` }],
    ],
  ],
  [
    'haproxy.cfg',
    haproxy,
    [
      ['METH_POST', { 'POST /': 'yes', 'GET /': 'no' }],
      ['METH_GET', { 'HEAD /': 'yes' }],
      ['{ method PUT PATCH } !{ path_beg /a }', { 'PUT /b': 'yes', 'PUT /a': 'no', 'GET /b': 'no' }],
      ['{ path_end -i .JPG } or { path_end .png }', { 'GET /a.jpg': 'yes' }],
      ['{ src 192.0.2.0/24 10.0.0.1 }', { 'GET /': 'yes', 'GET / 10.0.0.1': 'yes', 'GET / 10.0.0.2': 'no' }],
      ['{ req.hdr(user-agent),lower -m sub bot }', { 'GET / . RoBot': 'yes', 'GET /': 'no' }],
      ['{ hdr_reg(User-Agent) -i ^CURL }', { 'GET /': 'yes' }],
      ['{ url_param(q) -m found }', { 'GET /?q=1': 'yes', 'GET /?q=': 'yes', 'GET /': 'no' }],
      ['{ method -i post } or { always_false } or { url_param(q) }', { 'POST /?q=1': 'no' }],
      ['{ path,url_dec -m reg ^/[a-c]/ } TRUE', { 'GET /%61/': 'yes', 'GET /d/': 'no' }],
      ['{ hdr(host) -i A.EXAMPLE }', { 'GET /': 'yes' }],
      ['{ req.cook(a) -m found }', { 'GET /': `a cookie${NOT}` }],
      ['{ src -f office.lst }', { 'GET /': `a list in another file${NOT}` }],
    ],
  ],
  [
    'cloudflare.tf',
    cloudflare,
    [
      [
        '(http.request.uri.path eq "/a" and http.request.method in {"POST" "PUT"})',
        { 'POST /a': 'yes', 'GET /a': 'no', 'PUT /b': 'no' },
      ],
      [
        'not http.request.uri.path contains "/a" || ip.src in {10.0.0.0/8}',
        { 'GET /b': 'yes', 'GET /a': 'no', 'GET /a 10.1.1.1': 'yes' },
      ],
      [
        'lower(http.user_agent) matches "bot$" and starts_with(http.request.uri.path, "/")',
        { 'GET / . ROBOT': 'yes', 'GET /': 'no' },
      ],
      ['http.request.uri wildcard "/A*?x=*"', { 'GET /ab?x=1': 'yes', 'GET /ab': 'no' }],
      ['http.request.uri.query ne "" and ends_with(http.host, "example")', { 'GET /?a': 'yes', 'GET /': 'no' }],
      ['http.request.method == "POST" and cf.client.bot', { 'GET /': 'no', 'POST /': `cf.client.bot${NOT}` }],
      ['http.cookie contains "a"', { 'GET /': `a cookie${NOT}` }],
    ],
  ],
  [
    'waf.tf',
    waf,
    [
      [bytes('uri_path {}', '/a'), { 'GET /a': 'yes', 'GET /ab': 'no' }],
      [bytes('method {}', 'post', 'EXACTLY', 'LOWERCASE'), { 'POST /': 'yes', 'GET /': 'no' }],
      [
        `not_statement {\n statement {\n ${bytes('query_string {}', 'a', 'CONTAINS')}\n }\n}`,
        { 'GET /': 'yes', 'GET /?a': 'no' },
      ],
      [
        `and_statement {\n statement {\n ${bytes('uri_path {}', '/a', 'STARTS_WITH')}\n }\n statement {\n ${bytes('method {}', 'POST')}\n }\n}`,
        { 'POST /a/b': 'yes', 'GET /a': 'no' },
      ],
      [
        `or_statement {\n statement {\n ${bytes('uri_path {}', '/a')}\n }\n statement {\n ip_set_reference_statement {\n arn = aws_wafv2_ip_set.own.arn\n }\n }\n}`,
        { 'GET /b': 'yes', 'GET /b 10.0.0.1': 'no' },
      ],
      [
        bytes('single_header {\n name = "user-agent"\n }', 'bot', 'ENDS_WITH'),
        { 'GET / . robot': 'yes', 'GET /': 'no' },
      ],
      [
        bytes('single_query_argument {\n name = "q"\n }', '1'),
        { 'GET /?q=1': 'yes', 'GET /?q=2': 'no', 'GET /?Q=1': 'yes' },
      ],
      [bytes('body {}', 'x', 'CONTAINS'), { 'GET /': `body${NOT}` }],
      ['geo_match_statement {\n country_codes = ["DE"]\n}', { 'GET /': `what geo_match_statement asks${NOT}` }],
    ],
  ],
  [
    'kong.yml',
    kong,
    [
      ['methods: [POST, put]', { 'POST /': 'yes', 'PUT /': 'yes', 'GET /': 'no' }],
      ['headers: { user-agent: [curl] }', { 'GET /': 'yes', 'GET / . x': 'no' }],
      ['sources: [{ ip: 192.0.2.0/24 }]', { 'GET /': 'yes', 'GET / 10.0.0.1': 'no' }],
      ['headers: { x-key: ["1"] }', { 'GET /': `the header x-key${NOT}` }],
    ],
  ],
  [
    'armor.tf',
    armor,
    [
      ["request.path.matches('^/a') && request.method == 'POST'", { 'POST /ab': 'yes', 'GET /a': 'no' }],
      [
        "inIpRange(origin.ip, '192.0.2.0/24') || request.headers['user-agent'].contains('bot')",
        { 'GET /': 'yes', 'GET / 10.0.0.1 bot': 'yes', 'GET / 10.0.0.1': 'no' },
      ],
      ["origin.region_code == 'DE'", { 'GET /': `what origin.region_code == 'DE' asks${NOT}` }],
    ],
  ],
  [
    'azure.tf',
    azure,
    [
      [
        '   match_variable = "RequestMethod"\n   operator = "Equal"\n   match_values = ["POST"]',
        { 'POST /': 'yes', 'GET /': 'no' },
      ],
      [
        '   match_variable = "RemoteAddr"\n   operator = "IPMatch"\n   negation_condition = true\n   match_values = ["192.0.2.0/24"]',
        { 'GET /': 'no', 'GET / 10.0.0.1': 'yes' },
      ],
    ],
  ],
  [
    'envoy.yaml',
    envoy,
    [
      ['headers: [{ name: ":method", string_match: { exact: POST } }]', { 'POST /': 'yes', 'GET /': 'no' }],
      [
        'headers: [{ name: user-agent, string_match: { prefix: CU, ignore_case: true }, invert_match: true }]',
        { 'GET /': 'no', 'GET / . x': 'yes' },
      ],
      [
        'query_parameters: [{ name: a, present_match: true }]',
        { 'GET /?a=1': 'yes', 'GET /?a=': 'yes', 'GET /': 'no' },
      ],
      ['headers: [{ name: x-key, present_match: true }]', { 'GET /': `the header x-key${NOT}` }],
    ],
  ],
] as const)('%s', (name, fileOf, cases) => {
  it.each(cases.map(([rule, expected]) => [rule, expected] as const))(
    'requests meet a limit as its condition says: %s',
    (rule, expected) => {
      expectMet(name, fileOf(rule), expected);
    },
  );
});

it.each([
  ['10.1.2.3', '10.0.0.0/8', true],
  ['11.1.2.3', '10.0.0.0/8', false],
  ['10.1.2.3', '10.1.2.3', true],
  ['10.0.0.5', '10.0.0.1-10.0.0.9', true],
  ['2001:db8::1', '2001:db8::/32', true],
  ['2001:db9::1', '2001:db8::/32', false],
  ['::ffff:10.1.2.3', '10.0.0.0/8', true],
  ['2001:db8::1', '0.0.0.0/0', false],
  ['a.example', '0.0.0.0/0', false],
])('the address %s lies in %s: %s', (address, range, expected) => {
  expect(isInRange(address, range)).toBe(expected);
});

const path = fieldText('path');
const post = tested(fieldText('method'), equalTo('POST', true));
it.each([
  [ALWAYS, 'always'],
  [post, 'method is POST (case ignored)'],
  [tested(argumentText('id'), equalTo('7', true)), 'argument id is 7'],
  [not(tested(fieldText('user'), equalTo(''))), 'user is not empty'],
  [tested(path, { is: 'prefix', value: '/api' }), 'path begins with /api'],
  [not(tested(path, { is: 'suffix', value: '.png' })), 'path does not end with .png'],
  [tested(fieldText('agent'), { is: 'containing', value: 'bot' }), 'user agent contains bot'],
  [not(tested(path, { is: 'matching', value: '^/a' })), 'path does not match ^/a'],
  [tested(fieldText('client'), { is: 'within', ranges: ['10.0.0.0/8', '::1'] }), 'client is in 10.0.0.0/8 or ::1'],
  [tested(fieldText('status'), { is: 'above', number: 499 }), 'status is above 499'],
  [not(allHold(post, missing('a cookie'))), 'not (method is POST (case ignored) and a cookie)'],
  [allHold(post, oneHolds(missing('a'), missing('b'))), 'method is POST (case ignored) and (a or b)'],
])('%# in words: %s', (condition, words) => {
  expect(inWords(condition)).toBe(words);
});

const skip = (expression: string, of: string) =>
  `rules {\n  action = "skip"\n  expression = ${JSON.stringify(expression)}\n  action_parameters {\n   ${of}\n  }\n }\n`;
const HEALTH = skip('http.request.uri.path eq "/health"', 'ruleset = "current"');
const [LIMITING = ''] = /rules \{.*\n \}/s.exec(cloudflare('true')) ?? [];
const rulesets = (...all: string[]) =>
  all.map((rules, i) => `resource "cloudflare_ruleset" "r${i}" {\n${rules}\n}\n`).join('');
it.each([
  [
    'of another ruleset',
    rulesets(skip('http.request.method eq "POST"', 'phases = ["http_ratelimit"]'), LIMITING),
    { 'POST /': 'no', 'GET /': 'yes' },
  ],
  ['before the limit', rulesets(`${HEALTH}${LIMITING}`), { 'GET /health': 'no', 'GET /': 'yes' }],
  ['after the limit', rulesets(`${LIMITING}\n${HEALTH}`), { 'GET /health': 'yes' }],
  ['of other phases', rulesets(skip('true', 'phases = ["http_request_sbfm"]'), LIMITING), { 'GET /': 'yes' }],
  [
    'by a header',
    rulesets(skip('any(http.request.headers["x-key"][*] eq "1")', 'phases = ["http_ratelimit"]'), LIMITING),
    { 'GET /': expect.stringContaining('x-key') },
  ],
])('Cloudflare skips the limit by a rule %s', (_, text, expected) => {
  expectMet('cloudflare.tf', text, expected);
});

it.each([
  [
    'set-path /b if { path /a }',
    '{ path /b }',
    { 'GET /b': 'yes', 'GET /c': 'no', 'GET /a': `what set-path gives${NOT}` },
  ],
  ['replace-path "^/a/" /b/', '{ path_beg /b }', { 'GET /b': 'yes', 'GET /a/c': `what replace-path gives${NOT}` }],
  ['set-header Host b.example', '{ hdr(host) a.example }', { 'GET /': `what set-header gives${NOT}` }],
  ['set-header Path /b', '{ path /a }', { 'GET /a': 'yes' }],
])('a limit of HAProxy behind %s is judged where that changes nothing: %s', (line, condition, expected) => {
  const text = haproxy(condition, `http-request ${line}`);
  expectMet('haproxy.cfg', text, expected);
});

it.each([
  [
    'a path of a variable that the same if has set',
    'set $a $cookie_a; if ($request_method = POST) { set $a new; rewrite ^/old /$a last; }',
    { 'POST /old': 'yes', 'GET /old': 'no' },
  ],
  ['a path of another variable', 'rewrite ^/old /$cookie_a last;', { 'GET /old': `the path that rewrite gives${NOT}` }],
  ['another path alone', 'rewrite ^/old /$cookie_a last;', { 'GET /new': 'yes', 'GET /': 'no' }],
  ['a path, of a limit by paths', 'rewrite ^/old /new;', { 'GET /old': `the path that rewrite gives${NOT}` }],
  ['a path to itself', 'rewrite ^/old /new;', { 'GET /loop': 'no' }],
])('a limit is judged where nginx rewrites %s', (_, rule, expected) => {
  const key = rule.includes('$cookie') ? '$binary_remote_addr' : '$uri';
  const text = `limit_req_zone ${key} zone=z:1m rate=1r/s;\nserver { ${rule} location /new { limit_req zone=z; } location /loop { rewrite ^ /loop/x; } location / { } }`;
  expectMet('nginx.conf', text, expected);
});
