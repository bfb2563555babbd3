// A rule as data: the primitive, its parameters, the step of its clock, and the wait that the product announces.
//
//   primitive: fixed_window
//   params: { limit: 10, window_ms: 1000, count_refused: true }
//   clock_resolution_ms: 1
//   announces: { wait: window_end, round: up_to_s }
import type { Static, TSchema } from 'typebox';
import { nearest } from '../../schema/did-you-mean.js';
import { Failure, type Fault, firstOf } from '../../schema/failure.js';
import { exact, flag, text } from '../../schema/fields.js';
import { Type } from '../../schema/json-schema.js';
import { valueFaults } from '../../schema/value-faults.js';
import { AdaptiveParams, adaptive } from './adaptive.js';
import { and, or } from './combined.js';
import { ConcurrencyParams, ConcurrencyQueueParams, concurrency, concurrencyQueue } from './concurrency.js';
import { counts, length, resetEdge, wait } from './fields.js';
import { FixedWindowParams, fixedWindow } from './fixed-window.js';
import { ExecEvenlyParams, execEvenly, FixedWindowDelayParams, fixedWindowDelay } from './fixed-window-delay.js';
import { GcraParams, gcra } from './gcra.js';
import { GuavaBurstyParams, GuavaWarmupParams, guavaBursty, guavaWarmup } from './guava.js';
import { LeakyQueueParams, leakyQueue, UberSlackParams, uberSlack } from './leaky-queue.js';
import { ManyNodesParams, manyNodes } from './many-nodes.js';
import { blocking, perRequest, withClockStep } from './modified.js';
import { NginxLimitReqParams, nginxLimitReq } from './nginx-limit-req.js';
import { RollingCountParams, rollingCount, SegmentedWindowParams, segmentedWindow } from './rolling-count.js';
import { GRAIN_MS, NEVER, type Rule } from './rule.js';
import { SlidingCounterParams, slidingCounter } from './sliding-counter.js';
import { SlidingLogBlockParams, SlidingLogParams, slidingLog, slidingLogBlock } from './sliding-log.js';
import { continuousBucket, TokenBucketParams } from './token-bucket.js';
import { bucketAndInterval, TokenBucketAndIntervalParams } from './token-bucket-and-interval.js';
import { intervalBucket } from './token-bucket-interval.js';
import { truncatingBucket } from './token-bucket-trunc.js';

const Member = exact('One of the rules.', {
  primitive: text(1, 64, 'The rule.'),
  params: Type.Unknown({ description: 'Its parameters.' }),
  'counts?': counts,
});
const Members = Type.Array(Member, { minItems: 1, maxItems: 16, description: 'The rules.' });

const OrParams = exact({ a: Member, b: Member });
const AndParams = exact({ of: Members });
const AndAllChargedParams = exact({
  'of?': Members,
  'limits?': Type.Array(Type.Array(Type.Number({ minimum: 1, maximum: 1e12 }), { minItems: 2, maxItems: 2 }), {
    minItems: 1,
    maxItems: 16,
    description: 'Fixed windows as pairs of limit and length in ms, instead of `of`.',
  }),
  'align?': Type.Enum(['first', 'epoch'], { description: 'As of fixed_window, for `limits`.' }),
  'edge?': resetEdge,
});

/** Parameters from texts such as '10/s' or '100 in 60s', and from a burst if the rule has one. */
interface Paced<Params> {
  at(n: number, ms: number): Params;
  burst?(burst: number, params: Params): Params;
}

interface PrimitiveRow<Params extends TSchema> {
  readonly params: Params;
  /** @param grainMs step of the clock that the rule sees */
  make(params: Static<Params>, grainMs: number, members: readonly Rule[]): Rule;
  ratePerMs?(params: Static<Params>): number | undefined;
  /** Upper bound of the numbers in its state. Default: 8, plus those of its members. */
  cells?(params: Static<Params>): number;
  readonly limitsFlight?: true;
  readonly paced?: Paced<Partial<Static<Params>>>;
  members?(params: Static<Params>): readonly PlacedMember[];
}

type PlacedMember = readonly [place: string, member: Fitting];

const row = <Params extends TSchema>(declared: PrimitiveRow<Params>): PrimitiveRow<Params> => declared;

const perWindow = ({ limit, window_ms }: { readonly limit: number; readonly window_ms: number }) => limit / window_ms;
const perCycles = ({ threshold = 100, within = 60, cycle_ms = 777 }) => threshold / (within * cycle_ms);
const perSpacing = ({ spacing_ms }: { readonly spacing_ms: number }) => 1 / spacing_ms;
const perInterval = ({ interval_ms }: { readonly interval_ms: number }) => 1 / interval_ms;
const windowOf = { at: (limit: number, window_ms: number) => ({ limit, window_ms }) };
const spacingOf = { at: (n: number, ms: number) => ({ spacing_ms: ms / n }) };
const intervalOf = { at: (n: number, ms: number) => ({ interval_ms: ms / n }) };
const tokensOf = {
  at: (rate: number, per_ms: number) => ({ rate, per_ms }),
  burst: (capacity: number) => ({ capacity }),
};
const perTokens = ({ rate, per_ms }: { readonly rate: number; readonly per_ms: number }) => rate / per_ms;
const twoAPlace = ({ limit }: { readonly limit: number }) => 2 * limit;
const inOrder = ({ of = [] }: { readonly of?: readonly Fitting[] }) =>
  of.map((member, i): PlacedMember => [`of/${i}`, member]);
const windowsAndMembers = ({ limits = [], align, edge, ...others }: Static<typeof AndAllChargedParams>) => [
  ...limits.map(([limit, window_ms], i): PlacedMember => {
    const params = { limit, window_ms, count_refused: true, align, edge };
    return [`${LIMITS}/${i}`, { primitive: 'fixed_window', params }];
  }),
  ...inOrder(others),
];
const LIMITS = 'limits';

export const primitives = {
  none: row({ params: exact({}), make: () => unlimited, cells: () => 1 }),
  rolling_count: row({
    params: RollingCountParams,
    make: rollingCount,
    ratePerMs: perCycles,
    cells: ({ within = 60 }) => within,
  }),
  fixed_window: row({
    params: FixedWindowParams,
    make(params, grainMs) {
      return blocking(fixedWindow(params, grainMs), params.local_block_ms, grainMs, params);
    },
    paced: windowOf,
    ratePerMs: perWindow,
  }),
  fixed_window_delay: row({
    params: FixedWindowDelayParams,
    make: fixedWindowDelay,
    paced: { at: (free, window_ms) => ({ free, window_ms }) },
    ratePerMs: ({ free, window_ms }) => free / window_ms || undefined,
  }),
  fixed_window_exec_evenly: row({ params: ExecEvenlyParams, make: execEvenly, paced: windowOf, ratePerMs: perWindow }),
  sliding_log: row({
    params: SlidingLogParams,
    make: slidingLog,
    paced: windowOf,
    ratePerMs: perWindow,
    cells: twoAPlace,
  }),
  sliding_log_block: row({
    params: SlidingLogBlockParams,
    make: slidingLogBlock,
    paced: windowOf,
    ratePerMs: perWindow,
    cells: twoAPlace,
  }),
  segmented_window: row({
    params: SegmentedWindowParams,
    make: segmentedWindow,
    paced: windowOf,
    ratePerMs: perWindow,
    cells: ({ segments }) => segments,
  }),
  sliding_counter: row({
    params: SlidingCounterParams,
    make: (params, grainMs) => blocking(slidingCounter(params, grainMs), params.block_ms, grainMs, params),
    paced: windowOf,
    ratePerMs: perWindow,
  }),
  token_bucket: row({
    params: TokenBucketParams,
    make(params, grainMs) {
      if (params.refill === 'interval') return blocking(intervalBucket(params, grainMs), undefined, grainMs, params);
      return params.refill === 'interval_trunc' ? truncatingBucket(params, grainMs) : continuousBucket(params);
    },
    paced: tokensOf,
    ratePerMs: perTokens,
  }),
  token_bucket_and_interval: row({
    params: TokenBucketAndIntervalParams,
    make: bucketAndInterval,
    paced: tokensOf,
    ratePerMs: perTokens,
  }),
  gcra: row({
    params: GcraParams,
    make: gcra,
    paced: { at: (n, ms) => ({ T_ms: ms / n }), burst: (burst, { T_ms = 0 }) => ({ tau_ms: burst * T_ms }) },
    ratePerMs: ({ T_ms }) => 1 / T_ms,
  }),
  nginx_limit_req: row({
    params: NginxLimitReqParams,
    make: nginxLimitReq,
    paced: { at: (n, ms) => ({ rate_1000: Math.trunc((1_000_000 * n) / ms) }) },
    ratePerMs: ({ rate_1000 }) => rate_1000 / 1_000_000,
  }),
  leaky_queue: row({ params: LeakyQueueParams, make: leakyQueue, paced: spacingOf, ratePerMs: perSpacing }),
  uber_slack: row({ params: UberSlackParams, make: uberSlack, paced: spacingOf, ratePerMs: perSpacing }),
  guava_bursty: row({ params: GuavaBurstyParams, make: guavaBursty, paced: intervalOf, ratePerMs: perInterval }),
  guava_warmup: row({ params: GuavaWarmupParams, make: guavaWarmup, paced: intervalOf, ratePerMs: perInterval }),
  concurrency: row({ params: ConcurrencyParams, make: concurrency, cells: twoAPlace, limitsFlight: true }),
  concurrency_queue: row({
    params: ConcurrencyQueueParams,
    make: concurrencyQueue,
    cells: twoAPlace,
    limitsFlight: true,
  }),
  adaptive: row({
    params: AdaptiveParams,
    make: adaptive,
    cells: ({ max = 1000 }) => 2 * max,
    limitsFlight: true,
  }),
  many_nodes: row({
    params: ManyNodesParams,
    make: manyNodes,
    ratePerMs: perCycles,
    cells: ({ nodes, within = 60 }) => nodes * within,
  }),
  or: row({
    params: OrParams,
    make: (_params, _grainMs, [a, b]) => or(a!, b!),
    ratePerMs: ({ a }) => ratePerMs(a),
    members: ({ a, b }) => [
      ['a', a],
      ['b', b],
    ],
  }),
  and: row({
    params: AndParams,
    make: (_params, _grainMs, members) => and(members, false),
    ratePerMs: (params) => slowest(inOrder(params)),
    members: inOrder,
  }),
  and_all_charged: row({
    params: AndAllChargedParams,
    make: (_params, _grainMs, members) => and(members, true),
    ratePerMs: (params) => slowest(windowsAndMembers(params)),
    members: windowsAndMembers,
  }),
} as const;

const unlimited: Rule = {
  fresh: () => ({}),
  admit: () => 0,
  nextAdmission: (_state, t) => t,
  nextChange: () => NEVER,
  remaining: () => Number.POSITIVE_INFINITY,
  forgettable: () => true,
};

export type Primitive = keyof typeof primitives;
export type ParamsOf<Name extends Primitive> = Static<(typeof primitives)[Name]['params']>;

const Announces = exact('The wait that a refused request is given, where it is not the true one.', {
  wait: Type.Enum(['earliest', 'window_end', 'newest_leaves', 'whole_tokens', 'whole_intervals', 'backoff', 'none'], {
    description:
      'Which wait the product announces: the true one, to the end of the window, until the newest request leaves, for whole tokens, doubled, or none.',
  }),
  'round?': Type.Enum(['up_to_ms', 'up_to_s', 'down_to_s', 'second', 'clock_second'], {
    description:
      'Rounded up to whole ms or s, down to s, up to s and then down to a second of the clock, or down to a second of the clock. Default: not at all.',
  }),
});
export type Announces = Static<typeof Announces>;

export const RuleDefinition = exact(
  {
    description: 'A rule of a limiter: the primitive with its parameters.',
    examples: [{ primitive: 'gcra', params: { T_ms: 100, tau_ms: 500 } }],
  },
  {
    primitive: Type.Enum(Object.keys(primitives) as Primitive[], { description: 'The rule.' }),
    params: Type.Unknown({ description: 'Its parameters.' }),
    'clock_resolution_ms?': length('Step of the clock that the rule sees, in ms. Default: continuous.'),
    'res?': length('Another name of clock_resolution_ms.'),
    'approx?': flag('The product departs from the rule by timers or races; decides nothing.'),
    'announces?': Announces,
    'counts?': counts,
    'hold_ms?': wait(
      'How long an admitted request is in flight, in ms, for limits on concurrency, unless the request states it. Default: 0.',
    ),
  },
);
export type RuleDefinition = Static<typeof RuleDefinition>;

type Fitting = {
  readonly primitive: string;
  readonly params: unknown;
  readonly counts?: 'cost' | 'requests' | undefined;
};

export function primitiveRow(primitive: string): PrimitiveRow<TSchema> {
  return primitives[primitive as Primitive] as PrimitiveRow<TSchema>;
}

export function placedMembersOf({ primitive, params }: Fitting): readonly PlacedMember[] {
  return primitiveRow(primitive).members?.(params) ?? [];
}

/** The rules that a combined rule asks, in order. */
export function membersOf(rule: Fitting): RuleDefinition[] {
  return placedMembersOf(rule).map(([, member]) => member as RuleDefinition);
}

function build(rule: Fitting, grainMs: number): Rule {
  const members = membersOf(rule).map((member) => build(member, grainMs));
  const made = primitiveRow(rule.primitive).make(rule.params, grainMs, members);
  return rule.counts === 'requests' ? perRequest(made) : made;
}

export function ratePerMs(rule: Fitting): number | undefined {
  return primitiveRow(rule.primitive).ratePerMs?.(rule.params);
}

export function stateCellsOf(rule: Fitting): number {
  const members = membersOf(rule).reduce((sum, member) => sum + stateCellsOf(member), 0);
  return primitiveRow(rule.primitive).cells?.(rule.params) ?? 8 + members;
}

export function limitsFlight(rule: Fitting): boolean {
  return primitiveRow(rule.primitive).limitsFlight === true || membersOf(rule).some(limitsFlight);
}

export function ruleOf(input: unknown): Rule {
  return uncheckedRule(checkRule(input));
}

export function uncheckedRule(definition: RuleDefinition): Rule {
  const step = clockStepOf(definition);
  const rule = build(definition, step ?? GRAIN_MS);
  return rule.ownClock ? rule : withClockStep(rule, step);
}

/** Step of the clock that the rule reads, in ms; undefined if it is continuous. */
export function clockStepOf({ clock_resolution_ms, res, params }: RuleDefinition): number | undefined {
  const { resolution_us } = params as { readonly resolution_us?: number };
  return clock_resolution_ms ?? res ?? (resolution_us === undefined ? undefined : resolution_us / 1000);
}

/** Checks members, too. @throws Failure `invalid_definition` */
export function checkRule(input: unknown): RuleDefinition {
  const faults = faultsIn(input, '');
  if (faults.length === 0) return input as RuleDefinition;
  throw new Failure('invalid_definition', {
    what: 'The rule of the limiter was refused.',
    why: firstOf(faults),
    fix: ruleAdvice(input),
    faults,
  });
}

/** Fields of an object schema by name. */
export function propertiesOf(schema: unknown): Readonly<Record<string, { readonly type?: string }>> {
  return (schema as { readonly properties: Readonly<Record<string, { readonly type?: string }>> }).properties;
}

/** What fits a rule: the parameters of its primitive, or the primitives. */
export function ruleAdvice(input: unknown): string {
  const { primitive } = (input ?? {}) as { readonly primitive?: unknown };
  if (typeof primitive !== 'string' || !Object.hasOwn(primitives, primitive))
    return `A rule is { primitive, params, clock_resolution_ms }; primitives are ${Object.keys(primitives).join(', ')}.`;
  const { params, paced } = primitiveRow(primitive);
  const names = Object.keys(propertiesOf(params));
  const example =
    paced === undefined ? '' : `; for example: ${primitive} 10/s${paced.burst === undefined ? '' : ' burst=20'}`;
  return `${primitive} has ${names.join(', ') || 'no parameters'}${example}.`;
}

function faultsIn(input: unknown, at: string): Fault[] {
  const asked = (input as { primitive?: unknown } | null | undefined)?.primitive;
  if (typeof asked === 'string' && !Object.hasOwn(primitives, asked)) {
    const guess = nearest(asked, Object.keys(primitives));
    const advice = guess === undefined ? 'is no primitive' : `is no primitive; did you mean "${guess}"?`;
    return [{ path: `${at}/primitive`, message: `${JSON.stringify(asked)} ${advice}` }];
  }
  const outer = valueFaults(RuleDefinition, input, at);
  if (outer.length > 0) return outer;
  const rule = input as RuleDefinition;
  const inner = valueFaults(primitiveRow(rule.primitive).params, rule.params, `${at}/params`);
  if (inner.length > 0) return inner;
  // The schema has checked the pairs of `limits`.
  return placedMembersOf(rule).flatMap(([place, member]) =>
    place.startsWith(LIMITS) ? [] : faultsIn(member, `${at}/params/${place}`),
  );
}

function slowest(members: readonly PlacedMember[]): number | undefined {
  const rates = members.flatMap(([, member]) => ratePerMs(member) ?? []);
  return rates.length === 0 ? undefined : Math.min(...rates);
}
