// A limit as configuration of other gateways and clouds: fitted to the same requests in the same time, with the differences.
//
//   100 in 46.62 s      kong: 129 a minute, the nearest window it supports      traefik: an average of 100 in 46620ms
import type { PastedLimit, PasteLines } from './lines-to-paste.js';

interface Pace {
  readonly n: number;
  readonly ms: number;
}

interface OtherProduct {
  readonly lines: (pace: Pace, isKeyed: boolean) => readonly string[];
  readonly differs: (pace: Pace) => string;
}

const units = [
  ['second', 1000],
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
] as const;

const distance = (unitMs: number, ms: number) => Math.max(unitMs, ms) / Math.min(unitMs, ms);

/** The unit nearest to the window, with its count. Rounded up, so that it admits at least as much. */
function perUnit({ n, ms }: Pace): readonly [unit: string, count: number] {
  const [unit, unitMs] = [...units].sort(([, a], [, b]) => distance(a, ms) - distance(b, ms))[0]!;
  return [unit, Math.ceil((n * unitMs) / ms)];
}

const unitDiffers = (pace: Pace) => {
  const [unit, count] = perUnit(pace);
  return `Windows of ${unit === 'hour' ? 'an' : 'a'} ${unit} that begin with it, so up to ${2 * count} pass over the edge of two.`;
};
/** The count of the nearest window of whole seconds. */
function inSeconds({ n, ms }: Pace): readonly [count: number, seconds: number] {
  const seconds = Math.max(1, Math.round(ms / 1000));
  return [Math.round((1000 * n * seconds) / ms), seconds];
}
const bucket = ({ n }: Pace) =>
  `A bucket: ${n} at once, then the rate while it refills. Refused requests do not count.`;

export const otherProducts: Readonly<Record<string, OtherProduct>> = {
  'envoy-ratelimit': {
    lines: (pace, isKeyed) => [
      'domain: weir',
      'descriptors:',
      ...(isKeyed ? ['- key: remote_address'] : ['- key: generic_key', '  value: all']),
      `  rate_limit: { requests_per_unit: ${perUnit(pace)[1]}, unit: ${perUnit(pace)[0]} }`,
    ],
    differs: (pace) => `${unitDiffers(pace)} The routes of Envoy have to send the descriptor.`,
  },
  'envoy-gateway': {
    lines: (pace, isKeyed) => [
      'apiVersion: gateway.envoyproxy.io/v1alpha1',
      'kind: BackendTrafficPolicy',
      'metadata: { name: weir }',
      'spec:',
      '  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: YOUR_ROUTE }]',
      '  rateLimit:',
      '    type: Global',
      '    global:',
      '      rules:',
      `      - limit: { requests: ${perUnit(pace)[1]}, unit: ${perUnit(pace)[0].replace(/^./, (one) => one.toUpperCase())} }`,
      ...(isKeyed ? ['        clientSelectors: [{ sourceCIDR: { type: Distinct, value: 0.0.0.0/0 } }]'] : []),
    ],
    differs: unitDiffers,
  },
  kong: {
    lines: (pace, isKeyed) => [
      '_format_version: "3.0"',
      'plugins:',
      '- name: rate-limiting',
      `  config: { ${perUnit(pace).join(': ')}, limit_by: ${isKeyed ? 'ip' : 'service'}, policy: local }`,
    ],
    differs: (pace) => `${unitDiffers(pace)} Refused requests do not count. Counted in each node.`,
  },
  'kong-advanced': {
    lines: (pace, isKeyed) => [
      '_format_version: "3.0"',
      'plugins:',
      '- name: rate-limiting-advanced',
      `  config: { limit: [${inSeconds(pace)[0]}], window_size: [${inSeconds(pace)[1]}], identifier: ${isKeyed ? 'ip' : 'service'} }`,
    ],
    differs: () => 'A sliding estimate from two windows. Refused requests count, too.',
  },
  traefik: {
    lines: ({ n, ms }, isKeyed) => [
      'http:',
      '  middlewares:',
      '    weir:',
      '      rateLimit:',
      `        average: ${n}`,
      `        period: ${ms}ms`,
      `        burst: ${n}`,
      ...(isKeyed ? [] : ['        sourceCriterion: { requestHost: true }']),
      '  routers:',
      '    YOUR_ROUTER: { middlewares: [weir] }',
    ],
    differs: (pace) => {
      const seconds = Math.max(2, 1 + Math.trunc(pace.ms / pace.n / 1000));
      return `${bucket(pace)} A client that gets none through for ${seconds} s is forgotten, and has all ${pace.n} at once again.`;
    },
  },
  'terraform-aws-waf': {
    lines: ({ n, ms }, isKeyed) => {
      const [window = 60] = [60, 120, 300, 600].sort((a, b) => distance(1000 * a, ms) - distance(1000 * b, ms));
      const rate_based_statement = {
        limit: Math.ceil((1000 * n * window) / ms),
        evaluation_window_sec: window,
        aggregate_key_type: isKeyed ? 'IP' : 'CONSTANT',
      };
      const visibility_config = (metric_name: string) => ({
        visibility_config: { cloudwatch_metrics_enabled: true, metric_name, sampled_requests_enabled: true },
      });
      const statement = { rate_based_statement };
      const rule = { name: 'rate', priority: 1, action: { block: {} }, statement, ...visibility_config('rate') };
      const acl = { name: 'weir', scope: 'REGIONAL', default_action: { allow: {} }, rule };
      return resource('aws_wafv2_web_acl', { ...acl, ...visibility_config('weir') });
    },
    differs: () =>
      'An estimate about every 10 s, up to 30 s late: bursts pass. Refused requests count, too. The limit is at least 10.',
  },
  'terraform-aws-api-gateway': {
    lines: ({ n, ms }) => {
      const throttle_settings = { rate_limit: Number(((1000 * n) / ms).toPrecision(6)), burst_limit: n };
      return resource('aws_api_gateway_usage_plan', { name: 'weir', throttle_settings });
    },
    differs: (pace) => `${bucket(pace)} Per API key of the plan, and best effort.`,
  },
  'terraform-cloudflare': {
    lines: (pace, isKeyed) => {
      const [requests_per_period, period] = inSeconds(pace);
      const characteristics = isKeyed ? ['cf.colo.id', 'ip.src'] : ['cf.colo.id'];
      const ratelimit = { characteristics, requests_per_period, period, mitigation_timeout: period };
      const rules = { action: 'block', expression: 'true', ratelimit };
      const zone_id = new Expression('var.zone_id');
      return resource('cloudflare_ruleset', { zone_id, name: 'weir', kind: 'zone', phase: 'http_ratelimit', rules });
    },
    differs: () =>
      'Counted in each data centre, with a lag. A client that exceeds is refused for the whole timeout. Plans allow some periods only.',
  },
  'terraform-google': {
    lines: (pace, isKeyed) => {
      const [count, interval_sec] = inSeconds(pace);
      const rate_limit_options = {
        conform_action: 'allow',
        exceed_action: 'deny(429)',
        enforce_on_key: isKeyed ? 'IP' : 'ALL',
        rate_limit_threshold: { count, interval_sec },
      };
      const match = { versioned_expr: 'SRC_IPS_V1', config: { src_ip_ranges: ['*'] } };
      const rule = { action: 'throttle', priority: 1, match, rate_limit_options };
      return resource('google_compute_security_policy', { name: 'weir', rule });
    },
    differs: () => 'Approximate, and counted in each region. Some intervals only are allowed.',
  },
};

class Expression {
  constructor(readonly text: string) {}
}

/** A resource of Terraform named weir: what is an object is a block. */
const resource = (type: string, body: object) => blockLines(`resource "${type}" "weir"`, body, '');

function blockLines(head: string, body: object, indent: string): string[] {
  const inner = Object.entries(body).flatMap(([name, value]) => {
    if (typeof value === 'object' && !(value instanceof Expression) && !Array.isArray(value))
      return blockLines(name, value, `${indent}  `);
    const text = value instanceof Expression ? value.text : JSON.stringify(value).replaceAll(',', ', ');
    return [`${indent}  ${name} = ${text}`];
  });
  return inner.length === 0 ? [`${indent}${head} {}`] : [`${indent}${head} {`, ...inner, `${indent}}`];
}

export function linesAs(product: string, { threshold, within, cycleMs, key }: PastedLimit): PasteLines {
  const { lines, differs } = otherProducts[product]!;
  const pace = { n: threshold, ms: within * cycleMs };
  const isOther = key !== undefined && key !== 'client';
  return {
    product,
    lines: lines(pace, key !== undefined),
    differs: `${differs(pace)}${isOther ? ` It counts client addresses: put in their place what "${key}" is there.` : ''}`,
  };
}
