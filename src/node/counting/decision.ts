// The content of a decision: state, count, what is left, and when to retry.
import { admissionMs, cyclesUntil } from '../../core/limiter/forecast.js';
import type { Gate } from '../../core/limiter/gate.js';
import type { Contract } from '../host/contract.js';
import type { Machine } from '../host/machine.js';

export interface DecisionRequest {
  readonly machine: Machine;
  readonly contract: Contract;
  /** Index into `plan.kinds`. */
  readonly kind: number;
  readonly n: number;
  /** By `Contract.nameOf`; undefined for a contract without keys. */
  readonly name: string | undefined;
  /** Counts nothing, and shows how it would be decided. Default: false. */
  readonly peek?: boolean;
}

/** As `DecisionShape`. Every field is always set, so that all have one hidden class; JSON omits undefined ones. */
export interface Decision {
  readonly id: string;
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

/** Admitted by a contract that is open while the store is away. */
export interface Uncounted {
  readonly id: string;
  readonly key: string | undefined;
  readonly admitted: number;
  readonly limited: 0;
  readonly retry_after_cycles: 0;
  readonly away: true;
}

/** @param gate after the decision @param cost of the request whose retry time is given */
export function decisionOf(
  { contract, kind, n, name }: Pick<DecisionRequest, 'contract' | 'kind' | 'n' | 'name'>,
  admitted: number,
  gate: Gate,
  cost = 1,
): Decision {
  const { id, plan } = contract;
  const state = plan.states[gate.state]!;
  const aggregate = plan.kinds[kind]!.aggregates[0]!;
  const threshold = plan.thresholds[aggregate]!;
  const isBounded = threshold !== Number.POSITIVE_INFINITY;
  const isByRule = plan.rule !== undefined;
  const count = gate.countOf(aggregate);
  const remaining = isByRule ? gate.remaining : Math.max(0, threshold - count);
  const mayShow = plan.aggregates.length === 1 && gate.state === plan.initial && state.admits;
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
    retry_after_ms:
      isByRule && againMs !== undefined ? Math.max(0, Math.ceil((againMs - gate.nowMs) * 1000) / 1000) : undefined,
    delay_ms: isByRule && admitted > 0 ? Math.round(contract.delayMs * 1000) / 1000 : undefined,
  };
}

export function keyShown(contract: Contract, key: string, now: Gate) {
  const none = { contract, kind: 0, n: 0, name: key };
  const { state, count, remaining, retry_after_cycles } = decisionOf(none, 0, now);
  return { key, state, count, remaining, retry_after_cycles };
}

export function gateDecisionOf(asked: DecisionRequest, admitted: number, cycle: number): Decision {
  return decisionOf(asked, admitted, asked.contract.gateOf(asked.name, cycle), asked.n);
}

export function foreseen(asked: DecisionRequest, cycle: number): Decision {
  const { contract, n } = asked;
  contract.advance(cycle);
  const decision = gateDecisionOf(asked, n, cycle);
  const fits = decision.retry_after_cycles === 0;
  if (contract.plan.isShadow) return { ...decision, would_limit: !fits };
  return fits ? decision : { ...decision, admitted: 0, limited: n };
}

/** As `admissionMs`, but shortcut if the initial state has room: nearly always. */
function againMsOf(gate: Gate, kind: number, cost = 1): number | undefined {
  const hasRoom = cost === 1 && gate.state === gate.plan.initial && gate.admits && gate.remaining > 0;
  return hasRoom ? gate.nowMs : admissionMs(gate, kind, cost);
}

export function retryAfterOf(gate: Gate): number | undefined {
  return cyclesUntil(gate, againMsOf(gate, 0));
}
