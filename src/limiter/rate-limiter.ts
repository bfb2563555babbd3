// The template: the windowed rate limiter as a definition. It is data; no other code knows it.
//
//   count      0 .......... 70 | 71 .... 79 | 80 ...... 100 | 101 ...      threshold 100, near_limit 0.8
//   allowing     stays         |   stays    | -> nearing    | -> limiting  entering nearing emits near_limit,
//   nearing      -> allowing   |   stays    |   stays       | -> limiting  entering limiting emits rate_limited,
//   limiting     -> allowing   | -> nearing | -> nearing    |   stays      leaving limiting emits rate_restored
//
// Without near_limit there is no state nearing, and limiting leads to allowing.
import { Failure, type Fault } from '../schema/failure.js';
import type { ContractDefinition } from './definition.js';

export interface RateLimiterParameters {
  /** Request events that a window may hold before the gate goes limiting, 1 .. 1e9. */
  readonly threshold: number;
  /** Length of the rolling window in cycles, 1 .. 100,000. */
  readonly within: number;
  /** Share of the threshold from which the gate is nearing it, 0.01 .. 0.99; absent: it is not said. */
  readonly near_limit?: number | undefined;
}

/** The gate is no longer near once the count has fallen by this share of the threshold: a count that swings emits once. */
const HYSTERESIS = 0.1;

const parameters = {
  threshold: { default: 100, min: 1, max: 1_000_000_000, unit: 'request events' },
  within: { default: 60, min: 1, max: 100_000, unit: 'cycles' },
} as const;

export const TEMPLATE_ID = 'rate-limiter';

/**
 * The definition of a rate limiter with the given parameters; defaults: 100 events in 60 cycles.
 * @throws Failure `invalid_input` when a parameter is no integer in its range
 */
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
  const transition = ([from, to, condition, emit]: Move) => ({
    from,
    to,
    operator: 'KO42',
    fires_when: null,
    proof_required: false,
    trigger: { kind: 'on_aggregate', event: 'request', aggregate: 'count', within, condition },
    post_actions: emit === undefined ? [] : [{ emit }],
  });
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
    transitions: (near === undefined ? plainMoves(threshold) : nearMoves(threshold, near)).map(transition),
    operators: [{ id: 'KO42', kind: 'substrate' }],
    uses: ['API gateway throttling', 'device batching and backpressure', 'abuse and burst protection'],
  };
}

/** From, to, when, and what it emits. */
type Move = readonly [from: string, to: string, condition: string, emit?: string];

function plainMoves(threshold: number): Move[] {
  return [
    ['allowing', 'limiting', `count > ${threshold}`, 'rate_limited'],
    ['limiting', 'allowing', `count <= ${threshold}`, 'rate_restored'],
  ];
}

/** The first that can fire does, so a count that falls below both bounds at once leads to allowing. */
function nearMoves(threshold: number, share: number): Move[] {
  const near = Math.max(1, Math.ceil(rounded(share * threshold)));
  const far = Math.max(0, Math.floor(rounded((share - HYSTERESIS) * threshold)));
  return [
    ['allowing', 'limiting', `count > ${threshold}`, 'rate_limited'],
    ['allowing', 'nearing', `count >= ${near}`, 'near_limit'],
    ['nearing', 'limiting', `count > ${threshold}`, 'rate_limited'],
    ['nearing', 'allowing', `count <= ${far}`],
    ['limiting', 'allowing', `count <= ${far}`, 'rate_restored'],
    ['limiting', 'nearing', `count <= ${threshold}`, 'rate_restored'],
  ];
}

/** 0.55 * 100 is 55.000000000000007. */
function rounded(value: number): number {
  return Number(value.toFixed(6));
}

function check(given: RateLimiterParameters): RateLimiterParameters {
  const faults: Fault[] = [];
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
