// Owns POST …/event: one event, or several of one kind at once, to whoever listens. Leaves who listens to counting.ts.
import * as api from '../../api/events.js';
import { Failure } from '../../schema/failure.js';
import { countEvents, type Listener, listenersOf, whyNotAt } from '../counting.js';
import { type Decision, decisionOf } from '../decision.js';
import type { Parts } from '../node-context.js';
import { route } from '../route.js';

export const countOne = route({
  ...api.countOne,
  auth: 'key_or_session',
  tier: 'machine',
  domain: 'events',
  summary:
    'Counts an event in every contract of the machine that listens to its kind, or in one of them, and tells the decisions.',
  errors: [
    'machine_not_found',
    'not_owner',
    'contract_not_found',
    'unknown_event_type',
    'event_too_old',
    'event_in_future',
    'contract_failed',
  ],
  example: { params: { slug: 'edge-gateway' }, body: { type: 'request' }, status: 200 },
  isHot: true,
  handle(parts, request) {
    const machine = parts.ownership.owned(request.params.slug, request.caller);
    const { type, count = 1, cycle: happened, contract_id } = request.body;
    const listeners = listenersOf(parts.host, machine, type, contract_id);
    const cycle = parts.clock.cycle();
    if (happened !== undefined) {
      const failure = whyNotAt(listeners, happened, cycle);
      if (failure !== undefined) throw failure;
    }
    const contracts: Decision[] = [];
    for (const listener of listeners) decide(parts, listener, count, cycle, happened, contracts);
    const answer = { ok: true, cycle, contracts };
    const durable = parts.durability.ofCounts(machine, cycle);
    return durable === undefined ? answer : durable.then(() => answer);
  },
});

function decide(
  { host, counts }: Parts,
  listener: Listener,
  n: number,
  cycle: number,
  happened: number | undefined,
  into: Decision[],
): void {
  let admitted: number;
  try {
    admitted = countEvents(host, listener, n, cycle, happened);
  } catch (error) {
    // A contract that stops at this very event does not take the event from the others.
    if (error instanceof Failure && error.code === 'contract_failed' && into.length > 0) return;
    throw error;
  }
  counts.admitted += admitted;
  counts.limited += n - admitted;
  into.push(decisionOf(listener.contract, listener.kind, n, admitted));
}
