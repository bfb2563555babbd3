// Events on their way to contracts: who listens, whether an earlier cycle can still be counted, and what the decision looks like.
import type { Contract } from '../host/contract.js';
import type { Host } from '../host/host.js';
import { KeyedContract } from '../host/keyed-contract.js';
import type { Machine } from '../host/machine.js';
import { admissionMs, cyclesUntil } from '../limiter/forecast.js';
import type { Gate } from '../limiter/gate.js';
import type { Steps } from '../limiter/plan.js';
import { nearest } from '../schema/did-you-mean.js';
import { Failure } from '../schema/failure.js';
import { costSince } from './machine-work.js';
import { contractOf } from './ownership.js';

/** A contract, and the index of the kind of event in its plan. */
export interface Listener {
  readonly contract: Contract;
  readonly kind: number;
}

/**
 * The contracts that count events of a kind: one, or all of the machine that listen and have not stopped.
 * @throws Failure `contract_not_found`, `contract_failed` (all have stopped), `unknown_event_type`
 */
export function listenersOf(host: Host, machine: Machine, event: string, contractId?: string): Listener[] {
  const asked = contractId === undefined ? machine.contracts : [contractOf(host, machine, contractId)];
  const listeners: Listener[] = [];
  let stopped: Failure | undefined;
  for (const contract of asked) {
    const kind = contract.listensTo(event);
    if (kind < 0) continue;
    if (contract.failure === undefined) listeners.push({ contract, kind });
    else stopped = contract.failure;
  }
  if (listeners.length > 0) return listeners;
  throw stopped ?? nobodyListens(asked, event);
}

/**
 * Why events of an earlier cycle cannot be counted by all of these; undefined when they can.
 * @param cycle the running one
 */
export function whyNotAt(listeners: readonly Listener[], happened: number, cycle: number): Failure | undefined {
  for (const { contract, kind } of listeners) {
    const { gate, plan } = contract;
    const now = Math.max(cycle, gate.cycle);
    if (happened > now) return inFuture(happened, now);
    if (plan.rule !== undefined && happened < now) return decidedSince(contract, happened);
    const within = plan.kinds[kind]!.aggregates.reduce((most, one) => Math.max(most, plan.aggregates[one]!.within), 0);
    if (now - happened >= within) return tooOld(contract, happened, now - within + 1);
  }
  return undefined;
}

/**
 * Counts `n` events.
 * @param happened the cycle they bear, for which `whyNotAt` found nothing; undefined for the running one
 * @param name of the key, by `nameOf`
 * @returns how many were admitted
 */
export function countEvents(
  host: Host,
  { contract, kind }: Listener,
  n: number,
  cycle: number,
  happened?: number,
  name?: string,
): number {
  if (name !== undefined && contract instanceof KeyedContract) {
    if (happened === undefined) return contract.decideKey(name, n, cycle, kind);
    return contract.asKey(name, cycle, (one) => host.decideAt(one, n, happened, kind));
  }
  return happened === undefined ? contract.decide(n, cycle, kind) : host.decideAt(contract, n, happened, kind);
}

/** Events that a rule decides for the cost of a unit: it decides them one by one. */
const DECISIONS_A_UNIT = 16;

/** As `countEvents`, in steps with at most one transition each. Counting events together or one by one makes no difference. */
export function* countInSteps(
  host: Host,
  machine: Machine,
  listener: Listener,
  n: number,
  cycle: number,
  happened?: number,
  name?: string,
): Steps<number> {
  const { contract, kind } = listener;
  if (name !== undefined && contract instanceof KeyedContract) {
    const quiet = happened === undefined ? contract.decideQuietly(name, n, cycle) : -1;
    if (quiet >= 0) return quiet;
    const one = contract.wakeKey(name, cycle);
    try {
      return yield* countInSteps(host, machine, { contract: one, kind }, n, cycle, happened);
    } finally {
      contract.settle(one);
    }
  }
  let admitted = 0;
  for (let left = n; left > 0; ) {
    const { seq } = machine.head;
    if (left > 1) contract.advance(cycle);
    const step = contract.gate.stepOf(left, kind);
    admitted += countEvents(host, listener, step, cycle, happened);
    left -= step;
    yield costSince(machine, seq) + (contract.plan.rule === undefined ? 0 : step / DECISIONS_A_UNIT);
  }
  return admitted;
}

function nobodyListens(asked: readonly Contract[], event: string): Failure {
  const known = [...new Set(asked.flatMap(({ plan }) => plan.kinds.map((kind) => kind.event)))];
  const guess = nearest(event, known);
  return new Failure('unknown_event_type', {
    what: `Nothing counted the event of type "${event}".`,
    why: known.length === 0 ? 'No contract here counts events.' : `The contracts here listen to: ${known.join(', ')}.`,
    fix:
      guess !== undefined
        ? `Did you mean "${guess}"?`
        : 'Deploy a contract that listens to it, for example with POST /api/contracts/templates/rate-limiter/deploy.',
  });
}

export function inFuture(happened: number, now: number): Failure {
  return new Failure('event_in_future', {
    what: `The event of cycle ${happened} was not counted.`,
    why: `It is now cycle ${now}.`,
    fix: 'Read GET /api/clock, and send the event once its cycle has come.',
  });
}

function decidedSince({ id, plan }: Contract, happened: number): Failure {
  return new Failure('event_too_old', {
    what: `The event of cycle ${happened} was not counted.`,
    why: `The contract ${id} follows a rule (${plan.rule?.definition.primitive}), which decides requests in the order in which they come.`,
    fix: 'Send events as they happen, or name a contract that counts over a window in `contract_id`.',
  });
}

/** A rule decides requests one by one, and others wait meanwhile. */
const MOST_AT_ONCE = 1_000;

/** Why so many events cannot be counted at once by all of these; undefined when they can. */
export function whyNotSoMany(listeners: readonly Listener[], n: number): Failure | undefined {
  if (n <= MOST_AT_ONCE || listeners.every(({ contract }) => contract.plan.rule === undefined)) return undefined;
  return new Failure('invalid_input', {
    what: `The ${n} events were not counted.`,
    why: `A contract here follows a rule, which decides one after the other, and takes up to ${MOST_AT_ONCE} at once.`,
    fix: 'Send them in parts.',
    faults: [{ path: '/count', message: `must be at most ${MOST_AT_ONCE} for a contract with a rule` }],
  });
}

export function tooOld(contract: Contract, happened: number, first: number): Failure {
  return new Failure('event_too_old', {
    what: `The event of cycle ${happened} was not counted.`,
    why: `The window of contract ${contract.id} reaches back to cycle ${first}.`,
    fix: 'Send what was batched before it is older than the window, or name a contract with a longer one in `contract_id`.',
  });
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
}

/**
 * What is said of a contract that has decided `n` events of a kind.
 * @param kind index into `plan.kinds`
 * @param name of the key that has decided them, by `nameOf`
 * @param cycle of the key, where it has not decided in the running one
 */
export function decisionOf(
  contract: Contract,
  kind: number,
  n: number,
  admitted: number,
  name?: string,
  cycle = 0,
): Decision {
  const isOfKey = name !== undefined && contract instanceof KeyedContract;
  // A key that is asleep has no gate: one is made where the future is asked for, seldom.
  const view = isOfKey ? contract.viewOf(name, cycle) : contract;
  const { id, plan } = contract;
  const state = plan.states[view.stateIndex]!;
  const aggregate = plan.kinds[kind]!.aggregates[0]!;
  const threshold = plan.thresholds[aggregate]!;
  const isBounded = threshold !== Number.POSITIVE_INFINITY;
  const isByRule = plan.rule !== undefined;
  const count = aggregate === 0 ? view.count : view.gate.gauges[aggregate]!.level;
  const remaining = isByRule ? view.gate.remaining : Math.max(0, threshold - count);
  const hasRoom = plan.aggregates.length === 1 && view.stateIndex === plan.initial && state.admits && remaining > 0;
  const againMs = hasRoom ? 0 : againMsOf(view.gate, kind);
  return {
    id,
    key: isOfKey ? name : contract.key,
    state: state.name,
    count,
    threshold: isBounded ? threshold : undefined,
    remaining: isBounded ? remaining : undefined,
    admitted,
    limited: n - admitted,
    would_limit: plan.isShadow ? !state.admits : undefined,
    retry_after_cycles: hasRoom ? 0 : cyclesUntil(view.gate, againMs),
    retry_after_ms: isByRule && againMs !== undefined ? msUntil(view.gate, againMs) : undefined,
    delay_ms: isByRule && admitted > 0 ? Math.round(view.gate.delayMs * 1000) / 1000 : undefined,
  };
}

function msUntil({ nowMs }: Gate, ms: number): number {
  return Math.max(0, Math.ceil((ms - nowMs) * 1000) / 1000);
}

/** Cells of a window that are looked at for the cost of a unit. */
const CELLS_A_UNIT = 512;

/** What a decision cost to make, in units: its forecast looks at the windows from the cycle that leaves next to the one that admits. */
export function costOf({ plan }: Contract, { retry_after_cycles: after = Number.POSITIVE_INFINITY }: Decision): number {
  return plan.aggregates.reduce((sum, { within }) => sum + Math.min(within, after), 0) / CELLS_A_UNIT;
}

/** The kind of event that a gate counts. */
const REQUEST = 'request';

/** Index of the kind of event that a gate counts. @throws Failure `unknown_event_type` */
export function gateOf(contract: Contract): number {
  const kind = contract.listensTo(REQUEST);
  if (kind >= 0) return kind;
  const known = contract.plan.kinds.map(({ event }) => event).join(', ') || 'nothing';
  throw new Failure('unknown_event_type', {
    what: `The contract ${contract.id} has no gate.`,
    why: `It listens to ${known}, and a gate counts "${REQUEST}".`,
    fix: 'Send its own kind of event to POST …/event.',
  });
}

/** As `admissionMs`, without looking ahead where the initial state has room: nearly always. */
function againMsOf(gate: Gate, kind: number): number | undefined {
  const hasRoom = gate.state === gate.plan.initial && gate.admits && gate.remaining > 0;
  return hasRoom ? gate.nowMs : admissionMs(gate, kind);
}

/** As `retryAfterCycles`, by `againMsOf`. */
export function retryAfterOf(gate: Gate, kind: number): number | undefined {
  return cyclesUntil(gate, againMsOf(gate, kind));
}
