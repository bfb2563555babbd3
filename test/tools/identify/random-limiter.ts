// A limiter drawn at random: rule, modifiers, parameters over three orders of magnitude, and a network before it.

import type { RuleDefinition } from '../../../src/core/limiter/rule/rule-definition.js';
import { modulo } from '../../../src/core/math/modulo.js';
import { RandomStream } from '../../../src/core/math/random.js';
import { parametersOf } from '../../../src/tools/identify/parameter-steps.js';
import type { Hypothesis } from '../../../src/tools/identify/structure.js';
import { structures } from '../../../src/tools/identify/structures.js';
import { BASE_MS } from '../../../src/tools/identify/violation.js';
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

const rate1000 = ({ limit, windowMs }: Drawn) => Math.max(1, Math.trunc((1e6 * limit) / windowMs));
const cell = ({ windowMs, few }: Drawn) => Math.max(1, Math.round(windowMs / few));
const even = ({ windowMs }: Drawn) => windowMs + (windowMs % 2);
const window = ({ limit, windowMs }: Drawn, more: object = {}) => ({ limit, window_ms: windowMs, ...more });
const full = ({ limit, windowMs }: Drawn, more: object = {}) => ({
  rate: limit,
  per_ms: windowMs,
  capacity: limit,
  ...more,
});

/** Families, each with its rules; a family is drawn first. */
// biome-ignore format: one rule a line
const families: Readonly<Record<string, readonly Make[]>> = {
  'fixed window': [
    (d) => ['fixed', 'fixed_window', window(d, { count_refused: d.isSo })],
    (d) => ['fixed-grid', 'fixed_window', window(d, { align: 'epoch', count_refused: d.isSo })],
    (d) => ['fixed-restart', 'fixed_window', window(d, { count_refused: true, refused_restart_window: true })],
    (d) => ['fixed-elastic', 'fixed_window', window(d, { count_refused: true, every_hit_restarts_window: true })],
    (d) => ['fixed-block', 'fixed_window', window(d, { count_refused: true, block_ms: d.block_ms })],
  ],
  'sliding log': [
    (d) => ['log', 'sliding_log', window(d)],
    (d) => ['log-block', 'sliding_log_block', window(d, { block_ms: d.block_ms })],
  ],
  'segmented window': [
    (d) => [`segments/${d.few}`, 'segmented_window', { limit: d.limit, window_ms: cell(d) * d.few, segments: d.few }, cell(d) * d.few],
  ],
  'rolling count': [
    (d) => [`cycles/${d.few}`, 'rolling_count', { threshold: d.limit, within: d.few, cycle_ms: cell(d) }, cell(d) * d.few],
  ],
  'sliding counter': [
    (d) => ['counter-floor', 'sliding_counter', window(d, { floor_total: true })],
    (d) => ['counter-refused', 'sliding_counter', window(d, { window_ms: even(d), count_refused: true, even_ms: true }), even(d)],
    (d) => ['counter-grid-floor', 'sliding_counter', window(d, { align: 'epoch', floor_prev: true })],
    (d) => ['counter-grid', 'sliding_counter', window(d, { align: 'epoch' })],
  ],
  'token bucket': [
    (d) => ['bucket', 'token_bucket', full(d), d.windowMs / d.limit],
    (d) => ['bucket', 'gcra', { T_ms: d.windowMs / d.limit, tau_ms: d.windowMs - d.windowMs / d.limit }, d.windowMs / d.limit],
    (d) => ['bucket-thousandths', 'nginx_limit_req', { rate_1000: rate1000(d), burst: d.limit - 1, nodelay: true }, 1e6 / rate1000(d)],
    (d) => {
      const [rate, capacity] = [Math.min(d.few, d.limit), d.limit + d.few];
      return [`bucket-ticks/${rate}`, 'token_bucket', full(d, { rate, capacity, refill: 'interval' }), d.windowMs, capacity];
    },
    (d) => ['bucket-whole', 'token_bucket', full(d, { refill: 'interval_trunc' }), d.windowMs / d.limit],
  ],
  queue: [(d) => ['queue/0', 'nginx_limit_req', { rate_1000: rate1000(d), burst: d.limit }, 1e6 / rate1000(d), d.limit + 1]],
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
