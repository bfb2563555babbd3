// Parameters that change no decision of a rule beside the others that it has, or that no limiter has beside them.
//
//   fixed_window { limit: 10, window_ms: 1000, block_ms: 5000 }              block_ms has no effect without count_refused
//   sliding_counter { limit: 10, window_ms: 1000, cost_overshoot: true }     cost_overshoot is of no limiter without floor_prev
//
// nginx has none here: it takes `nodelay` without `burst` itself.
import { Failure, type Fault, firstOf } from '../../schema/failure.js';
import { checkRule, limitsFlight, type Primitive, placedMembersOf, type RuleDefinition } from './rule-definition.js';

interface Idle {
  readonly names: readonly string[];
  readonly isIdle: (params: Readonly<Record<string, unknown>>) => boolean;
  readonly why: string;
}

/** Values that say what a rule does without them. */
const plain = new Set<unknown>([undefined, false, 0, 'first', 'construction']);
const isGiven = (value: unknown) => !plain.has(value);

const without = (other: string, ...names: string[]): Idle => ({
  names,
  isIdle: (params) => !isGiven(params[other]),
  why: `has no effect without ${other}`,
});

/** @param other a name, or a name and its value: `refill interval` */
const beside = (other: string, ...names: string[]): Idle => {
  const [name = '', value] = other.split(' ');
  return {
    names,
    isIdle: (params) => (value === undefined ? isGiven(params[name]) : params[name] === value),
    why: `has no effect beside ${other}`,
  };
};

const unless = (other: string, values: readonly string[], ...names: string[]): Idle => ({
  names,
  isIdle: (params) => !values.includes(String(params[other])),
  why: `has no effect unless ${other} is ${values.join(' or ')}`,
});

const ofNone = (others: readonly string[], name: string): Idle => ({
  names: [name],
  isIdle: (params) => others.some((other) => !isGiven(params[other])),
  why: `is of no limiter without ${others.join(' and ')}`,
});

const waits = [beside('queue', 'max_wait_ms')];

const idle: { readonly [Name in Primitive]?: readonly Idle[] } = {
  fixed_window: [
    beside('every_hit_restarts_window', 'align', 'phase_ms', 'refused_restart_window', 'refused_backoff', 'block_ms'),
    without('count_refused', 'refused_restart_window', 'refused_backoff', 'block_ms'),
    beside('refused_restart_window', 'refused_backoff', 'block_ms'),
    beside('refused_backoff', 'block_ms'),
    without('local_block_ms', 'refused_rearm'),
    beside('block_until_window_end', 'local_block_ms'),
    unless('align', ['epoch', 'construction'], 'phase_ms'),
  ],
  sliding_counter: [
    ofNone(['floor_prev'], 'cost_overshoot'),
    ofNone(['floor_total', 'state_ttl_whole_seconds'], 'double_seconds'),
    ofNone(['floor_total', 'double_seconds'], 'state_ttl_whole_seconds'),
    unless('align', ['epoch'], 'phase_ms'),
    beside('count_refused', 'cost_overshoot'),
    beside('block_until_window_end', 'block_ms'),
    beside('even_ms', 'floor_prev', 'double_seconds'),
    beside('floor_prev', 'floor_total'),
  ],
  token_bucket: [
    unless('refill', ['interval'], 'align', 'phase_ms', 'stale_tick_when_full', 'forget_when_full'),
    unless('refill', ['interval'], 'block_until_window_end'),
    unless('refill', ['interval_trunc'], 'block_ms'),
    beside('refill interval_trunc', 'max_wait_ms', 'exact_float', 'state_ttl_from_last_admit_ms'),
    beside('refill interval', 'exact_float'),
    beside('align first', 'phase_ms'),
    without('max_wait_ms', 'allow_over_capacity'),
    beside('forget_when_full', 'state_ttl_from_last_admit_ms'),
  ],
  leaky_queue: [without('max_queue', 'registered')],
  guava_bursty: waits,
  guava_warmup: waits,
  adaptive: [unless('algorithm', ['aimd', 'vegas'], 'timeout_ms')],
  many_nodes: [
    unless('design', ['batched'], 'sync_ms'),
    unless('design', ['exact', 'batched'], 'lag_ms', 'partition'),
    unless('design', ['exact'], 'failover'),
  ],
  and_all_charged: [without('limits', 'align', 'edge')],
};

/** @throws Failure `invalid_definition`, as `checkRule`, and for parameters without effect */
export function checkGivenRule(input: unknown): RuleDefinition {
  const rule = checkRule(input);
  const faults = faultsWithoutEffect(rule, '');
  if (faults.length === 0) return rule;
  throw new Failure('invalid_definition', {
    what: 'The rule of the limiter was refused.',
    why: firstOf(faults),
    fix: 'Leave out what has no effect, or give what it needs.',
    faults,
  });
}

/** @param rule one that `checkRule` took */
export function faultsWithoutEffect(rule: RuleDefinition, at: string): Fault[] {
  const isHeld = rule.hold_ms === undefined || limitsFlight(rule);
  const hold = { path: `${at}/hold_ms`, message: 'has no effect: no part of the rule limits requests in flight' };
  return [...(isHeld ? [] : [hold]), ...paramFaults(rule, at)];
}

function paramFaults(rule: Pick<RuleDefinition, 'primitive' | 'params'>, at: string): Fault[] {
  const params = rule.params as Readonly<Record<string, unknown>>;
  const found = (idle[rule.primitive] ?? []).flatMap(({ names, isIdle, why }) =>
    isIdle(params) ? names.filter((name) => isGiven(params[name])).map((name) => [name, why] as const) : [],
  );
  return [
    ...[...new Map(found)].map(([name, message]) => ({ path: `${at}/params/${name}`, message })),
    ...placedMembersOf(rule).flatMap(([place, member]) =>
      paramFaults(member as RuleDefinition, `${at}/params/${place}`),
    ),
  ];
}
