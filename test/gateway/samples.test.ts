// Unusual and legal files of every format: what each path meets, or the line that says why not.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limitersInFiles } from '../../src/gateway/limits-in.js';
import { temporaryFolder } from '../left-behind.js';
import { isInstalled } from '../live/real-servers.js';

interface Sample {
  readonly file: string;
  readonly text: string;
  /** By path, with a host before it if it has one: the places of the limits that a request meets. */
  readonly meets?: Readonly<Record<string, readonly string[]>>;
  readonly keys?: readonly (readonly string[] | undefined)[];
  readonly limits?: readonly object[];
  /** What is said, by a part of its words and its line. */
  readonly says?: readonly (readonly [line: number, what: string])[];
  readonly unused?: readonly number[];
}

const CLIENT = 'limit_req_zone $binary_remote_addr zone=a:10m rate=5r/s;';

const samples: Readonly<Record<string, Readonly<Record<string, Sample>>>> = {
  nginx: {
    'a quote within a word begins no text': {
      file: 'nginx.conf',
      text: `${CLIENT}\nserver {\n  add_header X-A it's;\n  limit_req zone=a;\n  add_header X-B it's;\n}`,
      meets: { '/': ['server'] },
      says: [],
    },
    'what is in a stream is not of HTTP': {
      file: 'nginx.conf',
      text: `stream {\n  limit_conn_zone $binary_remote_addr zone=s:10m;\n  server { listen 1; limit_conn s 1; }\n}\nhttp { ${CLIENT}\n  server { listen 80; limit_req zone=a; }\n}`,
      meets: { '/': ['server'] },
      says: [
        [2, 'stream'],
        [3, 'stream'],
      ],
    },
    'a limit of http counts once, and a server may only count': {
      file: 'nginx.conf',
      text: `http {\n  ${CLIENT}\n  limit_req zone=a burst=5;\n  server { server_name a.example; }\n  server { server_name b.example; limit_req_dry_run on; }\n}`,
      meets: { 'a.example/': ['http'], 'b.example/': ['http'] },
      says: [[5, 'dry_run']],
    },
    'try_files leads on to a location with a limit': {
      file: 'nginx.conf',
      text: `${CLIENT}\nserver {\n  location / { try_files $uri /index.php?$args; }\n  location ~ \\.php$ { limit_req zone=a; }\n}`,
      meets: { '/page': ['location ~ \\.php$'], '/a.php': ['location ~ \\.php$'] },
      says: [[3, 'try_files']],
    },
    'and to a location with a name': {
      file: 'nginx.conf',
      text: `${CLIENT}\nserver {\n  location / { try_files $uri @app; }\n  location @app { limit_req zone=a; proxy_pass http://127.0.0.1:1; }\n}`,
      meets: { '/page': ['location @app'] },
      says: [[3, 'try_files']],
    },
    'return in a server answers its locations, too': {
      file: 'nginx.conf',
      text: `${CLIENT}\nserver {\n  location / { limit_req zone=a; }\n  return 301 https://a.example;\n}`,
      meets: { '/': [] },
      unused: [3],
    },
    'values of a geo are texts': {
      file: 'nginx.conf',
      text: `geo $key { default $binary_remote_addr; }\nlimit_req_zone $key zone=a:10m rate=5r/s;\nserver { limit_req zone=a; }`,
      keys: [[]],
    },
    'a geo without a default may be empty': {
      file: 'nginx.conf',
      text: `geo $key {\n  10.0.0.0/8 one;\n}\nlimit_req_zone $key zone=a:10m rate=5r/s;\nserver { limit_req zone=a; }`,
      keys: [[]],
      says: [[1, 'empty']],
    },
    'two constants are two counters': {
      file: 'nginx.conf',
      text: `map $http_user_agent $key { ~*bot bots; default people; }\nlimit_req_zone $key zone=a:10m rate=5r/s;\nserver { limit_req zone=a; }`,
      keys: [undefined],
    },
    'two variables, in braces': {
      file: 'nginx.conf',
      text: `limit_req_zone "\${binary_remote_addr}\${uri}" zone=a:10m rate=300r/m;\nserver { limit_req zone=a; }`,
      keys: [['client', 'path']],
    },
    'a name that is filled in elsewhere is every name': {
      file: 'nginx.conf',
      text: `${CLIENT}\nserver {\n  server_name \${DOMAIN};\n  limit_req zone=a;\n}\nserver { server_name b.example; }`,
      meets: { 'a.example/': [`server \${DOMAIN}`], 'b.example/': [] },
      says: [[4, 'DOMAIN']],
    },
    'the query is a part of request_uri': {
      file: 'nginx.conf',
      text: `limit_req_zone $request_uri zone=a:10m rate=5r/s;\nserver { limit_req zone=a; }`,
      keys: [undefined],
    },
    'the name of one server is the same for all': {
      file: 'nginx.conf',
      text: `limit_req_zone $server_name zone=a:10m rate=5r/s;\nserver { server_name a.example b.example; limit_req zone=a; }`,
      keys: [[]],
    },
    'expressions of PCRE': {
      file: 'nginx.conf',
      text: `${CLIENT}\nserver {\n  server_name ~^(?P<sub>.+)\\.example$;\n  location ~ "^/(?P<id>[0-9]{3})$" { limit_req zone=a; }\n}`,
      meets: { 'a.example/123': ['location ~ ^/(?P<id>[0-9]{3})$'], 'a.example/1234': [] },
      says: [],
    },
  },
  'nginx, refused by nginx': {
    'a burst of 0': {
      file: 'nginx.conf',
      text: `${CLIENT}\nserver { limit_req zone=a burst=0; }`,
      limits: [],
      says: [[2, 'burst=0']],
    },
    'a zone without a size': {
      file: 'nginx.conf',
      text: `limit_req_zone $uri zone=a rate=5r/s;\nserver { limit_req zone=a; }`,
      limits: [],
      says: [
        [1, 'size'],
        [2, 'defines'],
      ],
    },
    'a zone twice in one place': {
      file: 'nginx.conf',
      text: `${CLIENT}\nserver {\n  limit_req zone=a;\n  limit_req zone=a burst=5;\n}`,
      says: [[4, 'twice']],
    },
    'a zone in a server': {
      file: 'nginx.conf',
      text: `server {\n  ${CLIENT}\n  limit_req zone=a;\n}`,
      limits: [],
      says: [
        [2, 'outside of http'],
        [3, 'defines'],
      ],
    },
    'a quote that stays open': {
      file: 'nginx.conf',
      text: `${CLIENT}\nserver { limit_req zone=a; return 200 "a; }`,
      limits: [],
      says: [[2, 'quote']],
    },
    off: {
      file: 'nginx.conf',
      text: `${CLIENT}\nserver {\n  limit_req off;\n}`,
      limits: [],
      says: [[3, 'off']],
      unused: [1],
    },
  },
  HAProxy: {
    'what tracks after a rule is not seen by it': {
      file: 'haproxy.cfg',
      text: `frontend web\n  bind 127.0.0.1:18081\n  mode http\n  timeout client 1s\n  stick-table type ip size 1k expire 10s store http_req_rate(10s)\n  http-request deny deny_status 429 if { sc_http_req_rate(0) gt 2 }\n  http-request track-sc0 src`,
      limits: [],
      unused: [6],
    },
    'a converter makes another key': {
      file: 'haproxy.cfg',
      text: `frontend web\n  bind 127.0.0.1:18081\n  mode http\n  timeout client 1s\n  stick-table type ip size 1k expire 10s store http_req_rate(10s)\n  http-request track-sc0 src,ipmask(24)\n  http-request deny if { sc0_http_req_rate gt 20 }`,
      keys: [undefined],
    },
    'other comparisons are refused': {
      file: 'haproxy.cfg',
      text: `frontend web\n  bind 127.0.0.1:18081\n  mode http\n  timeout client 1s\n  stick-table type ip size 1k expire 10s store http_req_rate(10s)\n  http-request track-sc0 src\n  http-request deny if !{ sc_http_req_rate(0) le 20 }\n  http-request deny if { sc_http_req_rate(0) 100: }`,
      limits: [],
      says: [
        [7, 'not read'],
        [8, 'not read'],
      ],
    },
    'paths from a file, and a negated path': {
      file: 'haproxy.cfg',
      text: `frontend web\n  bind 127.0.0.1:18081\n  mode http\n  timeout client 1s\n  stick-table type ip size 1k expire 10s store http_req_rate(10s)\n  http-request track-sc0 src\n  http-request deny if { sc_http_req_rate(0) gt 20 } !{ path_beg /api }`,
      meets: { '/api': ['frontend web'] },
      says: [[7, '!{ path_beg /api }']],
    },
    'a text with if is no condition': {
      file: 'haproxy.cfg',
      text: `frontend web\n  bind 127.0.0.1:18081\n  mode http\n  timeout client 1s\n  stick-table type ip size 1k expire 10s store http_req_rate(10s)\n  acl api path_beg -i /api\n  http-request track-sc0 src if api\n  http-request deny deny_status 429 content-type text/plain string "wait if you can" if api { sc0_http_req_rate gt 20 }`,
      limits: [{ like: 'haproxy-http-req-rate', period: '10s', limit: 20 }],
      meets: { '/API/x': ['frontend web, ^/api'], '/x': [] },
      says: [],
    },
    'a request goes to one backend, and a log does not say which': {
      file: 'haproxy.cfg',
      text: `frontend web\n  bind 127.0.0.1:18081\n  mode http\n  timeout client 1s\n  use_backend a if { path_beg /a }\n  default_backend b\nbackend a\n  mode http\n  timeout connect 1s\n  timeout server 1s\n  stick-table type ip size 1k expire 10s store http_req_rate(10s)\n  http-request track-sc0 src\n  http-request deny if { sc_http_req_rate(0) gt 20 }\nbackend b\n  mode http\n  timeout connect 1s\n  timeout server 1s`,
      meets: { '/a': [], '/': [] },
    },
    'sessions of a frontend': {
      file: 'haproxy.cfg',
      text: `frontend web\n  bind 127.0.0.1:18081\n  mode http\n  timeout client 1s\n  rate-limit sessions 100\n  stick-table type ip size 1k expire 10s store http_req_rate(10s)`,
      limits: [],
      says: [[5, 'rate-limit sessions']],
      unused: [6],
    },
  },
  Envoy: {
    'the route replaces the filter, the first that fits is taken': {
      file: 'envoy.yaml',
      text: `static_resources:
  listeners:
  - name: in
    address: { socket_address: { address: 0.0.0.0, port_value: 80 } }
    filter_chains:
    - filters:
      - name: hcm
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          http_filters:
          - name: local
            typed_config: &limit
              "@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit
              stat_prefix: all
              token_bucket: { max_tokens: 100, tokens_per_fill: 100, fill_interval: 60s }
              filter_enabled: &on { default_value: { numerator: 1000000, denominator: MILLION } }
              filter_enforced: *on
          route_config:
            virtual_hosts:
            - name: v
              domains: ["*"]
              routes:
              - match: { prefix: /health }
                typed_per_filter_config: { local: { "@type": t/envoy.config.route.v3.FilterConfig, disabled: true } }
              - match: { path_separated_prefix: /api }
                typed_per_filter_config:
                  local: { <<: *limit, stat_prefix: api, token_bucket: { max_tokens: 5, fill_interval: { seconds: 1, nanos: 500000000 } } }
              - match: { prefix: / }
`,
      limits: [
        { like: 'envoy-local', max_tokens: 5, fill_interval: '1.5s' },
        { like: 'envoy-local', max_tokens: 100, tokens_per_fill: 100, fill_interval: '60s' },
      ],
      meets: {
        '/health': [],
        '/api/a': ['listener in, route ^/api(?:/|$)'],
        '/apis': ['listener in'],
        '/': ['listener in'],
      },
      says: [],
    },
    'descriptors go through a log where the routes are there': {
      file: 'envoy.yaml',
      text: `domain: web
descriptors:
- key: path
  value: login
  descriptors:
  - key: remote_address
    rate_limit: { unit: MINUTE, requests_per_unit: 5 }
- key: dead
  rate_limit: { unit: hour, requests_per_unit: 1 }
---
http_filters:
- name: global
  typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit, domain: web }
route_config:
  virtual_hosts:
  - domains: [a.example]
    routes:
    - match: { prefix: /login }
      route: { rate_limits: [{ actions: [{ generic_key: { descriptor_key: path, descriptor_value: login } }, { remote_address: {} }] }] }
    - match: { prefix: / }
`,
      limits: [{ like: 'envoy-ratelimit', requests_per_unit: 5, unit: 'minute' }],
      keys: [['client']],
      meets: { 'a.example/login': ['descriptor path=login/remote_address'], 'a.example/': [] },
      unused: [8],
    },
    'a share in ten thousandths, and connections': {
      file: 'envoy.yaml',
      text: `filters:
- typed_config:
    "@type": type.googleapis.com/envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit
    stat_prefix: tcp
    token_bucket: { max_tokens: 5, fill_interval: 1s }
- typed_config:
    "@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit
    stat_prefix: web
    token_bucket: { max_tokens: 5, fill_interval: 1s }
    filter_enabled: { default_value: { numerator: 100, denominator: TEN_THOUSAND } }
    filter_enforced: { default_value: { numerator: 100 } }
`,
      limits: [
        { like: 'envoy-local', max_tokens: 5, fill_interval: '1s' },
        { like: 'envoy-local', max_tokens: 5, fill_interval: '1s' },
      ],
      says: [[9, 'only 1 % of requests']],
    },
  },
  'Envoy Gateway': {
    'routes count separately, unless a rule is shared, and replace what their gateway has': {
      file: 'policy.yaml',
      text: `kind: HTTPRoute
metadata: { name: shop }
spec: { hostnames: [a.example], rules: [{ matches: [{ path: { value: /shop } }] }] }
---
kind: HTTPRoute
metadata: { name: api }
spec: { rules: [{ matches: [{ path: { type: PathPrefix, value: /api } }, { path: { type: Exact, value: /v2 } }] }] }
---
kind: HTTPRoute
metadata: { name: rest }
spec: { rules: [{ matches: [{ path: { value: / } }] }] }
---
kind: BackendTrafficPolicy
metadata: { name: own }
spec:
  targetRefs: [{ kind: HTTPRoute, name: shop }, { kind: HTTPRoute, name: api }]
  rateLimit:
    type: Global
    global:
      rules:
      - { limit: { requests: 10, unit: Minute }, shared: true }
      - limit: { requests: 3, unit: Hour }
        clientSelectors: [{ sourceCIDR: { type: Distinct, value: ::/0 } }]
    local: { rules: [{ limit: { requests: 5, unit: Second } }] }
---
kind: BackendTrafficPolicy
metadata: { name: gateway }
spec: { targetRef: { kind: Gateway, name: eg }, rateLimit: { local: { rules: [{ limit: { requests: 7, unit: Second }, shadowMode: true }] } } }
`,
      meets: {
        'a.example/shop': ['HTTPRoute shop, HTTPRoute api', 'HTTPRoute shop'],
        '/v2': ['HTTPRoute shop, HTTPRoute api', 'HTTPRoute api'],
        '/': ['HTTPRoute rest'],
      },
      keys: [[], ['client'], ['client'], []],
      says: [[22, 'each match']],
      unused: [24],
    },
  },
  Istio: {
    'the descriptors of a patch are those that it sends': {
      file: 'filter.yaml',
      text: `kind: EnvoyFilter
metadata: { name: shop }
spec:
  configPatches:
  - applyTo: VIRTUAL_HOST
    match: { routeConfiguration: { vhost: { name: "shop.example:80" } } }
    patch:
      value:
        rate_limits:
        - actions: [{ remote_address: {} }]
        - actions: [{ header_value_match: { descriptor_value: cart, headers: [{ name: ":path", string_match: { prefix: /cart } }] } }]
        - actions: [{ header_value_match: { descriptor_value: post, headers: [{ name: ":method", string_match: { exact: POST } }] } }]
        typed_per_filter_config:
          envoy.filters.http.local_ratelimit:
            "@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit
            stat_prefix: all
            token_bucket: { max_tokens: 100, fill_interval: 60s }
            filter_enabled: &on { default_value: { numerator: 100 } }
            filter_enforced: *on
            descriptors:
            - { entries: [{ key: header_match, value: cart }], token_bucket: { max_tokens: 10, fill_interval: 60s } }
            - { entries: [{ key: header_match, value: post }], token_bucket: { max_tokens: 5, fill_interval: 60s } }
            - { entries: [{ key: header_match, value: other }], token_bucket: { max_tokens: 1, fill_interval: 60s } }
`,
      meets: {
        'shop.example/cart/1': ['EnvoyFilter shop', 'EnvoyFilter shop', 'EnvoyFilter shop'],
        'shop.example/': ['EnvoyFilter shop', 'EnvoyFilter shop'],
        'b.example/': [],
      },
      says: [[12, 'header_value_match']],
      unused: [],
    },
    'a value with a star fits many, and each counts separately': {
      file: 'descriptors.yaml',
      text: `domain: files
descriptors:
- { key: remote_address, value: "*", rate_limit: { unit: minute, requests_per_unit: 5 } }
- { key: path, value: "/a*z", share_threshold: true, rate_limit: { unit: minute, requests_per_unit: 6 } }
- key: tenant
  rate_limit: { unit: minute, requests_per_unit: 7 }
- key: tenant
  value: big
  rate_limit: { unit: minute, requests_per_unit: 8 }
- key: generic_key
  value: sl*
  rate_limit: { unit: minute, requests_per_unit: 9 }
---
http_filters:
- name: global
  typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit, domain: files }
route_config:
  virtual_hosts:
  - domains: ["*"]
    routes:
    - match: { prefix: /slow }
      route: { rate_limits: [{ actions: [{ generic_key: { descriptor_value: slow } }] }, { actions: [{ remote_address: {} }] }] }
    - match: { prefix: / }
      route: { rate_limits: [{ actions: [{ request_headers: { header_name: x-tenant, descriptor_key: tenant } }] }] }
`,
      meets: { '/slow': ['descriptor generic_key=sl*', 'descriptor remote_address=*'], '/': ['descriptor tenant'] },
      keys: [[], ['client'], undefined],
      says: [[7, 'tenant=big']],
      unused: [4],
    },
  },
  Kong: {
    'the most specific plugin alone runs': {
      file: 'kong.yaml',
      text: `_format_version: "3.0"
plugins:
- { name: rate-limiting, config: { minute: 100, limit_by: ip } }
- { name: rate-limiting, consumer: mobile, config: { minute: 7 } }
services:
- name: orders
  url: http://orders
  plugins: [{ name: rate-limiting, config: { minute: 20, hour: null, limit_by: ip } }]
  routes:
  - { name: cart, paths: [/cart], plugins: [{ name: rate-limiting, config: { second: 1, limit_by: ip } }] }
  - { name: list, paths: ["~/orders/\\\\d+$"] }
- name: other
  url: http://other
  routes: [{ name: rest, paths: [/] }]
`,
      meets: { '/cart/1': ['route cart'], '/orders/12': ['service orders'], '/x': ['global'] },
      says: [],
    },
    'other limiters of Kong are refused': {
      file: 'kong.yaml',
      text: `services:\n- name: a\n  routes: [{ name: r, paths: [/] }]\n  plugins:\n  - { name: response-ratelimiting, config: { limits: { video: { minute: 10 } } } }`,
      limits: [],
      says: [[5, 'response-ratelimiting']],
    },
  },
  APISIX: {
    'the longest path is taken, a route replaces its service': {
      file: 'apisix.yaml',
      text: `services:
- { id: s, plugins: { limit-count: { count: 100, time_window: 60 } } }
routes:
- { id: all, uri: "/*", service_id: s }
- { id: api, uri: "/api/*", service_id: s, plugins: { limit-count: { count: 5, time_window: 1, group: g } } }
- { id: free, uri: /health }
- { id: gone, uri: /gone, status: 0, plugins: { limit-count: { count: 1, time_window: 1 } } }
`,
      meets: { '/api/a': ['route api'], '/health': [], '/x': ['service s'], '/gone': ['service s'] },
      says: [],
    },
    'a count that is not a number': {
      file: 'apisix.yaml',
      text: `routes:\n- uri: /a\n  plugins:\n    limit-count:\n      count: "$http_limit"\n      time_window: 60`,
      limits: [],
      says: [
        [4, 'not a number'],
        [5, 'count is $http_limit'],
      ],
    },
  },
  'Kong and APISIX in Kubernetes': {
    'an Ingress with a plugin of its own does not meet the global one': {
      file: 'plugin.yaml',
      text: `kind: KongPlugin
metadata: { name: slow }
plugin: rate-limiting
config: { minute: 5, limit_by: header, header_name: x-key }
---
kind: Ingress
metadata: { name: shop, annotations: { konghq.com/plugins: "cors, slow" } }
spec: { rules: [{ host: a.example, http: { paths: [{ path: /shop, pathType: Prefix }] } }] }
---
kind: KongClusterPlugin
metadata: { name: all, labels: { global: "true" } }
plugin: rate-limiting
config: { hour: 9 }
`,
      limits: [
        { like: 'kong', minute: 5 },
        { like: 'kong', hour: 9 },
      ],
      keys: [undefined, ['client']],
      meets: { 'a.example/shop/1': ['Ingress shop'], 'a.example/': ['global'] },
      says: [],
    },
    'plugins of a route are a list': {
      file: 'route.yaml',
      text: `kind: ApisixRoute
metadata: { name: shop }
spec:
  http:
  - name: cart
    match: { hosts: [a.example], paths: [/cart/*], methods: [GET] }
    plugins:
    - { name: limit-count, enable: true, config: { count: 5, time_window: 60, rejected_code: 429, key: remote_addr } }
    - { name: limit-req, enable: false, config: { rate: 1, burst: 2, key: remote_addr } }
  - name: pay
    match: { paths: [/pay] }
    plugins: [{ name: limit-req, enable: true, config: { rate: 1, burst: 2, key: remote_addr } }, { name: limit-conn, enable: true, config: { conn: 3, burst: 1, default_conn_delay: 0.1, key: remote_addr } }]
`,
      limits: [
        { like: 'apisix-limit-count', count: 5, time_window: 60 },
        { like: 'apisix-limit-req', rate: 1, burst: 2 },
        { like: 'in-flight', limit: 4 },
      ],
      meets: { 'a.example/cart/1': ['route cart'], '/pay': ['route pay', 'route pay'] },
      says: [[6, 'methods']],
      unused: [9],
    },
  },
  Traefik: {
    'the longest rule is taken, buckets are of a router': {
      file: 'dynamic.yml',
      text: `http:
  middlewares: { slow: { rateLimit: { average: 60, period: 1h30m, burst: 5 } }, both: { chain: { middlewares: [slow] } } }
  routers:
    a: { rule: "Host(\`a.example\`) && (Path(\`/x\`) || PathPrefix(\`/y\`))", middlewares: [both] }
    b: { rule: "Host(\`a.example\`)", middlewares: [slow@file] }
    c: { rule: "Host(\`a.example\`) && PathPrefix(\`/free\`)" }
`,
      limits: [
        { like: 'traefik', average: 60, burst: 5, period: '5400000ms' },
        { like: 'traefik', average: 60, burst: 5, period: '5400000ms' },
      ],
      meets: { 'a.example/y/1': ['router a'], 'a.example/z': ['router b'], 'a.example/free': [], 'b.example/': [] },
      says: [],
    },
    'a rule of hosts or paths': {
      file: 'dynamic.yml',
      text: `http:\n  middlewares: { m: { rateLimit: { average: 6 } } }\n  routers:\n    a: { rule: "Host(\`a.example\`) || PathPrefix(\`/y\`)", middlewares: [m] }`,
      says: [[4, 'only hosts and paths']],
    },
    TOML: {
      file: 'dynamic.toml',
      text: `[http.middlewares]\n  [http.middlewares.m.rateLimit]\n    average = 100`,
      limits: [],
      says: [[2, 'no format']],
    },
  },
  'ingress-nginx': {
    'a prefix ends at a segment, the longest path is taken': {
      file: 'ingress.yaml',
      text: `kind: Ingress
metadata: { name: api, annotations: { nginx.ingress.kubernetes.io/limit-rpm: "60", nginx.ingress.kubernetes.io/limit-rate: "5" } }
spec: { rules: [{ host: a.example, http: { paths: [{ path: /api, pathType: Prefix }, { path: /one, pathType: Exact }] } }] }
---
kind: Ingress
metadata: { name: free }
spec: { rules: [{ host: a.example, http: { paths: [{ path: /api/free, pathType: Prefix }] } }] }
`,
      meets: {
        'a.example/api/x': ['Ingress api, host a.example'],
        'a.example/apis': [],
        'a.example/api/free/1': [],
        'a.example/one': ['Ingress api, host a.example'],
        'b.example/api': [],
      },
      says: [],
    },
    'those of another controller': {
      file: 'ingress.yaml',
      text: `kind: Ingress\nmetadata:\n  annotations:\n    nginx.org/limit-req-rate: 10r/s`,
      limits: [],
      says: [[4, 'nginx.org/limit-req-rate']],
    },
  },
  Spring: {
    'the first route is taken, in every form of its predicates': {
      file: 'application.yml',
      text: `spring.cloud.gateway.routes:
- id: one
  predicates: [{ name: Path, args: { pattern: /a/** } }]
  filters: [{ name: RequestRateLimiter, args: { redis-rate-limiter.replenishRate: 5, redis-rate-limiter.burst-capacity: 9 } }]
- id: two
  predicates: [Path=/**, Method=GET]
  filters:
  - { name: RequestRateLimiter, args: { redis-rate-limiter.replenishRate: 7, redis-rate-limiter.burstCapacity: "\${BURST:20}" } }
`,
      limits: [{ like: 'spring', replenishRate: 5, burstCapacity: 9 }],
      meets: { '/a': ['route one'], '/a/b': ['route one'], '/ab': [] },
      says: [[8, 'burstCapacity']],
    },
  },
  Caddy: {
    'a snippet, and a matcher with a name': {
      file: 'Caddyfile',
      text: `(limits) {
  rate_limit {
    zone a {
      key {remote_host}
      events 10
      window 1m30s
    }
  }
}
(unused) {
  rate_limit {
    zone b {
      events 1
      window 1s
    }
  }
}
a.example {
  @api path /api/* /v2/*
  handle @api {
    import limits
  }
}
`,
      limits: [{ like: 'caddy', max_events: 10, window: '90000ms' }],
      meets: { 'a.example/v2/x': ['a.example'], 'a.example/': [] },
      unused: [10],
      says: [],
    },
    'in JSON it is refused': {
      file: 'caddy.json',
      text: '{"handle": [{\n"handler": "rate_limit",\n"rate_limits": {"a": {"max_events": 5}}}]}',
      limits: [],
      says: [
        [2, 'rate_limit'],
        [3, 'rate_limits'],
      ],
    },
  },
  Terraform: {
    'what is dynamic, what is not there, and what is of no kind that is read': {
      file: 'main.tf',
      text: `resource "aws_wafv2_web_acl" "a" {
  dynamic "rule" {
    for_each = var.rules
    content {
      statement {
        rate_based_statement {
          limit = rule.value
        }
      }
    }
  }
}
resource "google_compute_security_policy" "b" {
  count = 0
}
resource "cloudflare_rate_limit" "c" {
  threshold = 5
}
`,
      limits: [],
      says: [
        [2, 'dynamic rule'],
        [16, 'cloudflare_rate_limit'],
      ],
      unused: [13],
    },
    'stages, usage plans and quotas of API Gateway': {
      file: 'gateway.tf',
      text: `resource "aws_api_gateway_usage_plan" "gold" {
  api_stages {
    api_id = "a"
    stage  = "b"
  }
  throttle_settings {
    rate_limit  = 10.5
    burst_limit = 20
  }
  quota_settings {
    limit  = 1000
    period = "MONTH"
  }
}
resource "aws_api_gateway_method_settings" "all" {
  method_path = "*/*"
  settings {
    throttling_rate_limit  = 100
    throttling_burst_limit = 50
  }
}
resource "aws_apigatewayv2_stage" "http" {
  default_route_settings {
    throttling_rate_limit  = 7
    throttling_burst_limit = 9
  }
}
`,
      limits: [
        { like: 'aws-api-gateway', rate_limit: 10.5, burst_limit: 20 },
        { like: 'aws-quota', limit: 1000, period: 'MONTH' },
        { like: 'aws-api-gateway', rate_limit: 100, burst_limit: 50 },
        { like: 'aws-api-gateway', rate_limit: 7, burst_limit: 9 },
      ],
      keys: [undefined, undefined, [], []],
      says: [],
    },
    'rules of Cloud Armor': {
      file: 'armor.tf',
      text: `resource "google_compute_security_policy" "edge" {
  rule {
    action   = "throttle"
    priority = 10
    match {
      versioned_expr = "SRC_IPS_V1"
      config {
        src_ip_ranges = ["*"]
      }
    }
    rate_limit_options {
      conform_action = "allow"
      exceed_action  = "deny(502)"
      enforce_on_key = "IP"
      rate_limit_threshold {
        count        = 100
        interval_sec = 60
      }
    }
  }
  rule {
    action   = "rate_based_ban"
    priority = 20
    preview  = true
    match {
      expr {
        expression = "request.path.matches('/login')"
      }
    }
    rate_limit_options {
      exceed_action    = "deny(429)"
      ban_duration_sec = 600
      rate_limit_threshold {
        count        = 5
        interval_sec = 10
      }
    }
  }
}
`,
      limits: [
        { like: 'google-cloud-armor', count: 100, interval_sec: 60 },
        { like: 'google-cloud-armor', count: 5, interval_sec: 10, ban_duration_sec: 600 },
      ],
      keys: [['client'], []],
      says: [[25, '/login']],
    },
    'rules of Azure Front Door': {
      file: 'door.tf',
      text: `resource "azurerm_cdn_frontdoor_firewall_policy" "door" {
  name = "door"
  mode = "Prevention"
  custom_block_response_status_code = 429
  custom_rule {
    name                           = "slow"
    type                           = "RateLimitRule"
    rate_limit_duration_in_minutes = 5
    rate_limit_threshold           = 1000
    action                         = "Block"
    match_condition {
      match_variable = "RequestUri"
      operator       = "BeginsWith"
      match_values   = ["/api"]
    }
  }
  custom_rule {
    name                 = "off"
    enabled              = false
    type                 = "RateLimitRule"
    rate_limit_threshold = 5
  }
  custom_rule {
    name = "block"
    type = "MatchRule"
  }
}
`,
      limits: [{ like: 'azure-front-door', threshold: 1000, minutes: 5 }],
      keys: [['client']],
      says: [[11, 'conditions']],
      unused: [17],
    },
    'texts in texts, and challenges of Cloudflare': {
      file: 'ruleset.tf',
      text: `resource "cloudflare_ruleset" "a" {
  rules = [{
    expression = "(\${join(" or ", [for p in local.paths : "starts_with(http.request.uri.path, \\"\${p}\\")"])})"
    action     = "managed_challenge"
    ratelimit  = { characteristics = ["ip.src", "cf.colo.id"], period = 60, requests_per_period = 5 }
  }]
}`,
      limits: [{ like: 'cloudflare', requests_per_period: 5, period: 60 }],
      says: [[3, 'starts_with']],
    },
    'modules of a plan': {
      file: 'plan.json',
      text: JSON.stringify({
        planned_values: {
          root_module: {
            child_modules: [
              {
                resources: [0, 1].map((i) => ({
                  address: `module.waf.aws_wafv2_web_acl.a[${i}]`,
                  type: 'aws_wafv2_web_acl',
                  values: {
                    rule: [
                      {
                        name: 'r',
                        action: [{ block: [{}], count: [] }],
                        statement: [{ rate_based_statement: [{ limit: 100, scope_down_statement: [] }] }],
                      },
                    ],
                  },
                })),
              },
            ],
          },
        },
      }),
      limits: [
        { like: 'aws-waf', limit: 100 },
        { like: 'aws-waf', limit: 100 },
      ],
      says: [],
    },
  },
  published: {
    'API Commons': {
      file: 'limits.yml',
      text: `aid: shop
common:
- type: RateLimits
  data:
  - { name: Each user, type: User, limit: 100, metric: request, timeframe: minute }
  - { name: All, type: Platform, limit: 5000, metric: request, timeframe: hour, domains: [a.example] }
  - { name: Tokens, type: Model, limit: 9, metric: token, timeframe: day }
  - { name: At once, type: Application, limit: 4, metric: concurrent-request }
`,
      limits: [
        { like: 'api-commons', limit: 100, timeframe: 'minute' },
        { like: 'api-commons', limit: 5000, timeframe: 'hour' },
        { like: 'in-flight', limit: 4 },
      ],
      keys: [['user'], [], undefined],
      says: [[7, 'token']],
    },
    'an extension of OpenAPI': {
      file: 'openapi.yaml',
      text: `openapi: 3.1.0
info: { title: Shop, version: "1" }
servers: [{ url: https://a.example/v1/ }]
x-rate-limit: { limit: 100, window: 60s, key: ip }
paths:
  /items/{id}:
    get: { x-ratelimit: 10/minute }
    post: { x-rate-limit: { requests: 5, per: second, by: user } }
  /free:
    x-rate-limit: { enabled: false, limit: 1, window: 1s }
`,
      limits: [
        { like: 'x-rate-limit', limit: 100, window: '60s' },
        { like: 'x-rate-limit', limit: 10, window: '1m' },
        { like: 'x-rate-limit', limit: 5, window: '1s' },
      ],
      keys: [['client'], undefined, undefined],
      meets: { 'a.example/v1/items/7': ['', 'GET /items/{id}', 'POST /items/{id}'], 'a.example/v1/free': [''] },
      says: [
        [7, 'only GET'],
        [8, 'only POST'],
      ],
      unused: [10],
    },
  },
};

describe.each(Object.entries(samples))('%s', (_, some) => {
  it.each(Object.entries(some))('%s', (__, { file, text, meets = {}, keys, limits, says, unused }) => {
    const found = limitersInFiles([{ name: file, text }]);
    const met = Object.keys(meets).map((url) => {
      const [host = '', path = ''] = [url.slice(0, url.indexOf('/')), url.slice(url.indexOf('/'))];
      return [url, found.appliesTo(host === '' ? undefined : host, path).map(({ where }) => where)];
    });
    expect(Object.fromEntries(met)).toEqual(meets);
    if (keys !== undefined) expect(found.limiters.map(({ key }) => key.parts)).toEqual(keys);
    if (limits !== undefined) expect(found.limiters.map(({ limit }) => limit)).toEqual(limits);
    if (says !== undefined) {
      expect(found.notUnderstood.map(({ line }) => line)).toEqual(says.map(([line]) => line));
      for (const [i, [, what]] of says.entries()) expect(found.notUnderstood[i]!.what).toContain(what);
    }
    if (unused !== undefined) expect(found.notApplied.map(({ line }) => line)).toEqual(unused);
  });
});

/** What the program itself says of a file. */
const checks = [
  {
    program: 'nginx',
    group: 'nginx',
    isLegal: true,
    words: ['-t', '-c'],
    whole: (text: string) => `events {}\n${/^(?:http|stream) \{/m.test(text) ? text : `http {\n${text}\n}`}`,
  },
  {
    program: 'nginx',
    group: 'nginx, refused by nginx',
    isLegal: false,
    words: ['-t', '-c'],
    whole: (text: string) => `events {}\nhttp {\n${text}\n}`,
  },
  { program: 'haproxy', group: 'HAProxy', isLegal: true, words: ['-c', '-f'], whole: (text: string) => `${text}\n` },
];
for (const { program, group, isLegal, words, whole } of checks)
  describe.runIf(isInstalled(program))(`${group}: ${program} agrees`, () => {
    it.each(Object.entries(samples[group]!))('%s', (_, { text }) => {
      const file = join(temporaryFolder(), 'sample.conf');
      writeFileSync(file, whole(text));
      const { stderr } = spawnSync(program, [...words, file], { encoding: 'utf8' });
      const faults = stderr
        .split('\n')
        .filter((line) => /\[emerg\]|\[ALERT\]/.test(line) && !/bind\(\)|open\(\)|directive "stream"/.test(line));
      expect(faults.length === 0, faults.join('\n')).toBe(isLegal);
    });
  });
