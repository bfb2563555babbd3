// Rules of every primitive for the tests of comparisons: right ones, and limiters that are wrong in one way.

import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../../../src/core/limiter/rule/rule-definition.js';

type Params = Readonly<Record<string, unknown>>;

const ms = (primitive: string, params: Params): RuleDefinition =>
  ({ primitive, params, clock_resolution_ms: 1 }) as RuleDefinition;
const continuous = (primitive: string, params: Params): RuleDefinition => ({ primitive, params }) as RuleDefinition;

const window = { limit: 6, window_ms: 1000 };
const fixed = (more: Params) => ms('fixed_window', { ...window, ...more });
const bucket = (more: Params) => ms('token_bucket', { rate: 10, per_ms: 1000, capacity: 5, ...more });
const nginx = (more: Params) => continuous('nginx_limit_req', { rate_1000: 10_000, ...more });

/** About ten requests a second, or six in a second. */
export const rules: Readonly<Record<string, RuleDefinition>> = {
  'fixed_window from the first request': fixed({ count_refused: true }),
  'fixed_window, refused do not count': fixed({ edge: 'reset_after_end' }),
  'fixed_window at multiples since 1970': fixed({ align: 'epoch' }),
  'fixed_window of a process': fixed({ align: 'construction', count_refused: true }),
  'fixed_window restarted by refused requests': fixed({ count_refused: true, refused_restart_window: true }),
  'fixed_window restarted by every request': fixed({ count_refused: true, every_hit_restarts_window: true }),
  'fixed_window with backoff': fixed({ count_refused: true, refused_backoff: 2, window_ms: 300 }),
  'fixed_window with a block': fixed({ count_refused: true, block_ms: 1700 }),
  'fixed_window with a local block': fixed({ count_refused: true, local_block_ms: 400, refused_rearm: true }),
  'fixed_window in seconds': { ...fixed({ align: 'epoch', window_ms: 2000 }), clock_resolution_ms: 1000 },
  'fixed_window of a length that divides no second': fixed({ align: 'epoch', window_ms: 777, count_refused: true }),
  'fixed_window of seconds that do not divide it': {
    ...fixed({ align: 'epoch', window_ms: 1500 }),
    clock_resolution_ms: 1000,
  },
  rolling_count: continuous('rolling_count', { threshold: 6, within: 10, cycle_ms: 100 }),
  'rolling_count of cycles that divide no second': continuous('rolling_count', {
    threshold: 6,
    within: 3,
    cycle_ms: 333,
  }),
  fixed_window_delay: ms('fixed_window_delay', { free: 3, step_ms: 40, window_ms: 1000 }),
  fixed_window_exec_evenly: ms('fixed_window_exec_evenly', window),
  sliding_log: continuous('sliding_log', window),
  'sliding_log, refused count': ms('sliding_log', { ...window, count_refused: true, edge: 'expires_after_end' }),
  sliding_log_block: ms('sliding_log_block', { ...window, block_ms: 1500 }),
  segmented_window: ms('segmented_window', { ...window, segments: 4 }),
  sliding_counter: ms('sliding_counter', { ...window, align: 'epoch', floor_prev: true }),
  'sliding_counter, refused count': ms('sliding_counter', { ...window, count_refused: true, even_ms: true }),
  'sliding_counter, refused do not count': ms('sliding_counter', { ...window, floor_total: true, even_ms: true }),
  'sliding_counter with a block': ms('sliding_counter', { ...window, block_until_window_end: true }),
  token_bucket: bucket({}),
  'token_bucket in continuous time': continuous('token_bucket', { rate: 10, per_ms: 1000, capacity: 5 }),
  'token_bucket that holds': ms('token_bucket', { rate: 10, per_ms: 1000, capacity: 3, max_wait_ms: 150 }),
  'token_bucket in intervals': bucket({ refill: 'interval', rate: 5, per_ms: 500, align: 'construction' }),
  'token_bucket in intervals from the first request': bucket({
    refill: 'interval',
    rate: 2,
    per_ms: 300,
    align: 'first',
  }),
  'token_bucket in intervals, truncating': bucket({ refill: 'interval_trunc' }),
  token_bucket_and_interval: ms('token_bucket_and_interval', { rate: 6, per_ms: 1000, capacity: 4, interval_ms: 1000 }),
  gcra: continuous('gcra', { T_ms: 100, tau_ms: 400 }),
  'nginx_limit_req at once': nginx({ burst: 5, nodelay: true }),
  'nginx_limit_req without burst': nginx({}),
  'nginx_limit_req that holds': nginx({ burst: 5 }),
  'nginx_limit_req that holds some': nginx({ rate_1000: 7000, burst: 5, delay: 2 }),
  'nginx_limit_req per minute': nginx({ rate_1000: 3333, burst: 2, nodelay: true }),
  leaky_queue: ms('leaky_queue', { spacing_ms: 100, max_queue: 4 }),
  uber_slack: ms('uber_slack', { spacing_ms: 100, slack: 3 }),
  guava_bursty: continuous('guava_bursty', { interval_ms: 100, max_stored: 5 }),
  guava_warmup: continuous('guava_warmup', { interval_ms: 100, warmup_ms: 1000 }),
  or: ms('or', {
    a: { primitive: 'fixed_window', params: { limit: 4, window_ms: 1000, count_refused: true } },
    b: { primitive: 'fixed_window', params: { limit: 3, window_ms: 3000, count_refused: true } },
  }),
  and: ms('and', {
    of: [
      { primitive: 'fixed_window', params: { limit: 4, window_ms: 500 } },
      { primitive: 'token_bucket', params: { rate: 6, per_ms: 1000, capacity: 6 } },
    ],
  }),
  and_all_charged: ms('and_all_charged', {
    limits: [
      [4, 500],
      [9, 2000],
    ],
    align: 'epoch',
  }),
};

/** Decides a request at `atMs` by the limiter's own clock: how long it is held, or LIMITED. */
export type Decide = (atMs: number) => number;

/** A limiter made at `madeMs`, in ms by its own clock. */
export function limiterOf(definition: RuleDefinition, madeMs: number, n = 1): Decide {
  const rule = ruleOf(definition);
  const state = rule.fresh(madeMs);
  return (atMs) => rule.admit(state, atMs, n, 0);
}

const held = new Set(['fixed_window_delay', 'uber_slack']);

/** Limiters that are wrong in one way each, for a rule. Those that hold every request have other ways than those that refuse. */
export function wrongLimiters(definition: RuleDefinition): Readonly<Record<string, (madeMs: number) => Decide>> {
  const { primitive, params } = definition;
  const given = params as Record<string, number | boolean | string | undefined>;
  const other = (more: object) => (madeMs: number) =>
    limiterOf({ ...definition, params: { ...given, ...more } } as RuleDefinition, madeMs);
  const found: Record<string, (madeMs: number) => Decide> = {};
  const amount = ['limit', 'threshold', 'capacity', 'burst', 'max_queue', 'max_stored', 'free', 'slack'].find(
    (name) => name in given,
  );
  if (amount !== undefined) {
    const value = given[amount] as number;
    found['one more'] = other({ [amount]: value + 1 });
    if (value > 0) found['one less'] = other({ [amount]: value - 1 });
  }
  const length = ['window_ms', 'per_ms', 'spacing_ms', 'interval_ms', 'T_ms', 'rate_1000'].find(
    (name) => name in given,
  );
  if (length !== undefined) {
    const value = given[length] as number;
    found['10 % longer'] = other({ [length]: Math.round(value * 1.1) });
    found['10 % shorter'] = other({ [length]: Math.round(value * 0.9) });
  }
  if (primitive === 'fixed_window' || primitive === 'sliding_log' || primitive === 'sliding_counter') {
    found['refused the other way'] = other({ count_refused: given['count_refused'] !== true });
  }
  if (primitive === 'fixed_window' || primitive === 'sliding_counter') {
    found['other alignment'] = other({ align: given['align'] === 'epoch' ? 'first' : 'epoch' });
  }
  const block = ['block_ms', 'local_block_ms', 'block_until_window_end'].find((name) => name in given);
  if (block !== undefined) found['no block'] = other({ [block]: block === 'block_until_window_end' ? false : 0 });
  if (primitive === 'nginx_limit_req' && given['nodelay'] !== true && given['burst'] !== undefined) {
    found['holds nothing'] = other({ nodelay: true });
  }
  if (held.has(primitive)) {
    found['holds nothing'] = () => () => 0;
    return found;
  }
  found['another family'] = (madeMs) =>
    limiterOf(primitive === 'token_bucket' ? rules['sliding_log']! : rules['token_bucket in intervals']!, madeMs);
  found['every request twice'] = (madeMs) => limiterOf(definition, madeMs, 2);
  found['misses every fourth'] = (madeMs) => {
    const right = limiterOf(definition, madeMs);
    let number = 0;
    return (atMs) => (++number % 4 === 0 ? 0 : right(atMs));
  };
  found['never limits'] = () => () => 0;
  found['always limits'] = () => () => LIMITED;
  return found;
}
