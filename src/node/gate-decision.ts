// What a gate says beyond a decision: of requests that only look, and of several at once.
import type { Contract } from '../host/contract.js';
import { KeyedContract } from '../host/keyed-contract.js';
import { type Decision, decisionOf } from './decision.js';

/** What would be decided on n requests, of which none is counted. */
export function foreseen(
  contract: Contract,
  kind: number,
  n: number,
  name: string | undefined,
  cycle: number,
): Decision {
  contract.advance(cycle);
  const looked = decisionOf(contract, kind, n, n, name, cycle);
  const decision = n === 1 ? looked : ofSeveral(standing(contract, name, cycle), kind, n, looked);
  const { retry_after_cycles: after, remaining = n } = decision;
  const fits = after === 0 && (n === 1 || n <= remaining);
  if (contract.plan.isShadow) return { ...decision, would_limit: !fits };
  return fits ? decision : { ...decision, admitted: 0, limited: n };
}

/** The gate that decides: of the contract, or of one key. */
export function standing(contract: Contract, name: string | undefined, cycle: number): Pick<Contract, 'gate' | 'plan'> {
  if (name === undefined || !(contract instanceof KeyedContract)) return contract;
  return { gate: contract.viewOf(name, cycle).gate, plan: contract.plan };
}

/** When all of n requests will be admitted; for a rule, when one will. */
export function ofSeveral(
  { gate, plan }: Pick<Contract, 'gate' | 'plan'>,
  kind: number,
  n: number,
  decision: Decision,
): Decision {
  let { retry_after_cycles: after } = decision;
  if (plan.rule !== undefined) return decision;
  for (const aggregate of plan.kinds[kind]!.aggregates) {
    const room = plan.thresholds[aggregate]! - n;
    if (room === Number.POSITIVE_INFINITY || after === undefined) continue;
    after = room < 0 ? undefined : Math.max(after, gate.cyclesUntilAtMost(room, aggregate));
  }
  return { ...decision, retry_after_cycles: after };
}
