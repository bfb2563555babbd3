// Routes of events: POST …/event, GET …/stream.
import type { FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import * as api from '../../api/events.js';
import type { Machine } from '../../host/machine.js';
import type { Steps } from '../../limiter/plan.js';
import { Failure } from '../../schema/failure.js';
import { costOf, countInSteps, type Decision, decisionOf, listenersOf, whyNotAt, whyNotSoMany } from '../decision.js';
import { markAway } from '../gate-answer.js';
import { onceOnly, Replayed } from '../idempotency.js';
import { checkKey, claimPlaces, nameOf } from '../keyed.js';
import { arrayLast, JSON_TYPE, JsonItems } from '../long-answer.js';
import type { Network } from '../network/network.js';
import { askedOf } from '../network/plain-counting.js';
import { contractOf } from '../ownership.js';
import type { Parts } from '../parts.js';
import { addressPool, sourceOf } from '../request-source.js';
import { route } from '../route.js';

export const countOne = route({
  ...api.countOne,
  auth: 'key_or_session',
  scope: 'event',
  tier: 'machine',
  domain: 'events',
  summary:
    'Counts an event in every contract of the machine that listens to its kind, or in one of them, and answers with the decisions.',
  errors: [
    'machine_not_found',
    'not_owner',
    'contract_not_found',
    'unknown_event_type',
    'invalid_input',
    'idempotency_key_reused',
    'too_many_requests',
    'event_too_old',
    'event_in_future',
    'contract_failed',
    'key_missing',
    'too_many_keys',
  ],
  example: { params: { slug: 'edge-gateway' }, body: { type: 'request' }, status: 200 },
  isHot: true,
  handle(parts, request, reply) {
    const machine = parts.ownership.owned(request.params.slug, request.caller);
    const once = onceOnly(request.headers['idempotency-key'], ['event', request.body]);
    const answered = (given: object) => {
      const answer = given instanceof Replayed ? given.sentBy(reply) : given;
      if (answer instanceof Buffer) reply.header('content-type', JSON_TYPE);
      return parts.durability.afterCounts(machine, () => answer);
    };
    const { network } = parts;
    if (network !== undefined)
      return network.once(machine, once, () => countOver(parts, network, machine, request.body, reply)).then(answered);
    const { type, contract_id } = request.body;
    const counted = () => listenersOf(parts.host, machine, type, contract_id).map(({ contract }) => contract);
    const answer = parts.work.of(machine, (cycle) =>
      parts.idempotency.once(machine, once, cycle, () => countOn(parts, machine, request.body, cycle), counted),
    );
    return answer instanceof Promise ? answer.then(answered) : answered(answer);
  },
});

/** As `countOn`, by a network of nodes. */
async function countOver(
  { host, counts }: Parts,
  network: Network,
  machine: Machine,
  { type, count = 1, cycle: happened, contract_id, key }: Static<typeof api.EventShape>,
  reply: FastifyReply,
): Promise<object> {
  const outcomes = await network.decideEvent(machine, () => {
    const listeners = listenersOf(host, machine, type, contract_id);
    return askedOf(listeners, count, key, happened, happened !== undefined);
  });
  const contracts = outcomes.flatMap((outcome) => (outcome instanceof Failure ? [] : [outcome]));
  const failed = outcomes.find((outcome) => outcome instanceof Failure);
  if (failed instanceof Failure && contracts.length === 0) throw failed;
  for (const { decision } of contracts) {
    if ('away' in decision) {
      counts.away += count;
      markAway(reply);
    } else counts.decided(count, decision.admitted);
  }
  return { ok: true, cycle: contracts[0]!.cycle, contracts: contracts.map(({ decision }) => decision) };
}

/** Decisions that are written as JSON in one go, and those of a step where there are more. */
const WRITTEN_AT_ONCE = 128;
const WRITTEN_A_STEP = 32;

function* countOn(parts: Parts, machine: Machine, event: Static<typeof api.EventShape>, cycle: number): Steps<object> {
  const { type, count = 1, cycle: happened, contract_id, key } = event;
  const listeners = listenersOf(parts.host, machine, type, contract_id);
  checkKey(listeners, key);
  if (happened !== undefined) {
    const failure = whyNotAt(listeners, happened, cycle);
    if (failure !== undefined) throw failure;
  }
  const tooMany = whyNotSoMany(listeners, count);
  if (tooMany !== undefined) throw tooMany;
  claimPlaces(listeners, key, cycle);
  const contracts: Decision[] = [];
  for (const listener of listeners) {
    let admitted: number;
    const name = nameOf(listener, key);
    try {
      admitted = yield* countInSteps(parts.host, machine, listener, count, cycle, happened, name);
    } catch (error) {
      // A contract that stops at this very event does not take the event from the others.
      if (error instanceof Failure && error.code === 'contract_failed' && contracts.length > 0) continue;
      throw error;
    }
    parts.counts.decided(count, admitted);
    const decision = decisionOf(listener.contract, listener.kind, count, admitted, name);
    contracts.push(decision);
    const cost = costOf(listener.contract, decision);
    if (cost > 0) yield cost;
  }
  if (contracts.length <= WRITTEN_AT_ONCE) return { ok: true, cycle, contracts };
  const json = new JsonItems();
  for (let at = 0; at < contracts.length; at += WRITTEN_A_STEP) {
    json.add(contracts.slice(at, at + WRITTEN_A_STEP).map((decision) => JSON.stringify(decision)));
    yield WRITTEN_A_STEP / 4;
  }
  return arrayLast({ ok: true, cycle }, 'contracts', json);
}

export const openStream = route({
  ...api.openStream,
  auth: 'public_or_owner',
  scope: 'read',
  tier: 'public',
  domain: 'events',
  summary:
    'Streams what happens on a machine as server-sent events: transition, rate_limited, rate_restored, cycle, counts; each a CloudEvents envelope.',
  errors: ['machine_not_found', 'contract_not_found', 'invalid_input', 'too_many_requests', 'node_overloaded'],
  example: { params: { slug: 'edge-gateway' }, query: { last_event_id: '0' }, status: 200 },
  hasHead: false,
  handle({ host, ownership, streams }, request, reply) {
    const { params, query, headers, caller } = request;
    const machine = ownership.visible(params.slug, caller);
    const lastEventId = headers['last-event-id'] ?? query.last_event_id;
    const afterSeq = lastEventId === undefined || lastEventId === '' ? undefined : seqOf(String(lastEventId));
    const ids = new Set(query.counts?.split(',').filter((id) => id !== ''));
    const contracts = [...ids].map((id) => contractOf(host, machine, id));
    const asked = {
      caller,
      source: sourceOf(request),
      pool: caller?.key.network ?? addressPool(request.ip),
      contracts,
      afterCycle: query.after_cycle,
    };
    streams.open(reply.raw, machine, asked, afterSeq);
    reply.hijack();
  },
});

function seqOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Failure('invalid_input', {
    what: 'The stream was not opened.',
    why: `"${text.slice(0, 40)}" is no id of an event.`,
    fix: 'Give the id of the last event that you have, or none.',
    faults: [{ path: '/last_event_id', message: 'must be a whole number' }],
  });
}
