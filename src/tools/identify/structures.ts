// The list of structures: every rule of OTHER-LIMITERS with a visible effect. Pure.
import type { Primitive, RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import type { Parameters, Structure } from './structure.js';

const rule = (primitive: Primitive, params: object): RuleDefinition => ({ primitive, params });

interface Spec extends Partial<Omit<Structure, 'definition' | 'id' | 'words' | 'family'>> {
  readonly rule: (parameters: Parameters) => RuleDefinition;
}

const structure = (id: string, family: string, words: string, { rule: definition, ...spec }: Spec): Structure => ({
  id,
  family,
  words,
  definition,
  has: [],
  ...spec,
});

/** Spans on a grid are compared as doubles, so they must be exact. */
const exactly = (ms: number) => Math.max(1 / 16, Math.round(ms * 16) / 16);

const evenly = (ms: number) => Math.max(2, 2 * Math.round(ms / 2));

const span = ({ spanMs }: Parameters) => exactly(spanMs);

const fixed = (id: string, words: string, params: object, spec: Omit<Spec, 'rule'> = {}) =>
  structure(id, 'fixed window', words, {
    ...spec,
    rule: ({ limit, spanMs }) =>
      rule('fixed_window', { limit, window_ms: exactly(spanMs), count_refused: true, ...params }),
  });
const onGrid = { has: ['shiftMs'], period: span } as const;
const successive = { window: { isFixed: true } } as const;
const restarted = { isPutOff: true, window: { isRestarted: true } } as const;

const SEGMENTS = [2, 3, 4, 5, 6, 8, 10, 60];
const MANY = 12;
const TICKS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 100];

const windows = [
  fixed('fixed', 'a fixed window that opens at the first request', {}, successive),
  fixed('fixed-grid', 'a fixed window on a grid of the clock', { align: 'epoch' }, { ...onGrid, ...successive }),
  fixed('fixed-restart', 'a fixed window that a refused request restarts', { refused_restart_window: true }, restarted),
  fixed(
    'fixed-elastic',
    'a count that every request, refused ones too, keeps alive',
    { every_hit_restarts_window: true },
    restarted,
  ),
  fixed('fixed-backoff', 'a fixed window that each refused request doubles', { refused_backoff: 2 }),
  structure('fixed-block', 'fixed window', 'a fixed window, and a block from the first refused request on', {
    has: ['otherMs'],
    window: { isFixed: true, isBlocked: true },
    rule: (p) =>
      rule('fixed_window', { limit: p.limit, window_ms: p.spanMs, count_refused: true, block_ms: p.otherMs }),
  }),
  structure('fixed-rearm', 'fixed window', 'a fixed window, and a block that each refused request renews', {
    has: ['otherMs'],
    isPutOff: true,
    isFine: true,
    extends: 'fixed',
    rule: (p) =>
      rule('fixed_window', { limit: p.limit, window_ms: p.spanMs, local_block_ms: p.otherMs, refused_rearm: true }),
  }),
  structure('log', 'sliding log', 'a sliding log', {
    window: {},
    rule: (p) => rule('sliding_log', { limit: p.limit, window_ms: p.spanMs }),
  }),
  structure('log-refused', 'sliding log', 'a sliding log in which refused requests count', {
    isPutOff: true,
    window: { isAll: true },
    rule: (p) => rule('sliding_log', { limit: p.limit, window_ms: p.spanMs, count_refused: true }),
  }),
  structure('log-block', 'sliding log', 'a sliding log, and a block from the first refused request on', {
    has: ['otherMs'],
    window: { isBlocked: true },
    rule: (p) => rule('sliding_log_block', { limit: p.limit, window_ms: p.spanMs, block_ms: p.otherMs }),
  }),
  ...SEGMENTS.map((part) =>
    structure(`segments/${part}`, 'segmented window', `a window cut into ${part} segments`, {
      has: ['shiftMs'],
      part,
      isFine: true,
      window: {},
      ...(part < MANY ? {} : { extends: 'log' }),
      period: (p) => exactly(p.spanMs / part),
      rule: (p) =>
        rule('segmented_window', { limit: p.limit, window_ms: exactly(p.spanMs / part) * part, segments: part }),
    }),
  ),
  ...SEGMENTS.map((part) =>
    structure(`cycles/${part}`, 'rolling count', `a count over ${part} cycles in which refused requests count`, {
      has: ['shiftMs'],
      part,
      isFine: true,
      window: { isAll: true },
      ...(part < MANY ? {} : { extends: 'log-refused' }),
      period: (p) => exactly(p.spanMs / part),
      rule: (p) => rule('rolling_count', { threshold: p.limit, within: part, cycle_ms: exactly(p.spanMs / part) }),
    }),
  ),
];

const counting = (params: object) => (p: Parameters) =>
  rule('sliding_counter', { limit: p.limit, window_ms: exactly(p.spanMs), ...params });
const counter = (id: string, words: string, params: object, spec: Partial<Spec> = {}) =>
  structure(id, 'sliding counter', `a sliding counter ${words}`, {
    rule: counting(params),
    ...spec,
    window: { ...spec.window, isEstimate: true },
  });
const counterOnGrid = (id: string, words: string, params: object, spec: Partial<Spec> = {}) =>
  counter(`counter-grid${id}`, `on a grid of the clock${words}`, { align: 'epoch', ...params }, { ...onGrid, ...spec });

const all = { window: { isAll: true } } as const;
const counters = [
  counter('counter', 'from the first request', {}),
  counter('counter-floor', 'from the first request, rounded down', { floor_total: true }),
  counter(
    'counter-refused',
    'from the first request in which refused requests count',
    {},
    {
      ...all,
      // HAProxy counts in ms, and its windows begin at even ones.
      rule: (p) => ({
        ...counting({ count_refused: true, even_ms: true })({ ...p, spanMs: evenly(p.spanMs) }),
        clock_resolution_ms: 1,
      }),
    },
  ),
  counterOnGrid('', '', {}),
  counterOnGrid('-floor', ', rounded down', { floor_prev: true }),
  counterOnGrid('-refused', ' in which refused requests count', { count_refused: true }, all),
  counterOnGrid(
    '-cache',
    '; a refused request blocks to the end of the window',
    { floor_prev: true, block_until_window_end: true },
    { window: { isBlocked: true } },
  ),
  counterOnGrid(
    '-block',
    ', and a block from each refused request on',
    {},
    {
      window: { isAll: true, isBlocked: true },
      has: ['shiftMs', 'otherMs'],
      isFine: true,
      extends: 'counter-grid-refused',
      rule: (p) => counting({ align: 'epoch', count_refused: true, block_ms: p.otherMs })(p),
    },
  ),
];

const bucket = (more: object) => (p: Parameters) =>
  rule('token_bucket', { rate: 1, per_ms: p.spanMs, capacity: p.limit, ...more });

/** `otherMs` is the time in which a fraction of a request beyond the limit returns. */
const capacity = ({ limit, otherMs, spanMs }: Parameters) => limit + Math.min(MOST_PART, otherMs / spanMs);
const MOST_PART = 0.999;

/** In thousandths of a request: at low rates the truncation adds up. */
const nginx = ({ limit, spanMs }: Parameters, more: object) =>
  rule('nginx_limit_req', { rate_1000: Math.max(1, Math.round(1e6 / spanMs)), burst: limit - 1, ...more });
const thousandth = ({ spanMs }: Parameters) => spanMs / 500;

const ticking = (id: string, words: string, params: object, spec: Omit<Spec, 'rule'> = {}) =>
  TICKS.map((part) =>
    structure(`${id}/${part}`, 'token bucket', `a token bucket that gets ${part} at each tick${words}`, {
      ...spec,
      part,
      isFine: true,
      rule: (p) => bucket({ per_ms: exactly(p.spanMs), rate: part, refill: 'interval', ...params })(p),
    }),
  );

const buckets = [
  structure('bucket', 'token bucket', 'a token bucket (GCRA, a meter)', { rule: bucket({}) }),
  structure('bucket-thousandths', 'token bucket', 'a meter in thousandths of a request, which cuts off less', {
    isFine: true,
    extends: 'bucket',
    grainMs: thousandth,
    rule: (p) => nginx(p, { nodelay: true }),
  }),
  structure('bucket-part', 'token bucket', 'a token bucket that holds no whole number of requests', {
    has: ['otherMs'],
    isFine: true,
    extends: 'bucket',
    capacity,
    rule: (p) => bucket({ capacity: capacity(p) })(p),
  }),
  ...ticking('bucket-ticks', ' of a clock', {}, onGrid),
  ...ticking('bucket-ticks-first', ', counted from the first request', { align: 'first' }),
  structure('bucket-whole', 'token bucket', 'a token bucket of whole tokens, which loses fractions', {
    rule: bucket({ refill: 'interval_trunc' }),
  }),
  structure('bucket-block', 'token bucket', 'a token bucket of whole tokens, and a block from a refused request on', {
    has: ['otherMs'],
    isFine: true,
    extends: 'bucket-whole',
    rule: (p) => bucket({ refill: 'interval_trunc', block_ms: p.otherMs })(p),
  }),
  structure('bucket-and-interval', 'token bucket', 'a token bucket, and a count in an interval', {
    rule: (p) =>
      rule('token_bucket_and_interval', {
        rate: p.limit,
        per_ms: p.spanMs * p.limit,
        capacity: p.limit,
        interval_ms: p.spanMs * p.limit,
      }),
  }),
  structure('bucket-wait', 'token bucket', 'a token bucket that holds a request up to half a token', {
    holds: true,
    rule: (p) => bucket({ max_wait_ms: p.spanMs / 2 })(p),
  }),
];

const queues = [
  ...[0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 50].map((part) =>
    structure(
      `queue/${part}`,
      'queue',
      part === 0
        ? 'a queue: what is above the rate is held until its turn'
        : `a queue: what is above the rate is held until its turn, but for ${part}`,
      {
        holds: true,
        part,
        grainMs: thousandth,
        rule: (p) => nginx(p, { delay: part }),
      },
    ),
  ),
  ...[0, 1, 2, 3, 5, 10, 20, 50].map((part) =>
    structure(`slow-down/${part}`, 'delay', `a window in which each request after ${part} is held longer`, {
      holds: true,
      has: ['otherMs'],
      part,
      rule: (p) => rule('fixed_window_delay', { free: part, step_ms: p.otherMs, window_ms: p.spanMs }),
    }),
  ),
  structure('in-flight', 'concurrency', 'a limit on what is in flight', {
    isInFlight: true,
    rule: (p) => rule('concurrency', { limit: p.limit }),
  }),
];

export const structures: readonly Structure[] = [...windows, ...counters, ...buckets, ...queues];

export const simple = structures.filter(({ isFine }) => isFine === undefined);
export const fine = structures.filter(({ isFine }) => isFine === true);
