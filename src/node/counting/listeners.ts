// Which contracts count an event, under which key, and why an event cannot be counted.
import type { Static } from 'typebox';
import type { EventShape } from '../../api/events.js';
import { limitsFlight } from '../../core/limiter/rule/rule-definition.js';
import { nearest } from '../../core/schema/did-you-mean.js';
import { Failure } from '../../core/schema/failure.js';
import type { Contract } from '../host/contract.js';
import { eventTooOld } from '../host/contract-failures.js';
import type { Host } from '../host/host.js';
import type { Machine } from '../host/machine.js';
import { checkKey, keyNameOf, nameOf } from '../keyed.js';
import { contractOf } from '../ownership.js';
import type { DecisionRequest } from './decision.js';

export type Event = Static<typeof EventShape>;

type Listener = Pick<DecisionRequest, 'contract' | 'kind'>;

/** @throws Failure `contract_not_found`, `contract_failed` (all have stopped), `unknown_event_type` */
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

/** @throws Failure for a key that does not fit, and for more events than can be decided at once */
export function askedBy(
  machine: Machine,
  listeners: readonly Listener[],
  n: number,
  key: string | undefined,
): DecisionRequest[] {
  checkKey(listeners, key);
  refuseTooMany(listeners, n);
  return listeners.map(({ contract, kind }) => ({ machine, contract, kind, n, name: nameOf(contract, key) }));
}

const REQUEST = 'request';

/** @throws Failure `unknown_event_type`, `key_missing`, `invalid_input` */
export function askedOfGate(
  machine: Machine,
  contract: Contract,
  n: number,
  key: string | undefined,
  peek = false,
): DecisionRequest {
  const kind = contract.listensTo(REQUEST);
  if (kind < 0) throw noGate(contract);
  const asked = { machine, contract, kind, n, name: keyNameOf(contract, key), peek };
  if (n > MOST_AT_ONCE) refusePlaces(contract, n);
  return asked;
}

function refusePlaces({ plans }: Contract, n: number): void {
  if (!plans.some(({ rule }) => rule !== undefined && limitsFlight(rule.definition))) return;
  throw new Failure('invalid_input', {
    what: `The request of cost ${n} was not counted.`,
    why: `A rule here limits what is in flight, and a request may take up to ${MOST_AT_ONCE} places.`,
    fix: 'Ask for fewer.',
    faults: [{ path: '/n', message: `must be at most ${MOST_AT_ONCE} for a contract that limits what is in flight` }],
  });
}

function noGate({ id, plan }: Contract): Failure {
  const known = plan.kinds.map(({ event }) => event).join(', ') || 'nothing';
  return new Failure('unknown_event_type', {
    what: `The contract ${id} has no gate.`,
    why: `It listens to ${known}, and a gate counts "${REQUEST}".`,
    fix: 'Send its own kind of event to POST …/event.',
  });
}

/** Why these contracts cannot count events of an earlier cycle. @param cycle the running one */
export function whyNotAt(listeners: readonly Listener[], happened: number, cycle: number): Failure | undefined {
  for (const { contract, kind } of listeners) {
    const { plan } = contract;
    const now = Math.max(cycle, contract.cycle);
    if (happened > now) return inFuture(happened, now);
    if (plan.rule !== undefined && happened < now) return decidedSince(contract, happened);
    const within = plan.kinds[kind]!.aggregates.reduce((most, one) => Math.max(most, plan.aggregates[one]!.within), 0);
    if (now - happened >= within) return eventTooOld(contract, happened, now, within);
  }
  return undefined;
}

/** A rule decides events one by one, and others wait meanwhile. */
const MOST_AT_ONCE = 1_000;

function refuseTooMany(listeners: readonly Listener[], n: number): void {
  if (n <= MOST_AT_ONCE || listeners.every(({ contract }) => contract.plan.rule === undefined)) return;
  throw new Failure('invalid_input', {
    what: `The ${n} events were not counted.`,
    why: `A contract here follows a rule, which decides one after the other, and takes up to ${MOST_AT_ONCE} at once.`,
    fix: 'Send them in parts.',
    faults: [{ path: '/count', message: `must be at most ${MOST_AT_ONCE} for a contract with a rule` }],
  });
}

export function isOfOne({ code }: Failure): boolean {
  return code === 'too_many_keys' || code === 'contract_failed' || code === 'memory_low';
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
        : 'Deploy one that does: POST /api/contracts/templates/rate-limiter/deploy for requests, POST /api/chain/{slug}/contracts for others.',
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
