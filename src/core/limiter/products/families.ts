// Rules fitted to the same sustained rate, L requests in W: a window admits L in W, a bucket holds L and refills L in W. All admit a first
// burst of L. Products are configured in their own words.
import { nearest } from '../../schema/did-you-mean.js';
import { Failure } from '../../schema/failure.js';
import type { Primitive, RuleDefinition } from '../rule/rule-definition.js';
import { rule, windowed } from './product.js';
import { definitionOf, products } from './products.js';

interface FamilyWindow {
  readonly limit: number;
  readonly within: number;
  readonly cycleMs: number;
}

const over =
  (fitted: (limit: number, windowMs: number) => RuleDefinition) =>
  ({ limit, within, cycleMs }: FamilyWindow) =>
    fitted(limit, within * cycleMs);

const plain = (primitive: Primitive, params: object) => rule(primitive, params, undefined, 0);

const paced = (like: string) =>
  over((limit, windowMs) => definitionOf({ like, ...products[like]!.paced!(limit, `${windowMs}ms`) }, 1));

export const families = {
  weir: ({ limit, within, cycleMs }) => plain('rolling_count', { threshold: limit, within, cycle_ms: cycleMs }),
  fixed: over((limit, ms) => plain('fixed_window', windowed(limit, ms, { align: 'epoch' }))),
  'fixed-first': over((limit, ms) => plain('fixed_window', windowed(limit, ms))),
  'sliding-log': over((limit, window_ms) => plain('sliding_log', { limit, window_ms })),
  'sliding-counter': over((limit, window_ms) => plain('sliding_counter', { limit, window_ms, align: 'epoch' })),
  gcra: over((limit, ms) => plain('gcra', { T_ms: ms / limit, tau_ms: (limit - 1) * (ms / limit) })),
  'token-bucket': over((rate, per_ms) => plain('token_bucket', { rate, per_ms, capacity: rate })),
  // Thousandths of a request per second, truncated: up to 0.001 r/s slower than the others.
  nginx: over((limit, ms) => {
    const rate_1000 = Math.max(1, Math.floor((1_000_000 * limit) / ms));
    return plain('nginx_limit_req', { rate_1000, burst: limit - 1, nodelay: true });
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
