// Limits as files of gateways, of Terraform, and as an API publishes them: what `limitersIn` reads back as the same limit.
//
//   { like: kong, minute: 100 }      plugins:
//                                    - name: rate-limiting
//                                      config: { minute: 100, limit_by: ip }
import type { Like } from './found.js';

/** Whose requests count together: each client's, or all. */
type WrittenKey = 'client' | 'all';

interface LimitWriter {
  /** A name that a file of this kind has. */
  readonly file: string;
  /** The product whose limits it takes. */
  readonly like: string;
  readonly write: (limit: Like, key: WrittenKey) => readonly string[];
}

const times = (unit: unknown) => (typeof unit === 'number' ? `${unit}s` : String(unit));
const pairs = (limit: Like, left: readonly string[] = []) =>
  Object.entries(limit).filter(([name]) => name !== 'like' && !left.includes(name));
const yaml = (limit: Like, left: readonly string[] = []) =>
  pairs(limit, left)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ');
const hcl = (limit: Like, indent: string, left: readonly string[] = []) =>
  pairs(limit, left).map(
    ([name, value]) => `${indent}${name} = ${typeof value === 'string' ? JSON.stringify(value) : String(value)}`,
  );

export const limitWriters: Readonly<Record<string, LimitWriter>> = {
  nginx: {
    file: 'nginx.conf',
    like: 'nginx',
    write: ({ rate, burst, delay, nodelay }, key) => [
      `limit_req_zone ${key === 'client' ? '$binary_remote_addr' : 'all'} zone=weir:10m rate=${rate};`,
      'server {',
      `  limit_req zone=weir${Number(burst ?? 0) > 0 ? ` burst=${burst}` : ''}${nodelay === true ? ' nodelay' : Number(delay ?? 0) > 0 ? ` delay=${delay}` : ''};`,
      '  limit_req_status 429;',
      '}',
    ],
  },
  haproxy: {
    file: 'haproxy.cfg',
    like: 'haproxy-http-req-rate',
    write: ({ period, limit }, key) => [
      'frontend weir',
      `  stick-table type ${key === 'client' ? 'ipv6' : 'integer'} size 1m expire ${period} store http_req_rate(${period})`,
      `  http-request track-sc0 ${key === 'client' ? 'src' : 'int(1)'}`,
      `  http-request deny deny_status 429 if { sc_http_req_rate(0) gt ${limit} }`,
    ],
  },
  'envoy-ratelimit': {
    file: 'ratelimit.yaml',
    like: 'envoy-ratelimit',
    write: (limit, key) => [
      'domain: weir',
      'descriptors:',
      ...(key === 'client' ? ['- key: remote_address'] : ['- key: generic_key', '  value: all']),
      `  rate_limit: { ${yaml(limit)} }`,
    ],
  },
  'envoy-gateway': {
    file: 'policy.yaml',
    like: 'envoy-ratelimit',
    write: ({ requests_per_unit, unit }, key) => [
      'apiVersion: gateway.envoyproxy.io/v1alpha1',
      'kind: BackendTrafficPolicy',
      'metadata: { name: weir }',
      'spec:',
      '  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: YOUR_ROUTE }]',
      '  rateLimit:',
      '    type: Global',
      '    global:',
      '      rules:',
      `      - limit: { requests: ${requests_per_unit}, unit: ${String(unit).replace(/^./, (one) => one.toUpperCase())} }`,
      ...(key === 'client' ? ['        clientSelectors: [{ sourceCIDR: { type: Distinct, value: 0.0.0.0/0 } }]'] : []),
    ],
  },
  kong: {
    file: 'kong.yml',
    like: 'kong',
    write: (limit, key) => [
      '_format_version: "3.0"',
      'plugins:',
      '- name: rate-limiting',
      `  config: { ${yaml(limit)}, limit_by: ${key === 'client' ? 'ip' : 'service'}, policy: local }`,
    ],
  },
  'kong-advanced': {
    file: 'kong.yml',
    like: 'kong-advanced',
    write: ({ limit, window_size, ...others }, key) => [
      '_format_version: "3.0"',
      'plugins:',
      '- name: rate-limiting-advanced',
      `  config: { ${[`limit: [${limit}]`, `window_size: [${window_size}]`, `identifier: ${key === 'client' ? 'ip' : 'service'}`, ...pairs(others as Like).map(([name, value]) => `${name}: ${value}`)].join(', ')} }`,
    ],
  },
  apisix: {
    file: 'apisix.yaml',
    like: 'apisix-limit-count',
    write: (limit, key) => [
      'routes:',
      '- uri: /*',
      '  plugins:',
      `    limit-count: { ${yaml(limit)}, rejected_code: 429, ${key === 'client' ? 'key: remote_addr' : 'key_type: constant, key: all'} }`,
      '#END',
    ],
  },
  traefik: {
    file: 'dynamic.yml',
    like: 'traefik',
    write: (limit, key) => [
      'http:',
      '  middlewares:',
      '    weir:',
      '      rateLimit:',
      ...pairs(limit).map(([name, value]) => `        ${name}: ${name === 'period' ? times(value) : value}`),
      ...(key === 'client' ? [] : ['        sourceCriterion: { requestHost: true }']),
      '  routers:',
      '    YOUR_ROUTER: { middlewares: [weir] }',
    ],
  },
  caddy: {
    file: 'Caddyfile',
    like: 'caddy',
    write: ({ max_events, window }, key) => [
      ':80 {',
      '  rate_limit {',
      '    zone weir {',
      `      key ${key === 'client' ? '{remote_host}' : 'all'}`,
      `      events ${max_events}`,
      `      window ${times(window)}`,
      '    }',
      '  }',
      '}',
    ],
  },
  spring: {
    file: 'application.yml',
    like: 'spring',
    write: (limit) => [
      'spring.cloud.gateway.default-filters:',
      '- name: RequestRateLimiter',
      '  args:',
      ...pairs(limit).map(([name, value]) => `    redis-rate-limiter.${name}: ${value}`),
      '    key-resolver: "#{@YOUR_RESOLVER}"',
    ],
  },
  'terraform-aws-waf': {
    file: 'waf.tf',
    like: 'aws-waf',
    write: (limit, key) => [
      'resource "aws_wafv2_web_acl" "weir" {',
      '  name = "weir"',
      '  scope = "REGIONAL"',
      '  default_action {',
      '    allow {}',
      '  }',
      '  rule {',
      '    name = "rate"',
      '    priority = 1',
      '    action {',
      '      block {}',
      '    }',
      '    statement {',
      '      rate_based_statement {',
      ...hcl(limit, '        '),
      `        aggregate_key_type = "${key === 'client' ? 'IP' : 'CONSTANT'}"`,
      '      }',
      '    }',
      ...visibility('    ', 'rate'),
      '  }',
      ...visibility('  ', 'weir'),
      '}',
    ],
  },
  'terraform-aws-api-gateway': {
    file: 'usage-plan.tf',
    like: 'aws-api-gateway',
    write: (limit) => [
      'resource "aws_api_gateway_usage_plan" "weir" {',
      '  name = "weir"',
      '  throttle_settings {',
      ...hcl(limit, '    '),
      '  }',
      '}',
    ],
  },
  'terraform-cloudflare': {
    file: 'ruleset.tf',
    like: 'cloudflare',
    write: (limit, key) => [
      'resource "cloudflare_ruleset" "weir" {',
      '  zone_id = var.zone_id',
      '  name = "weir"',
      '  kind = "zone"',
      '  phase = "http_ratelimit"',
      '  rules {',
      '    action = "block"',
      '    expression = "true"',
      '    ratelimit {',
      `      characteristics = [${key === 'client' ? '"cf.colo.id", "ip.src"' : '"cf.colo.id"'}]`,
      ...hcl(limit, '      '),
      '    }',
      '  }',
      '}',
    ],
  },
  'terraform-google': {
    file: 'armor.tf',
    like: 'google-cloud-armor',
    write: ({ count, interval_sec, ban_duration_sec }, key) => [
      'resource "google_compute_security_policy" "weir" {',
      '  name = "weir"',
      '  rule {',
      `    action = "${ban_duration_sec === undefined ? 'throttle' : 'rate_based_ban'}"`,
      '    priority = 1',
      '    match {',
      '      versioned_expr = "SRC_IPS_V1"',
      '      config {',
      '        src_ip_ranges = ["*"]',
      '      }',
      '    }',
      '    rate_limit_options {',
      '      conform_action = "allow"',
      '      exceed_action = "deny(429)"',
      `      enforce_on_key = "${key === 'client' ? 'IP' : 'ALL'}"`,
      '      rate_limit_threshold {',
      `        count = ${count}`,
      `        interval_sec = ${interval_sec}`,
      '      }',
      ...(ban_duration_sec === undefined ? [] : [`      ban_duration_sec = ${ban_duration_sec}`]),
      '    }',
      '  }',
      '}',
    ],
  },
  'api-commons': {
    file: 'rate-limits.yml',
    like: 'api-commons',
    write: ({ limit, timeframe }, key) => [
      '- name: Requests',
      `  type: ${key === 'client' ? 'Application' : 'Platform'}`,
      `  limit: ${limit}`,
      '  metric: request',
      `  timeframe: ${timeframe}`,
      '  description: More are answered with 429.',
    ],
  },
  'x-rate-limit': {
    file: 'openapi.yaml',
    like: 'x-rate-limit',
    write: ({ limit, window }, key) => [
      'openapi: 3.1.0',
      'info: { title: Your API, version: "1" }',
      `x-rate-limit: { limit: ${limit}, window: ${times(window)}, key: ${key === 'client' ? 'ip' : 'global'} }`,
    ],
  },
};

function visibility(indent: string, name: string): string[] {
  return [
    `${indent}visibility_config {`,
    `${indent}  cloudwatch_metrics_enabled = true`,
    `${indent}  metric_name = "${name}"`,
    `${indent}  sampled_requests_enabled = true`,
    `${indent}}`,
  ];
}
