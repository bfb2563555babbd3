// A limit as configuration lines of products. None of them counts refused requests over whole cycles, so each says what differs.

import type { Family } from '../../core/limiter/products/families.js';
import { exact } from '../../core/schema/fields.js';
import { type Shaped, Type } from '../../core/schema/json-schema.js';
import { cycleMsFor } from '../../core/schema/quantity.js';
import { CYCLE_MS } from '../../core/time/cycle.js';
import { Text } from '../../harness/outcome/read-schema.js';

export interface PastedLimit {
  readonly threshold: number;
  /** cycles */
  readonly within: number;
  readonly cycleMs: number;
  /** As for `--key`: client, forwarded, path, method, user, or a field; undefined for one limit for all. */
  readonly key: string | undefined;
}

export const PasteLines = exact({
  product: Text('The product.'),
  lines: Type.Array(Text('A line of its configuration.')),
  differs: Text('Where it differs from the limit that was found.'),
});
export type PasteLines = Shaped<typeof PasteLines>;

/** The key's expression in each product that has one. */
interface KeyNames {
  readonly nginx?: string;
  readonly haproxy?: string;
  readonly envoy?: readonly [action: string, entry: string];
  readonly express?: string;
}

const optional: ReadonlySet<string> = new Set(['forwarded', 'user']);

const envoyHeader = (header: string, entry: string) =>
  [`request_headers: { header_name: ${header}, descriptor_key: ${entry} }`, entry] as const;

const nameOfKey: Readonly<Record<string, KeyNames>> = {
  client: { nginx: '$binary_remote_addr', haproxy: 'src', envoy: ['remote_address: {}', 'remote_address'] },
  forwarded: {
    nginx: '$http_x_forwarded_for',
    haproxy: 'hdr_ip(x-forwarded-for)',
    envoy: envoyHeader('x-forwarded-for', 'forwarded'),
    express: "(request) => request.get('x-forwarded-for') ?? ''",
  },
  path: { nginx: '$uri', haproxy: 'path', envoy: envoyHeader('":path"', 'path'), express: '(request) => request.path' },
  method: {
    nginx: '$request_method',
    haproxy: 'method',
    envoy: envoyHeader('":method"', 'method'),
    express: '(request) => request.method',
  },
  user: { nginx: '$remote_user', haproxy: 'http_auth_user' },
};

function keyNames(key: string | undefined): KeyNames {
  if (key === undefined) return { nginx: 'all', haproxy: 'int(1)', express: "() => 'all'" };
  const [name = ''] = key.split(':');
  return Object.hasOwn(nameOfKey, name) ? nameOfKey[name]! : {};
}

/** @param limits fitted by the product's own rule; the others use `limit` */
export function linesToPaste(limit: PastedLimit, limits: Partial<Readonly<Record<Family, number>>> = {}): PasteLines[] {
  const own = (family: Family): PastedLimit => ({ ...limit, threshold: limits[family] ?? limit.threshold });
  return [
    scenario(limit),
    nginx(own('nginx')),
    haproxy(own('haproxy')),
    envoy(own('envoy')),
    express(own('express-rate-limit')),
  ];
}

/** A limiter whose wanted parameter was found, in its own words. @param text as for `--limit` */
export function foundToPaste(
  limiter: Readonly<Record<string, unknown>>,
  text: string,
  key: string | undefined,
): PasteLines {
  const counted = `Found by trying, counted ${key === undefined ? 'for all together' : `by ${key}`}.`;
  if (limiter['like'] !== 'nginx')
    return { product: 'found', lines: [`--limit '${text}'`], differs: `${counted} For weir replay and scenarios.` };
  const { rate, burst, nodelay, delay } = limiter;
  const name = keyNames(key).nginx;
  const more = [burst ? ` burst=${burst}` : '', delay ? ` delay=${delay}` : '', nodelay === true ? ' nodelay' : ''];
  return {
    product: 'nginx',
    lines: nginxLines(name, `${rate}`, more.join('')),
    differs: `${counted}${missing(name, key)}`,
  };
}

function scenario({ threshold, within, cycleMs }: PastedLimit): PasteLines {
  const ms = within * cycleMs;
  const time = ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
  // A scenario derives these cycles from the window on its own.
  const isChosen = cycleMs !== CYCLE_MS && cycleMsFor([time], CYCLE_MS) === cycleMs;
  return {
    product: 'weir',
    lines: [
      ...(cycleMs === CYCLE_MS || isChosen ? [] : [`cycle_ms: ${cycleMs}`]),
      `limiter: { threshold: ${threshold}, within: ${isChosen ? time : within} }`,
    ],
    differs: 'The same rule, in a scenario.',
  };
}

const NO_NAME = 'YOUR_KEY';

function missing(name: string | undefined, key: string | undefined): string {
  return name === undefined && key !== undefined ? ` Put in the place of ${NO_NAME} what "${key}" is there.` : '';
}

const nginxLines = (name: string | undefined, rate: string, more: string) => [
  `limit_req_zone ${name ?? `$${NO_NAME}`} zone=weir:10m rate=${rate};`,
  `limit_req zone=weir${more};`,
  'limit_req_status 429;',
];

function nginx({ threshold, within, cycleMs, key }: PastedLimit): PasteLines {
  const perMinute = (60_000 * threshold) / (within * cycleMs);
  // nginx takes whole requests per second or minute. Rounded up, so that it admits at least as much.
  const perSecond = Math.ceil(perMinute / 60);
  const rate = perMinute >= 60 && perSecond * 60 <= 1.05 * perMinute ? `${perSecond}r/s` : `${Math.ceil(perMinute)}r/m`;
  const most = threshold + Math.ceil((parseInt(rate, 10) * within * cycleMs) / (rate.endsWith('s') ? 1000 : 60_000));
  const name = keyNames(key).nginx;
  const burst = threshold === 1 ? '' : ` burst=${threshold - 1}`;
  return {
    product: 'nginx',
    lines: nginxLines(name, rate, `${burst} nodelay`),
    differs: `No window, but a bucket: ${threshold} at once, then ${rate} while it refills, so up to ${most === 2 * threshold ? `twice ${threshold}` : most} in a window. Refused requests do not count: a client that keeps hammering still gets ${rate} through.${optional.has(key ?? '') ? ' A request without a value of the key is not limited.' : ''}${missing(name, key)}`,
  };
}

function haproxy({ threshold, within, cycleMs, key }: PastedLimit): PasteLines {
  const ms = within * cycleMs;
  const name = keyNames(key).haproxy;
  const type =
    key === 'client' || key?.startsWith('forwarded') ? 'ipv6' : key === undefined ? 'integer' : 'string len 128';
  return {
    product: 'HAProxy',
    lines: [
      `stick-table type ${type} size 1m expire ${2 * ms}ms store http_req_rate(${ms}ms)`,
      `http-request track-sc0 ${name ?? NO_NAME}`,
      `http-request deny deny_status 429 if { sc_http_req_rate(0) gt ${threshold} }`,
    ],
    differs: `Refused requests count, too. The window is estimated from two periods of ${ms} ms, so up to ${2 * threshold - 1} may pass over the edge of two of them.${missing(name, key)}`,
  };
}

function envoy({ threshold, within, cycleMs, key }: PastedLimit): PasteLines {
  const interval = `${Number(((within * cycleMs) / 1000).toFixed(3))}s`;
  const bucket = `{ max_tokens: ${threshold}, tokens_per_fill: ${threshold}, fill_interval: ${interval} }`;
  const names = keyNames(key).envoy;
  const all = [
    'name: envoy.filters.http.local_ratelimit',
    'typed_config:',
    '  "@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit',
    '  stat_prefix: weir',
    '  filter_enabled: { default_value: { numerator: 100, denominator: HUNDRED } }',
    '  filter_enforced: { default_value: { numerator: 100, denominator: HUNDRED } }',
  ];
  const bucketSays = `A bucket in each Envoy process, not a window: refused requests do not count, and up to twice ${threshold} pass in a window.`;
  if (key === undefined) return { product: 'Envoy', lines: [...all, `  token_bucket: ${bucket}`], differs: bucketSays };
  const [action, entry] = names ?? envoyHeader(NO_NAME, 'key');
  return {
    product: 'Envoy',
    lines: [
      ...all,
      // Envoy requires the fill intervals of descriptors to be multiples of this one.
      `  token_bucket: { max_tokens: 1000000, tokens_per_fill: 1000000, fill_interval: ${interval} }`,
      `  rate_limits: [{ actions: [{ ${action} }] }]`,
      `  descriptors: [{ entries: [{ key: ${entry} }], token_bucket: ${bucket} }]`,
    ],
    differs: `${bucketSays} A bucket for each value of a key (an entry without a value) needs Envoy 1.34; before that, only a rate limit service has it.${missing(names?.[1], key)}`,
  };
}

function express({ threshold, within, cycleMs, key }: PastedLimit): PasteLines {
  const generator = keyNames(key).express ?? (key === 'client' ? undefined : `(request) => ${NO_NAME}`);
  const parts = [`windowMs: ${within * cycleMs}`, `limit: ${threshold}`, "standardHeaders: 'draft-8'"];
  return {
    product: 'express-rate-limit',
    lines: [
      `app.use(rateLimit({ ${[...parts, ...(generator === undefined ? [] : [`keyGenerator: ${generator}`])].join(', ')} }));`,
    ],
    differs: `A fixed window that opens with the first request: up to ${2 * threshold - 1} pass over its end, and refused requests cost nothing. Counted in each process.${generator?.includes(NO_NAME) === true ? missing(undefined, key) : ''}`,
  };
}
