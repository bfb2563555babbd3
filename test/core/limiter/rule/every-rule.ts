// A definition of every primitive, and of each of its modifiers, and requests to ask them.
import fc from 'fast-check';
import type { RuleDefinition } from '../../../../src/core/limiter/rule/rule-definition.js';

const bucket = { rate: 3, per_ms: 100, capacity: 5 };
const window = { limit: 4, window_ms: 100 };
const nodes = { nodes: 2, threshold: 4, within: 5, cycle_ms: 20 };

// biome-ignore format: one case a line
export const rules: Readonly<Record<string, RuleDefinition>> = {
  none: { primitive: 'none', params: {} },
  'rolling count': { primitive: 'rolling_count', params: { threshold: 4, within: 5, cycle_ms: 20 } },
  'fixed window': { primitive: 'fixed_window', params: window },
  'fixed window of the epoch': { primitive: 'fixed_window', params: { ...window, align: 'epoch', phase_ms: 7 } },
  'fixed window of a process': { primitive: 'fixed_window', params: { ...window, align: 'construction' } },
  'fixed window that ends late': { primitive: 'fixed_window', params: { ...window, edge: 'reset_after_end' } },
  'fixed window, all count': { primitive: 'fixed_window', params: { ...window, count_refused: true } },
  'fixed window with a block': { primitive: 'fixed_window', params: { ...window, count_refused: true, block_ms: 250 } },
  'fixed window, local block': { primitive: 'fixed_window', params: { ...window, local_block_ms: 60 } },
  'fixed window, block to its end': { primitive: 'fixed_window', params: { ...window, align: 'epoch', block_until_window_end: true } },
  'fixed window, block that rearms': { primitive: 'fixed_window', params: { ...window, local_block_ms: 60, refused_rearm: true } },
  'fixed window, restarts': { primitive: 'fixed_window', params: { ...window, count_refused: true, refused_restart_window: true } },
  'fixed window, elastic': { primitive: 'fixed_window', params: { ...window, count_refused: true, every_hit_restarts_window: true } },
  'fixed window, backoff': { primitive: 'fixed_window', params: { ...window, count_refused: true, refused_backoff: 2 } },
  'fixed window that is forgotten': {
    primitive: 'fixed_window',
    params: { ...window, edge: 'reset_after_end', state_ttl_from_last_admit_ms: 90 },
  },
  'fixed window, delays': { primitive: 'fixed_window_delay', params: { free: 3, step_ms: 20, window_ms: 100 } },
  'fixed window, even': { primitive: 'fixed_window_exec_evenly', params: window },
  'fixed window, even with a block': { primitive: 'fixed_window_exec_evenly', params: { ...window, block_ms: 250 } },
  'sliding log': { primitive: 'sliding_log', params: window },
  'sliding log that ends late': { primitive: 'sliding_log', params: { ...window, edge: 'expires_after_end' } },
  'sliding log, all count': { primitive: 'sliding_log', params: { ...window, count_refused: true } },
  'sliding log with a block': { primitive: 'sliding_log_block', params: { ...window, block_ms: 130 } },
  'fixed window on a clock of seconds': { primitive: 'fixed_window', params: { ...window, window_ms: 1001 }, clock_resolution_ms: 1000 },
  'segmented window of sevenths': { primitive: 'segmented_window', params: { ...window, segments: 7 } },
  'segmented window': { primitive: 'segmented_window', params: { ...window, segments: 4 } },
  'sliding counter': { primitive: 'sliding_counter', params: window },
  'sliding counter of the epoch': { primitive: 'sliding_counter', params: { ...window, align: 'epoch', floor_total: true } },
  'sliding counter of HAProxy': { primitive: 'sliding_counter', params: { ...window, count_refused: true, even_ms: true } },
  'sliding counter of Upstash': {
    primitive: 'sliding_counter',
    params: { ...window, align: 'epoch', floor_prev: true, cost_overshoot: true, block_until_window_end: true },
  },
  'sliding counter with a block': { primitive: 'sliding_counter', params: { ...window, block_ms: 150 } },
  'token bucket': { primitive: 'token_bucket', params: bucket },
  'token bucket, empty at first': { primitive: 'token_bucket', params: { ...bucket, initial: 0, exact_float: true } },
  'token bucket that holds': { primitive: 'token_bucket', params: { ...bucket, max_wait_ms: 80 } },
  'token bucket that is forgotten': { primitive: 'token_bucket', params: { ...bucket, rate: 1, state_ttl_from_last_admit_ms: 120 } },
  'token bucket by intervals': { primitive: 'token_bucket', params: { ...bucket, refill: 'interval' } },
  'token bucket by intervals that holds': {
    primitive: 'token_bucket',
    params: { ...bucket, refill: 'interval', max_wait_ms: 150, allow_over_capacity: true },
  },
  'token bucket by intervals of juju': { primitive: 'token_bucket', params: { ...bucket, refill: 'interval', stale_tick_when_full: true } },
  'token bucket by intervals of Upstash': {
    primitive: 'token_bucket',
    params: { ...bucket, refill: 'interval', align: 'first', forget_when_full: true },
  },
  'token bucket by intervals, block to their ends': {
    primitive: 'token_bucket',
    params: { ...bucket, refill: 'interval', align: 'first', block_until_window_end: true },
  },
  'token bucket of whole tokens': { primitive: 'token_bucket', params: { ...bucket, refill: 'interval_trunc' }, clock_resolution_ms: 1 },
  'token bucket of whole tokens with a block': {
    primitive: 'token_bucket',
    params: { ...bucket, refill: 'interval_trunc', block_ms: 70 },
    clock_resolution_ms: 1,
  },
  'token bucket and interval': { primitive: 'token_bucket_and_interval', params: { ...bucket, capacity: 3, interval_ms: 100 } },
  gcra: { primitive: 'gcra', params: { T_ms: 30, tau_ms: 90 } },
  'nginx limit_req': { primitive: 'nginx_limit_req', params: { rate_1000: 31_700, burst: 3 }, clock_resolution_ms: 1 },
  'leaky queue': { primitive: 'leaky_queue', params: { spacing_ms: 20, max_queue: 3 } },
  'uber slack': { primitive: 'uber_slack', params: { spacing_ms: 20, slack: 3 } },
  'Guava, bursty': { primitive: 'guava_bursty', params: { interval_ms: 20, max_stored: 5 } },
  'Guava, bursty, that waits': { primitive: 'guava_bursty', params: { interval_ms: 20, max_stored: 5, max_wait_ms: 50 } },
  'Guava, warming up': { primitive: 'guava_warmup', params: { interval_ms: 20, warmup_ms: 200 } },
  concurrency: { primitive: 'concurrency', params: { limit: 3 } },
  'concurrency with a line': { primitive: 'concurrency_queue', params: { limit: 3, max_wait_ms: 40 } },
  aimd: { primitive: 'adaptive', params: { algorithm: 'aimd', initial: 3, min: 1, max: 8, timeout_ms: 60 } },
  vegas: { primitive: 'adaptive', params: { algorithm: 'vegas', initial: 3, max: 20 } },
  gradient2: { primitive: 'adaptive', params: { algorithm: 'gradient2', initial: 3, min: 1, max: 20 } },
  'many nodes, exact': { primitive: 'many_nodes', params: { ...nodes, design: 'exact', lag_ms: 7 } },
  'many nodes, exact and parted': {
    primitive: 'many_nodes',
    params: { ...nodes, design: 'exact', partition: { nodes: 1, from_ms: 50, to_ms: 190 } },
  },
  'many nodes, exact and open': {
    primitive: 'many_nodes',
    params: { ...nodes, design: 'exact', partition: { nodes: 2, from_ms: 50, to_ms: 190, when_away: 'open' } },
  },
  'many nodes, exact and failing over': {
    primitive: 'many_nodes',
    params: { ...nodes, design: 'exact', failover: { at_ms: 120, replica_lag_ms: 70 } },
  },
  'many nodes, batched': { primitive: 'many_nodes', params: { ...nodes, design: 'batched', sync_ms: 30, lag_ms: 7 } },
  'many nodes, batched and parted': {
    primitive: 'many_nodes',
    params: { ...nodes, design: 'batched', lag_ms: 9, partition: { nodes: 1, from_ms: 50, to_ms: 190 } },
  },
  'many nodes, at once and parted': {
    primitive: 'many_nodes',
    params: { ...nodes, design: 'batched', partition: { nodes: 1, from_ms: 50, to_ms: 190 } },
  },
  'many nodes, one asked': { primitive: 'many_nodes', params: { ...nodes, design: 'batched', sync_ms: 30, spread: 'one' } },
  'many nodes, a share each': { primitive: 'many_nodes', params: { ...nodes, design: 'local_share' } },
  or: {
    primitive: 'or',
    params: {
      a: { primitive: 'fixed_window', params: { limit: 2, window_ms: 50 } },
      b: { primitive: 'fixed_window', params: { limit: 3, window_ms: 200 } },
    },
  },
  and: {
    primitive: 'and',
    params: {
      of: [
        { primitive: 'gcra', params: { T_ms: 10, tau_ms: 20 } },
        { primitive: 'sliding_log', params: window },
      ],
    },
  },
  'and, all charged, with a short block': {
    primitive: 'and_all_charged',
    params: {
      of: [
        { primitive: 'fixed_window', params: { limit: 3, window_ms: 30 } },
        { primitive: 'fixed_window', params: { limit: 4, window_ms: 200, count_refused: true, block_ms: 10 } },
      ],
    },
  },
  'and, all charged': { primitive: 'and_all_charged', params: { limits: [[2, 50], [5, 200]] } },
};

export interface Asked {
  readonly gapMs: number;
  readonly n: number;
  readonly holdMs: number;
}

export const askedUpTo = (maxLength: number): fc.Arbitrary<Asked[]> =>
  fc.array(
    fc.record({
      gapMs: fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 40 }) }, fc.integer({ min: 0, max: 400 })),
      n: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 7 })),
      holdMs: fc.integer({ min: 0, max: 120 }),
    }),
    { maxLength },
  );
