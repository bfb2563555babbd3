// Decisions of the contracts in this process: at once for one, in steps for several.
import { windowCycles } from '../../../core/limiter/plan.js';
import { Failure } from '../../../core/schema/failure.js';
import { PAUSE } from '../../caller-queue.js';
import type { Host } from '../../host/host.js';
import type { Machine } from '../../host/machine.js';
import type { Steps } from '../../host/steps.js';
import { claimPlaces } from '../../keyed.js';
import type { DecisionResult, EventAnswer, EventsAnswer } from '../counting.js';
import { type Decision, type DecisionRequest, decisionOf, foreseen, gateDecisionOf } from '../decision.js';
import { eventsAnswer, eventsIn, failureOfEvent } from '../events.js';
import { askedBy, type Event, isOfOne, listenersOf, whyNotAt } from '../listeners.js';

export function decideNow(asked: DecisionRequest, cycle: number, nowMs: number): DecisionResult {
  const { contract, n, kind, name, peek } = asked;
  try {
    if (peek) return timed(asked, foreseen(asked, cycle), nowMs);
    return timed(asked, gateDecisionOf(asked, contract.decide(n, cycle, kind, name, true), cycle), nowMs);
  } catch (error) {
    return ofOne(error);
  }
}

export function* decideInSteps(asked: DecisionRequest, cycle: number, nowMs: number): Steps<DecisionResult> {
  if (needsLongForecast(asked)) yield PAUSE;
  if (isOneStep(asked)) return decideNow(asked, cycle, nowMs);
  try {
    return timed(asked, gateDecisionOf(asked, yield* countInSteps(asked, cycle), cycle), nowMs);
  } catch (error) {
    return ofOne(error);
  }
}

function timed({ contract }: DecisionRequest, decision: Decision, nowMs: number): DecisionResult {
  return { decision, cycle: contract.cycle, nowMs };
}

/** A rule, also that of a candidate, charges the whole cost at once; a window counts as many events. */
export function isOneStep({ n, contract, peek }: DecisionRequest): boolean {
  return n === 1 || peek === true || (n > 1 && contract.plans.some(({ rule }) => rule !== undefined));
}

/** @throws Failure as `Counting.event` */
export function* countEvent(host: Host, machine: Machine, event: Event, cycle: number): Steps<EventAnswer> {
  const { type, count: n = 1, cycle: happened, contract_id, key } = event;
  const listeners = listenersOf(host, machine, type, contract_id);
  const asked = askedBy(machine, listeners, n, key);
  const failure = happened === undefined ? undefined : whyNotAt(listeners, happened, cycle);
  if (failure !== undefined) throw failure;
  claimPlaces(listeners, key, cycle);
  const contracts: Decision[] = [];
  for (const one of asked) {
    if (contracts.length > 0) yield;
    try {
      const admitted = n === 1 ? countIn(one, 1, cycle, happened) : yield* countInSteps(one, cycle, happened);
      contracts.push(decisionOf(one, admitted, one.contract.gateOf(one.name, 0)));
    } catch (error) {
      // A contract that stops at this event does not take it from the others.
      if (error instanceof Failure && error.code === 'contract_failed' && contracts.length > 0) continue;
      throw error;
    }
  }
  return { ok: true, cycle, contracts };
}

/** @throws Failure `store_failed`, `disk_full` */
export function* countEvents(
  host: Host,
  machine: Machine,
  values: readonly unknown[],
  cycle: number,
): Steps<EventsAnswer> {
  const outcomes: (EventAnswer | Failure)[] = [];
  for (const event of yield* eventsIn(values)) {
    try {
      outcomes.push(event instanceof Failure ? event : yield* countEvent(host, machine, event, cycle));
    } catch (error) {
      outcomes.push(failureOfEvent(error));
    }
    yield;
  }
  return eventsAnswer(outcomes);
}

/** @param happened an earlier cycle, accepted by `whyNotAt` @returns how many were admitted */
export function countIn(
  { contract, kind, name }: DecisionRequest,
  n: number,
  cycle: number,
  happened?: number,
): number {
  if (happened === undefined) return contract.decide(n, cycle, kind, name);
  const now = Math.max(cycle, contract.cycle);
  return happened === now ? contract.decide(n, now, kind, name) : contract.decideLate(n, happened, now, kind, name);
}

/** As `countIn`, in steps with at most one transition each. The result is the same as one by one. */
export function* countInSteps(asked: DecisionRequest, cycle: number, happened?: number): Steps<number> {
  const { contract, kind, n, name } = asked;
  let admitted = 0;
  for (let left = n; left > 0; ) {
    if (left < n) yield;
    const step = contract.stepOf(left, cycle, kind, name);
    admitted += countIn(asked, step, cycle, happened);
    left -= step;
  }
  return admitted;
}

/** Cells that a forecast reads in some 0.1 ms. */
const NEAR = 40_000;

/** Whether the retry time may need a forecast over a long window, which takes a turn of its own. */
export function needsLongForecast({ contract, n }: DecisionRequest): boolean {
  if (windowCycles(contract.plan) <= NEAR) return false;
  if (contract.keys !== undefined) return n > 1 || contract.keys.limited > 0;
  return !contract.gate.admits || contract.gate.remaining <= n;
}

function ofOne(error: unknown): Failure {
  if (error instanceof Failure && isOfOne(error)) return error;
  throw error;
}
