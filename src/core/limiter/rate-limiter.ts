// The windowed rate limiter as a definition: data like any other definition, so nothing else treats it specially.
//
//   count      0 .......... 70 | 71 .... 79 | 80 ...... 100 | 101 ...      threshold 100, near_limit 0.8
//   allowing     stays         |   stays    | -> nearing    | -> limiting  entering nearing emits near_limit,
//   nearing      -> allowing   |   stays    |   stays       | -> limiting  entering limiting emits rate_limited,
//   limiting     -> allowing   | -> nearing | -> nearing    |   stays      leaving limiting emits rate_restored
//
// Without near_limit there is no state nearing, and limiting leads to allowing.
import type { MachineConfig, ParameterizedObject } from 'xstate';
import { canonicalJson } from '../schema/canonical.js';
import { Failure, type Fault } from '../schema/failure.js';
import { type ContractDefinition, isOnAggregate } from './definition.js';
import type { ContractEvent, Held } from './guards.js';
import { type LimiterMove, transitionOn } from './rule-limiter.js';

/** The machine that a deploy of `rateLimiter()` makes, as XState reads it. The meaning of its guards and actions: guards.ts. */
export const rateLimiterMachine = {
  initial: 'allowing',
  context: { heldUntilCycle: Number.MIN_SAFE_INTEGER, refusals: 0 },
  on: { refused: { actions: ['backOff'] } },
  states: {
    allowing: {
      tags: ['admits'],
      on: { aggregate: [{ guard: 'held' }, onCounts([101, null], 'limiting', 'rate_limited', 0)] },
    },
    limiting: { tags: [], on: { aggregate: [{ guard: 'held' }, onCounts([0, 100], 'allowing', 'rate_restored', 1)] } },
  },
} as const satisfies MachineConfig<Held, ContractEvent, never, ParameterizedObject, ParameterizedObject>;

function onCounts(range: readonly [lo: number, hi: number | null], target: string, event: string, transition: number) {
  return {
    guard: { type: 'countIn', params: { event: 'request', within: 60, aggregate: 0, ranges: [range] } },
    target,
    actions: [
      { type: 'fire', params: { transition, operator: 'KO42', inputs: {}, proof_required: false } },
      'hold',
      { type: 'emit', params: { event, aggregate: 0 } },
    ],
  } as const;
}

export interface RateLimiterParameters {
  readonly threshold: number;
  readonly within: number;
  /** Share of the threshold at which the state nearing begins, 0.01 .. 0.99; absent: no such state. */
  readonly near_limit?: number | undefined;
}

/** `nearing` ends only below this share of the threshold, so that a fluctuating count emits once. */
const HYSTERESIS = 0.1;

const parameters = {
  threshold: { default: 100, min: 1, max: 1_000_000_000, unit: 'request events' },
  within: { default: 60, min: 1, max: 100_000, unit: 'cycles' },
} as const;

export const TEMPLATE_ID = 'rate-limiter';

/** Defaults: 100 events in 60 cycles. @throws Failure `invalid_input` for a parameter outside its range */
export function rateLimiter(given: Partial<RateLimiterParameters> = {}): ContractDefinition {
  const {
    threshold,
    within,
    near_limit: near,
  } = check({
    threshold: parameters.threshold.default,
    within: parameters.within.default,
    ...given,
  });
  const aggregate = { aggregate: 'count', within };
  const moves = near === undefined ? plainMoves(threshold) : nearMoves(threshold, near);
  return {
    id: TEMPLATE_ID,
    category: 'Foundations',
    name: 'rate_limiter',
    version: '1.0',
    audit_clock: { on: true, tick_rate: 1 },
    parameters,
    states: {
      allowing: { initial: true, role: 'initial' },
      ...(near === undefined ? {} : { nearing: { role: 'intermediate' as const, admits: true } }),
      limiting: { role: 'intermediate' },
    },
    transitions: moves.map((move) => transitionOn(aggregate, move)),
    operators: [{ id: 'KO42', kind: 'substrate' }],
    uses: ['API gateway throttling', 'device batching and backpressure', 'abuse and burst protection'],
  };
}

export function limiterParameters({ states, transitions }: ContractDefinition): RateLimiterParameters | undefined {
  const [first, second] = transitions.map(({ trigger }) => (isOnAggregate(trigger) ? trigger : undefined));
  const threshold = numberIn(first?.condition, /^count > (\d+)$/);
  const { min, max } = parameters.threshold;
  if (first?.aggregate !== 'count' || !(threshold >= min && threshold <= max)) return undefined;
  const { within } = first;
  const isMade = (near?: number) => {
    const { states: madeStates, transitions: madeTransitions } = rateLimiter({ threshold, within, near_limit: near });
    return canonicalJson([madeStates, madeTransitions]) === canonicalJson([states, transitions]);
  };
  if (isMade()) return { threshold, within };
  const near = numberIn(second?.condition, /^count >= ([\d.]+)$/) / threshold;
  // As it was written, if that leads to the same bound: 333 of 1000 is 0.333, and 2 of 3 is 0.666….
  const share = [Number(near.toPrecision(6)), near].filter((one) => one >= 0.01 && one <= 0.99).find(isMade);
  return share === undefined ? undefined : { threshold, within, near_limit: share };
}

/** NaN if there is none. */
function numberIn(text = '', pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1]);
}

function plainMoves(threshold: number): LimiterMove[] {
  return [
    ['allowing', 'limiting', `count > ${threshold}`, 'rate_limited'],
    ['limiting', 'allowing', `count <= ${threshold}`, 'rate_restored'],
  ];
}

function nearMoves(threshold: number, share: number): LimiterMove[] {
  // Not a whole count, so that it says the share: 1.5 of 3 is 0.5.
  const near = rounded(share * threshold);
  const far = Math.max(0, Math.floor(rounded(near - HYSTERESIS * threshold)));
  return [
    ['allowing', 'limiting', `count > ${threshold}`, 'rate_limited'],
    ['allowing', 'nearing', `count >= ${near}`, 'near_limit'],
    ['nearing', 'limiting', `count > ${threshold}`, 'rate_limited'],
    ['nearing', 'allowing', `count <= ${far}`],
    ['limiting', 'allowing', `count <= ${far}`, 'rate_restored'],
    ['limiting', 'nearing', `count <= ${threshold}`, 'rate_restored'],
  ];
}

/** The count from which a contract with this `near_limit` is in the state nearing. */
export function nearingFrom(share: number, threshold: number = parameters.threshold.default): number {
  return Math.max(1, Math.ceil(rounded(share * threshold)));
}

/** 0.55 * 100 is 55.000000000000007. */
function rounded(value: number): number {
  return Number(value.toFixed(6));
}

function check(given: RateLimiterParameters): RateLimiterParameters {
  const unknown = Object.keys(given).filter((name) => name !== 'near_limit' && !Object.hasOwn(parameters, name));
  const faults: Fault[] = unknown.map((name) => ({ path: `/${name}`, message: 'is not known' }));
  for (const name of ['threshold', 'within'] as const) {
    const { min, max, unit } = parameters[name];
    const value = given[name];
    if (!Number.isInteger(value) || value < min || value > max) {
      faults.push({ path: `/${name}`, message: `must be an integer from ${min} to ${max} (${unit})` });
    }
  }
  const { near_limit: near } = given;
  if (near !== undefined && !(near >= 0.01 && near <= 0.99)) {
    faults.push({ path: '/near_limit', message: 'must be a number from 0.01 to 0.99 (share of the threshold)' });
  }
  const [first] = faults;
  if (first === undefined) return given;
  throw new Failure('invalid_input', {
    what: 'The rate limiter cannot be made.',
    why: `${first.path.slice(1)} ${first.message}.`,
    fix: `Give numbers like threshold ${parameters.threshold.default} within ${parameters.within.default}, near_limit 0.8.`,
    faults,
  });
}
