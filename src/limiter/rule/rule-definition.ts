// A rule as data: the primitive, its parameters, the step of its clock, and what the product announces as the wait.
//
//   primitive: fixed_window
//   params: { limit: 10, window_ms: 1000, count_refused: true }
//   clock_resolution_ms: 1
//   announces: { wait: window_end, round: up_to_s }
import type { Static, TSchema } from 'typebox';
import { schemaErrors } from '../../schema/compile-schema.js';
import { nearest } from '../../schema/did-you-mean.js';
import { Failure, type Fault, unreachable } from '../../schema/failure.js';
import { Type } from '../../schema/json-schema.js';
import { faultsOf } from '../../schema/schema-faults.js';
import { AdaptiveParams, adaptive } from './adaptive.js';
import { and, or } from './combined.js';
import { ConcurrencyParams, ConcurrencyQueueParams, concurrency, concurrencyQueue } from './concurrency.js';
import { length, resetEdge, strict, wait } from './fields.js';
import { FixedWindowParams, fixedWindow } from './fixed-window.js';
import { ExecEvenlyParams, execEvenly, FixedWindowDelayParams, fixedWindowDelay } from './fixed-window-delay.js';
import { GcraParams, gcra } from './gcra.js';
import { GuavaBurstyParams, GuavaWarmupParams, guavaBursty, guavaWarmup } from './guava.js';
import { LeakyQueueParams, leakyQueue, UberSlackParams, uberSlack } from './leaky-queue.js';
import { ManyNodesParams, manyNodes } from './many-nodes.js';
import { blocking, onClock } from './modified.js';
import { NginxLimitReqParams, nginxLimitReq } from './nginx-limit-req.js';
import { RollingCountParams, rollingCount } from './rolling-count.js';
import { GRAIN_MS, type Rule } from './rule.js';
import { SegmentedWindowParams, segmentedWindow } from './segmented-window.js';
import { SlidingCounterParams, slidingCounter } from './sliding-counter.js';
import { SlidingLogBlockParams, SlidingLogParams, slidingLog, slidingLogBlock } from './sliding-log.js';
import { continuousBucket, TokenBucketParams } from './token-bucket.js';
import { bucketAndInterval, TokenBucketAndIntervalParams } from './token-bucket-and-interval.js';
import { intervalBucket } from './token-bucket-interval.js';
import { truncatingBucket } from './token-bucket-trunc.js';

/** What combinations are made of. Their own parameters are checked one by one. */
const Member = Type.Object(
  {
    primitive: Type.String({ minLength: 1, maxLength: 64, description: 'The rule.' }),
    params: Type.Unknown({ description: 'Its parameters.' }),
  },
  { ...strict, description: 'One of the rules.' },
);
const Members = Type.Array(Member, { minItems: 1, maxItems: 16, description: 'The rules.' });

const OrParams = Type.Object({ a: Member, b: Member }, strict);
const AndParams = Type.Object({ of: Members }, strict);
const AndAllChargedParams = Type.Object(
  {
    of: Type.Optional(Members),
    limits: Type.Optional(
      Type.Array(Type.Array(Type.Number({ minimum: 1, maximum: 1e12 }), { minItems: 2, maxItems: 2 }), {
        minItems: 1,
        maxItems: 16,
        description: 'Fixed windows as pairs of limit and length in ms, instead of `of`.',
      }),
    ),
    align: Type.Optional(Type.Enum(['first', 'epoch'], { description: 'As of fixed_window, for `limits`.' })),
    edge: resetEdge,
  },
  strict,
);

/** The parameters of every primitive. */
export const primitives = {
  rolling_count: RollingCountParams,
  fixed_window: FixedWindowParams,
  fixed_window_delay: FixedWindowDelayParams,
  fixed_window_exec_evenly: ExecEvenlyParams,
  sliding_log: SlidingLogParams,
  sliding_log_block: SlidingLogBlockParams,
  segmented_window: SegmentedWindowParams,
  sliding_counter: SlidingCounterParams,
  token_bucket: TokenBucketParams,
  token_bucket_and_interval: TokenBucketAndIntervalParams,
  gcra: GcraParams,
  nginx_limit_req: NginxLimitReqParams,
  leaky_queue: LeakyQueueParams,
  uber_slack: UberSlackParams,
  guava_bursty: GuavaBurstyParams,
  guava_warmup: GuavaWarmupParams,
  concurrency: ConcurrencyParams,
  concurrency_queue: ConcurrencyQueueParams,
  adaptive: AdaptiveParams,
  many_nodes: ManyNodesParams,
  or: OrParams,
  and: AndParams,
  and_all_charged: AndAllChargedParams,
} as const satisfies Readonly<Record<string, TSchema>>;

export type Primitive = keyof typeof primitives;

const Announces = Type.Object(
  {
    wait: Type.Enum(['earliest', 'window_end', 'newest_leaves', 'whole_tokens', 'whole_intervals', 'backoff', 'none'], {
      description:
        'Which wait the product announces: the true one, to the end of the window, until the newest request leaves, for whole tokens, doubled, or none.',
    }),
    round: Type.Optional(
      Type.Enum(['up_to_ms', 'up_to_s', 'down_to_s', 'second', 'clock_second'], {
        description:
          'Rounded up to whole ms or s, down to s, up to s and then down to a second of the clock, or down to a second of the clock. Default: not at all.',
      }),
    ),
  },
  { ...strict, description: 'The wait that a refused request is given, where it is not the true one.' },
);
export type Announces = Static<typeof Announces>;

export const RuleDefinition = Type.Object(
  {
    primitive: Type.Enum(Object.keys(primitives) as Primitive[], { description: 'The rule.' }),
    params: Type.Unknown({ description: 'Its parameters.' }),
    clock_resolution_ms: Type.Optional(length('Step of the clock that the rule sees, in ms. Default: continuous.')),
    res: Type.Optional(length('Another name of clock_resolution_ms.')),
    approx: Type.Optional(
      Type.Boolean({ description: 'The product departs from the rule by timers or races; decides nothing.' }),
    ),
    announces: Type.Optional(Announces),
    hold_ms: Type.Optional(
      wait(
        'How long an admitted request is in flight, in ms, for limits on concurrency, unless the request states it. Default: 0.',
      ),
    ),
  },
  { ...strict, description: 'A rule of a limiter: the primitive with its parameters.' },
);
export type RuleDefinition = Static<typeof RuleDefinition>;

/** The parameters of one primitive, and its name. */
type Typed = {
  [P in Primitive]: { readonly primitive: P; readonly params: Static<(typeof primitives)[P]> };
}[Primitive];

/**
 * The rule of a definition.
 * @throws Failure `invalid_definition` with every place that does not fit
 */
export function ruleOf(input: unknown): Rule {
  return uncheckedRule(checkRule(input));
}

/** The rule of a definition that is known to fit: for who makes thousands of them. */
export function uncheckedRule(definition: RuleDefinition): Rule {
  const step = definition.clock_resolution_ms ?? definition.res ?? resolutionOf(definition.params);
  const rule = build(definition as Typed, step ?? GRAIN_MS);
  return rule.ownClock ? rule : onClock(rule, step);
}

function resolutionOf(params: unknown): number | undefined {
  const { resolution_us } = params as { readonly resolution_us?: number };
  return resolution_us === undefined ? undefined : resolution_us / 1000;
}

/**
 * The definition, checked with its members.
 * @throws Failure `invalid_definition`
 */
export function checkRule(input: unknown): RuleDefinition {
  const faults = faultsIn(input, '');
  const [first] = faults;
  if (first === undefined) return input as RuleDefinition;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  throw new Failure('invalid_definition', {
    what: 'The rule of the limiter was refused.',
    why: `${first.path === '' ? '/' : first.path} ${first.message}${more}.`,
    fix: `A rule is { primitive, params, clock_resolution_ms }; primitives are ${Object.keys(primitives).join(', ')}.`,
    faults,
  });
}

function faultsIn(input: unknown, at: string): Fault[] {
  const asked = (input as { primitive?: unknown } | null | undefined)?.primitive;
  const schema = primitives[asked as Primitive];
  if (typeof asked === 'string' && !Object.hasOwn(primitives, asked)) {
    const guess = nearest(asked, Object.keys(primitives));
    const advice = guess === undefined ? 'is no primitive' : `is no primitive; did you mean "${guess}"?`;
    return [{ path: `${at}/primitive`, message: `${JSON.stringify(asked)} ${advice}` }];
  }
  const outer = faultsOf(RuleDefinition, schemaErrors(RuleDefinition, input)).map((fault) => under(at, fault));
  if (schemaErrors(RuleDefinition, input).length > 0) return outer;
  const { params } = input as RuleDefinition;
  const errors = schemaErrors(schema, params);
  if (errors.length > 0) return faultsOf(schema, errors).map((fault) => under(`${at}/params`, fault));
  return membersOf(input as Typed).flatMap(([place, member]) => faultsIn(member, `${at}/params/${place}`));
}

function under(at: string, { path, message }: Fault): Fault {
  return { path: path === '/' ? at || '/' : `${at}${path}`, message };
}

function membersOf({ primitive, params }: Typed): (readonly [place: string, member: unknown])[] {
  switch (primitive) {
    case 'or':
      return [
        ['a', params.a],
        ['b', params.b],
      ];
    case 'and':
    case 'and_all_charged':
      return (params.of ?? []).map((member, i) => [`of/${i}`, member] as const);
    default:
      return [];
  }
}

function build({ primitive, params }: Typed, grainMs: number): Rule {
  const member = (one: unknown) => build(one as Typed, grainMs);
  switch (primitive) {
    case 'rolling_count':
      return rollingCount(params);
    case 'fixed_window': {
      const window = fixedWindow(params, grainMs);
      return params.local_block_ms === undefined
        ? window
        : blocking(window, params.local_block_ms, params.refused_rearm ?? false);
    }
    case 'fixed_window_delay':
      return fixedWindowDelay(params, grainMs);
    case 'fixed_window_exec_evenly':
      return execEvenly(params, grainMs);
    case 'sliding_log':
      return slidingLog(params, grainMs);
    case 'sliding_log_block':
      return slidingLogBlock(params);
    case 'segmented_window':
      return segmentedWindow(params);
    case 'sliding_counter':
      return slidingCounter(params, grainMs);
    case 'token_bucket':
      switch (params.refill) {
        case 'interval':
          return intervalBucket(params, grainMs);
        case 'interval_trunc':
          return truncatingBucket(params, grainMs);
        default:
          return continuousBucket(params);
      }
    case 'token_bucket_and_interval':
      return bucketAndInterval(params);
    case 'gcra':
      return gcra(params);
    case 'nginx_limit_req':
      return nginxLimitReq(params);
    case 'leaky_queue':
      return leakyQueue(params);
    case 'uber_slack':
      return uberSlack(params);
    case 'guava_bursty':
      return guavaBursty(params);
    case 'guava_warmup':
      return guavaWarmup(params);
    case 'concurrency':
      return concurrency(params);
    case 'concurrency_queue':
      return concurrencyQueue(params);
    case 'adaptive':
      return adaptive(params);
    case 'many_nodes':
      return manyNodes(params);
    case 'or':
      return or(member(params.a), member(params.b));
    case 'and':
      return and(params.of.map(member), false);
    case 'and_all_charged':
      return and([...windowsOf(params, grainMs), ...(params.of ?? []).map(member)], true);
    default:
      return unreachable(primitive);
  }
}

function windowsOf({ limits = [], align, edge }: Static<typeof AndAllChargedParams>, grainMs: number): Rule[] {
  return limits.map(([limit, window_ms]) =>
    fixedWindow(
      {
        limit: limit!,
        window_ms: window_ms!,
        count_refused: true,
        ...(align === undefined ? {} : { align }),
        ...(edge === undefined ? {} : { edge }),
      },
      grainMs,
    ),
  );
}
