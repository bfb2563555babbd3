// Rules fitted to the same sustained rate, L requests in W: a window admits L in W, a bucket holds L and refills L in W. All admit a first
// burst of L. Products are configured in their own words.
import { nearest } from '../../schema/did-you-mean.js';
import { Failure } from '../../schema/failure.js';
import type { RuleDefinition } from '../rule/rule-definition.js';
import { definitionOf, products } from './products.js';

interface FamilyWindow {
  readonly limit: number;
  readonly within: number;
  readonly cycleMs: number;
}

const paced =
  (like: string) =>
  ({ limit, within, cycleMs }: FamilyWindow) =>
    definitionOf({ like, ...products[like]!.paced!(limit, `${within * cycleMs}ms`) }, cycleMs);

export const families = {
  weir: ({ limit, within, cycleMs }) => ({
    primitive: 'rolling_count',
    params: { threshold: limit, within, cycle_ms: cycleMs },
  }),
  fixed: ({ limit, within, cycleMs }) => ({
    primitive: 'fixed_window',
    params: { limit, window_ms: within * cycleMs, align: 'epoch', count_refused: true },
  }),
  'fixed-first': ({ limit, within, cycleMs }) => ({
    primitive: 'fixed_window',
    params: { limit, window_ms: within * cycleMs, align: 'first', count_refused: true },
  }),
  'sliding-log': ({ limit, within, cycleMs }) => ({
    primitive: 'sliding_log',
    params: { limit, window_ms: within * cycleMs },
  }),
  'sliding-counter': ({ limit, within, cycleMs }) => ({
    primitive: 'sliding_counter',
    params: { limit, window_ms: within * cycleMs, align: 'epoch' },
  }),
  gcra: ({ limit, within, cycleMs }) => {
    const T_ms = (within * cycleMs) / limit;
    return { primitive: 'gcra', params: { T_ms, tau_ms: (limit - 1) * T_ms } };
  },
  'token-bucket': ({ limit, within, cycleMs }) => ({
    primitive: 'token_bucket',
    params: { rate: limit, per_ms: within * cycleMs, capacity: limit },
  }),
  // Thousandths of a request per second, truncated: up to 0.001 r/s slower than the others.
  nginx: ({ limit, within, cycleMs }) => ({
    primitive: 'nginx_limit_req',
    params: {
      rate_1000: Math.max(1, Math.floor((1_000_000 * limit) / (within * cycleMs))),
      burst: limit - 1,
      nodelay: true,
    },
  }),
  haproxy: paced('haproxy-http-req-rate'),
  envoy: paced('envoy-local'),
  'express-rate-limit': paced('express-rate-limit'),
} satisfies Readonly<Record<string, (window: FamilyWindow) => RuleDefinition>>;

export type Family = keyof typeof families;

export function familyNamed(name: string): Family {
  if (Object.hasOwn(families, name)) return name as Family;
  const guess = nearest(name, Object.keys(families));
  throw new Failure('wrong_usage', {
    what: `--compare does not know "${name}".`,
    why: `It takes ${Object.keys(families).join(', ')}.`,
    fix: guess === undefined ? 'Other limiters: see `weir limiter`.' : `Did you mean ${guess}?`,
  });
}
