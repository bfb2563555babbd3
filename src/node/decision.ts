// Owns what is said of a contract after it decided: its counts, and when to come again. Leaves deciding to the gate, the forecast
// to limiter/forecast.ts, the HTTP fields to rate-limit-fields.ts.

import type { Contract } from '../host/contract.js';
import { retryAfterCycles } from '../limiter/forecast.js';

/** What `DecisionShape` describes. Every field is always set, and undefined where JSON leaves it out: one hidden class for all. */
export interface Decision {
  readonly id: string;
  readonly state: string;
  readonly count: number;
  readonly threshold: number | undefined;
  readonly remaining: number | undefined;
  readonly admitted: number;
  readonly limited: number;
  readonly retry_after_cycles: number | undefined;
}

/**
 * What is said of a contract that has decided `n` events of a kind.
 * @param kind index into `plan.kinds`
 */
export function decisionOf(contract: Contract, kind: number, n: number, admitted: number): Decision {
  const { gate, plan } = contract;
  const aggregate = plan.kinds[kind]!.aggregates[0]!;
  const { count } = gate.window(aggregate);
  const threshold = plan.thresholds[aggregate]!;
  const isBounded = threshold !== Number.POSITIVE_INFINITY;
  return {
    id: contract.id,
    state: contract.state,
    count,
    threshold: isBounded ? threshold : undefined,
    remaining: isBounded ? Math.max(0, threshold - count) : undefined,
    admitted,
    limited: n - admitted,
    retry_after_cycles: retryAfterOf(contract, kind),
  };
}

/** As `retryAfterCycles`, without looking ahead where the initial state has room: nearly always. */
export function retryAfterOf({ gate, plan }: Contract, kind: number): number | undefined {
  if (gate.state === plan.initial && gate.admits && gate.remaining > 0) return 0;
  return retryAfterCycles(gate, kind);
}
