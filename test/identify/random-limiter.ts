// A limiter drawn at random: rule, modifiers, parameters over three orders of magnitude, and a network before it.

import { parametersOf } from '../../src/identify/parameter-steps.js';
import type { Hypothesis } from '../../src/identify/structure.js';
import { structures } from '../../src/identify/structures.js';
import { BASE_MS } from '../../src/identify/violation.js';
import type { RuleDefinition } from '../../src/limiter/rule/rule-definition.js';
import { modulo } from '../../src/math/modulo.js';
import { RandomStream } from '../../src/math/random.js';
import type { Network } from './virtual.js';

export interface RandomLimiter {
  readonly family: string;
  /** The structure that it is, with its parameters. */
  readonly hypothesis: Hypothesis;
  readonly definition: RuleDefinition;
  readonly limit: number;
  /** A window, or the time of one token, in ms. */
  readonly spanMs: number;
  readonly network: Network;
}

interface Drawn {
  readonly limit: number;
  readonly windowMs: number;
  readonly few: number;
  readonly block_ms: number;
  readonly isSo: boolean;
}

type Make = (
  drawn: Drawn,
) => readonly [
  structure: string,
  primitive: RuleDefinition['primitive'],
  params: object,
  spanMs?: number,
  limit?: number,
];

/** Families, each with its rules; a family is drawn first. */
const families: Readonly<Record<string, readonly Make[]>> = {
  'fixed window': [
    ({ limit, windowMs, isSo }) => ['fixed', 'fixed_window', { limit, window_ms: windowMs, count_refused: isSo }],
    ({ limit, windowMs, isSo }) => [
      'fixed-grid',
      'fixed_window',
      { limit, window_ms: windowMs, align: 'epoch', count_refused: isSo },
    ],
    ({ limit, windowMs }) => [
      'fixed-restart',
      'fixed_window',
      { limit, window_ms: windowMs, count_refused: true, refused_restart_window: true },
    ],
    ({ limit, windowMs }) => [
      'fixed-elastic',
      'fixed_window',
      { limit, window_ms: windowMs, count_refused: true, every_hit_restarts_window: true },
    ],
    ({ limit, windowMs, block_ms }) => [
      'fixed-block',
      'fixed_window',
      { limit, window_ms: windowMs, count_refused: true, block_ms },
    ],
  ],
  'sliding log': [
    ({ limit, windowMs }) => ['log', 'sliding_log', { limit, window_ms: windowMs }],
    ({ limit, windowMs, block_ms }) => ['log-block', 'sliding_log_block', { limit, window_ms: windowMs, block_ms }],
  ],
  'segmented window': [
    ({ limit, windowMs, few }) => {
      const part = Math.max(1, Math.round(windowMs / few));
      return [`segments/${few}`, 'segmented_window', { limit, window_ms: part * few, segments: few }, part * few];
    },
  ],
  'rolling count': [
    ({ limit, windowMs, few }) => {
      const cycle_ms = Math.max(1, Math.round(windowMs / few));
      return [`cycles/${few}`, 'rolling_count', { threshold: limit, within: few, cycle_ms }, cycle_ms * few];
    },
  ],
  'sliding counter': [
    ({ limit, windowMs }) => ['counter-floor', 'sliding_counter', { limit, window_ms: windowMs, floor_total: true }],
    ({ limit, windowMs }) => [
      'counter-refused',
      'sliding_counter',
      { limit, window_ms: windowMs + (windowMs % 2), count_refused: true, even_ms: true },
      windowMs + (windowMs % 2),
    ],
    ({ limit, windowMs }) => [
      'counter-grid-floor',
      'sliding_counter',
      { limit, window_ms: windowMs, align: 'epoch', floor_prev: true },
    ],
    ({ limit, windowMs }) => ['counter-grid', 'sliding_counter', { limit, window_ms: windowMs, align: 'epoch' }],
  ],
  'token bucket': [
    ({ limit, windowMs }) => [
      'bucket',
      'token_bucket',
      { rate: limit, per_ms: windowMs, capacity: limit },
      windowMs / limit,
    ],
    ({ limit, windowMs }) => [
      'bucket',
      'gcra',
      { T_ms: windowMs / limit, tau_ms: windowMs - windowMs / limit },
      windowMs / limit,
    ],
    ({ limit, windowMs }) => {
      const rate_1000 = Math.max(1, Math.trunc((1e6 * limit) / windowMs));
      return ['bucket-thousandths', 'nginx_limit_req', { rate_1000, burst: limit - 1, nodelay: true }, 1e6 / rate_1000];
    },
    ({ limit, windowMs, few }) => [
      `bucket-ticks/${Math.min(few, limit)}`,
      'token_bucket',
      { rate: Math.min(few, limit), per_ms: windowMs, capacity: limit + few, refill: 'interval' },
      windowMs,
      limit + few,
    ],
    ({ limit, windowMs }) => [
      'bucket-whole',
      'token_bucket',
      { rate: limit, per_ms: windowMs, capacity: limit, refill: 'interval_trunc' },
      windowMs / limit,
    ],
  ],
  queue: [
    ({ limit, windowMs }) => {
      const rate_1000 = Math.max(1, Math.trunc((1e6 * limit) / windowMs));
      return ['queue/0', 'nginx_limit_req', { rate_1000, burst: limit }, 1e6 / rate_1000, limit + 1];
    },
  ],
  concurrency: [({ few }) => ['in-flight', 'concurrency', { limit: few }, 0, few]],
};

/** How often a family is drawn. */
const weights: Readonly<Record<string, number>> = {
  'fixed window': 5,
  'sliding log': 3,
  'segmented window': 2,
  'rolling count': 2,
  'sliding counter': 4,
  'token bucket': 6,
  queue: 2,
  concurrency: 1,
};

export function randomLimiter(seed: number): RandomLimiter {
  const random = new RandomStream(seed, 'limiter');
  const within = (least: number, most: number) => least * (most / least) ** random.uniform();
  const one = <T>(all: readonly T[]): T => all[Math.floor(random.uniform() * all.length)]!;
  const names = Object.keys(families).flatMap((name) => Array.from({ length: weights[name]! }, () => name));
  const family = one(names);
  const latencyMs = random.uniform() * 25;
  const windowMs = Math.round(within(200, 200_000));
  const drawn: Drawn = {
    limit: Math.round(within(2, 100)),
    windowMs,
    few: one([2, 3, 4, 5, 6, 10]),
    block_ms: Math.round(windowMs * within(0.3, 3)),
    isSo: random.uniform() < 0.5,
  };
  const [id, primitive, params, spanMs = windowMs, limit = drawn.limit] = one(families[family]!)(drawn);
  const structure = structures.find((known) => known.id === id)!;
  const otherMs = drawn.block_ms;
  const placed = parametersOf(structure, limit, spanMs, { otherMs });
  const period = structure.period?.(placed);
  const isStepped = random.uniform() < 0.5 && primitive !== 'nginx_limit_req';
  return {
    family,
    hypothesis: {
      structure,
      // Its grid begins where its time does.
      parameters: { ...placed, shiftMs: period === undefined ? 0 : modulo(-BASE_MS, period) },
    },
    definition: { primitive, params, ...(isStepped || 'even_ms' in params ? { clock_resolution_ms: 1 } : {}) },
    limit,
    spanMs,
    network: {
      latencyMs,
      jitterMs: 0.3 + random.uniform() * 0.2 * latencyMs,
      serviceMs: family === 'concurrency' ? 50 + random.uniform() * 500 : 0,
    },
  };
}
