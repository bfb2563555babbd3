// The templates that can be deployed: the rate limiter, and one for each family of rules, at ten requests a second.
import type { ContractDefinition } from './definition.js';
import { rateLimiter, TEMPLATE_ID } from './rate-limiter.js';
import { limitsFlight, type Primitive } from './rule/rule-definition.js';
import { ruleLimiter, templateIdOf } from './rule-limiter.js';

const window = { limit: 10, window_ms: 1000 };
const bucket = { rate: 10, per_ms: 1000, capacity: 10 };
const smooth = { primitive: 'gcra', params: { T_ms: 100, tau_ms: 900 } };
const hourly = { primitive: 'fixed_window', params: { limit: 10_000, window_ms: 3_600_000 } };

/** The template `rate-limiter` covers rolling_count; many_nodes and none are for simulations. */
const examples: Readonly<Record<Exclude<Primitive, 'rolling_count' | 'many_nodes' | 'none'>, object>> = {
  fixed_window: { ...window, count_refused: true },
  fixed_window_delay: { free: 10, step_ms: 100, window_ms: 1000 },
  fixed_window_exec_evenly: window,
  sliding_log: window,
  sliding_log_block: { ...window, block_ms: 1000 },
  segmented_window: { ...window, segments: 4 },
  sliding_counter: { ...window, align: 'epoch', floor_total: true },
  token_bucket: bucket,
  token_bucket_and_interval: { ...bucket, interval_ms: 1000 },
  gcra: smooth.params,
  nginx_limit_req: { rate_1000: 10_000, burst: 10 },
  leaky_queue: { spacing_ms: 100, max_queue: 10 },
  uber_slack: { spacing_ms: 100, slack: 10 },
  guava_bursty: { interval_ms: 100, max_stored: 10 },
  guava_warmup: { interval_ms: 100, warmup_ms: 3000 },
  concurrency: { limit: 10 },
  concurrency_queue: { limit: 10, max_wait_ms: 1000 },
  adaptive: { algorithm: 'gradient2', initial: 20, min: 10, max: 200 },
  or: { a: { primitive: 'fixed_window', params: window }, b: hourly },
  and: { of: [smooth, hourly] },
  and_all_charged: { of: [{ primitive: 'fixed_window', params: window }, hourly] },
};

const HOLD_MS = 100;

export const templates: ReadonlyMap<string, ContractDefinition> = new Map([
  [TEMPLATE_ID, rateLimiter()],
  ...Object.entries(examples).map(([name, params]): [string, ContractDefinition] => {
    const primitive = name as Primitive;
    const rule = { primitive, params };
    return [templateIdOf(rule), ruleLimiter(limitsFlight(rule) ? { ...rule, hold_ms: HOLD_MS } : rule)];
  }),
]);
