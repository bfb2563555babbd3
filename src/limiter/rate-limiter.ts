// The template: the windowed rate limiter as a definition. It is data; no other code knows it.
import { Failure, type Fault } from '../schema/failure.js';
import type { ContractDefinition } from './definition.js';

export interface RateLimiterParameters {
  /** Request events that a window may hold before the gate goes limiting, 1 .. 1e9. */
  readonly threshold: number;
  /** Length of the rolling window in cycles, 1 .. 100,000. */
  readonly within: number;
}

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
  const { threshold, within } = check({
    threshold: parameters.threshold.default,
    within: parameters.within.default,
    ...given,
  });
  const trigger = (condition: string) => ({
    kind: 'on_aggregate',
    event: 'request',
    aggregate: 'count',
    within,
    condition,
  });
  return {
    id: TEMPLATE_ID,
    category: 'Foundations',
    name: 'rate_limiter',
    version: '1.0',
    audit_clock: { on: true, tick_rate: 1 },
    parameters,
    states: { allowing: { initial: true, role: 'initial' }, limiting: { role: 'intermediate' } },
    transitions: [
      {
        from: 'allowing',
        to: 'limiting',
        operator: 'KO42',
        fires_when: null,
        proof_required: false,
        trigger: trigger(`count > ${threshold}`),
        post_actions: [{ emit: 'rate_limited' }],
      },
      {
        from: 'limiting',
        to: 'allowing',
        operator: 'KO42',
        fires_when: null,
        proof_required: false,
        trigger: trigger(`count <= ${threshold}`),
        post_actions: [{ emit: 'rate_restored' }],
      },
    ],
    operators: [{ id: 'KO42', kind: 'substrate' }],
    uses: ['API gateway throttling', 'device batching and backpressure', 'abuse and burst protection'],
  };
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
  const [first] = faults;
  if (first === undefined) return given;
  throw new Failure('invalid_input', {
    what: 'The rate limiter cannot be made.',
    why: `${first.path.slice(1)} ${first.message}.`,
    fix: `Give a whole number, for example threshold ${parameters.threshold.default} within ${parameters.within.default}.`,
    faults,
  });
}
