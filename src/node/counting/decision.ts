// What is said of a decision: the state and count behind it, what is left, and when to come again.
import type { Contract } from '../../host/contract.js';
import type { KeyState } from '../../host/keys.js';
import type { Machine } from '../../host/machine.js';
import { admissionMs, cyclesUntil } from '../../limiter/forecast.js';
import type { Gate } from '../../limiter/gate.js';

export interface Asked {
  readonly machine: Machine;
  readonly contract: Contract;
  /** Index into `plan.kinds`. */
  readonly kind: number;
  readonly n: number;
  /** Of their key, by `Contract.nameOf`; undefined for a contract without keys. */
  readonly name: string | undefined;
}

/** What `DecisionShape` describes. Every field is always set, and undefined where JSON leaves it out: one hidden class for all. */
export interface Decision {
  readonly id: string;
  /** As the record names it; undefined for a contract without keys. */
  readonly key: string | undefined;
  readonly state: string;
  readonly count: number;
  readonly threshold: number | undefined;
  readonly remaining: number | undefined;
  readonly admitted: number;
  readonly limited: number;
  readonly would_limit: boolean | undefined;
  readonly retry_after_cycles: number | undefined;
  readonly retry_after_ms: number | undefined;
  readonly delay_ms: number | undefined;
  readonly away?: undefined;
}

/** Admitted while the store is away, by a contract that is open then. */
export interface Uncounted {
  readonly id: string;
  readonly key: string | undefined;
  readonly admitted: number;
  readonly limited: 0;
  readonly retry_after_cycles: 0;
  readonly away: true;
}

/**
 * What is said once `admitted` of the requests were admitted.
 * @param standing of the contract, or of the key, after that
 * @param cost of the request for which it says when it would be admitted
 */
export function decisionOf(
  { contract, kind, n, name }: Pick<Asked, 'contract' | 'kind' | 'n' | 'name'>,
  admitted: number,
  { stateIndex, count: all, gate }: KeyState,
  cost = 1,
): Decision {
  const { id, plan } = contract;
  const state = plan.states[stateIndex]!;
  const aggregate = plan.kinds[kind]!.aggregates[0]!;
  const threshold = plan.thresholds[aggregate]!;
  const isBounded = threshold !== Number.POSITIVE_INFINITY;
  const isByRule = plan.rule !== undefined;
  const count = aggregate === 0 ? all : gate.gauges[aggregate]!.level;
  const remaining = isByRule ? gate.remaining : Math.max(0, threshold - count);
  const mayShow = plan.aggregates.length === 1 && stateIndex === plan.initial && state.admits;
  // A rule that has room for n of cost 1 may have none for one of cost n.
  const hasRoom = mayShow && remaining >= cost && (cost === 1 || !isByRule);
  const againMs = hasRoom ? 0 : againMsOf(gate, kind, cost);
  return {
    id,
    key: name ?? contract.key,
    state: state.name,
    count,
    threshold: isBounded ? threshold : undefined,
    remaining: isBounded ? remaining : undefined,
    admitted,
    limited: n - admitted,
    would_limit: plan.isShadow ? !state.admits : undefined,
    retry_after_cycles: hasRoom ? 0 : cyclesUntil(gate, againMs),
    retry_after_ms: isByRule && againMs !== undefined ? msUntil(gate, againMs) : undefined,
    delay_ms: isByRule && admitted > 0 ? Math.round(contract.delayMs * 1000) / 1000 : undefined,
  };
}

/** As `decisionOf`, for a gate: when one of the same cost would be admitted. */
export function gateDecisionOf(asked: Asked, admitted: number, cycle: number): Decision {
  return decisionOf(asked, admitted, asked.contract.stateOf(asked.name, cycle), asked.n);
}

/** Nothing is counted. */
export function foreseen(asked: Asked, cycle: number): Decision {
  const { contract, n } = asked;
  contract.advance(cycle);
  const decision = gateDecisionOf(asked, n, cycle);
  const fits = decision.retry_after_cycles === 0;
  if (contract.plan.isShadow) return { ...decision, would_limit: !fits };
  return fits ? decision : { ...decision, admitted: 0, limited: n };
}

function msUntil({ nowMs }: Gate, ms: number): number {
  return Math.max(0, Math.ceil((ms - nowMs) * 1000) / 1000);
}

/** As `admissionMs`, without looking ahead where the initial state has room: nearly always. */
function againMsOf(gate: Gate, kind: number, cost = 1): number | undefined {
  const hasRoom = cost === 1 && gate.state === gate.plan.initial && gate.admits && gate.remaining > 0;
  return hasRoom ? gate.nowMs : admissionMs(gate, kind, cost);
}

export function retryAfterOf(gate: Gate, kind: number): number | undefined {
  return cyclesUntil(gate, againMsOf(gate, kind));
}
