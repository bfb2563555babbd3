// The gate: one request event and its decision, for a gateway that asks at every request.
import type { FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import * as api from '../../api/events.js';
import type { Contract } from '../../host/contract.js';
import type { Machine } from '../../host/machine.js';
import { Failure } from '../../schema/failure.js';
import { cycleOf, secondsIn, secondsUntil } from '../../time/cycle.js';
import { type Decision, decisionOf, retryAfterOf } from '../decision.js';
import { contractOf } from '../ownership.js';
import type { Parts } from '../parts.js';
import { PROBLEM_TYPE } from '../problem.js';
import { type Asked, type Declaration, route } from '../route.js';

type Shapes = typeof api.gate.shapes;

/** How long the rule holds an admitted request, in ms: the gateway waits, the node does not. */
const DELAY = 'weir-delay-ms';

/** The kind of event that a gate counts. */
const REQUEST = 'request';

/** The problem type that is registered for this (RFC 9457, draft-ietf-httpapi-ratelimit-headers). */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

/** The names of the policies that a limited request breaks. */
const VIOLATED = ['default'];

const declaration = {
  auth: 'key_or_session',
  scope: 'gate',
  tier: 'machine',
  domain: 'events',
  errors: ['machine_not_found', 'not_owner', 'contract_not_found', 'unknown_event_type', 'contract_failed'],
  example: { params: { slug: 'edge-gateway', contract_id: '{contract_id}' }, query: {}, status: 200 },
  changes: true,
  hasHead: false,
  isHot: true,
  isGate: true,
  handle: decide,
} as const satisfies Partial<Declaration<Shapes>>;

export const gate = route({
  ...api.gate,
  ...declaration,
  summary: 'Counts one request and decides it: 200 admitted, 429 limited. With ?peek=1 it counts nothing.',
});

export const gateByPost = route({
  ...api.gateByPost,
  ...declaration,
  summary: 'The same for clients that change nothing by GET.',
});

function decide(parts: Parts, request: Asked<Shapes>, reply: FastifyReply): unknown {
  const { slug, contract_id } = request.params;
  const machine = parts.ownership.owned(slug, request.caller);
  const contract = contractOf(parts.host, machine, contract_id);
  const kind = contract.listensTo(REQUEST);
  if (kind < 0) throw countsNoRequests(contract);
  const nowMs = parts.clock.now();
  const cycle = cycleOf(nowMs, parts.clock.cycleMs);
  if (parts.work.isFree(machine, nowMs)) return decideAt(parts, request, reply, machine, contract, kind, nowMs, cycle);
  const work = function* (at: number) {
    yield 1;
    return decideAt(parts, request, reply, machine, contract, kind, nowMs, at);
  };
  return parts.work.of(machine, work);
}

function decideAt(
  parts: Parts,
  request: Asked<Shapes>,
  reply: FastifyReply,
  machine: Machine,
  contract: Contract,
  kind: number,
  nowMs: number,
  cycle: number,
): unknown {
  const { peek } = request.query as Static<Shapes['querystring']>;
  const decision = peek === true ? foreseen(contract, kind, cycle) : taken(parts, contract, kind, cycle);
  // Taken down now: while the answer waits for the disk, the contract may go on to the next cycle.
  const decided = contract.gate.cycle;
  const fields = fieldsOf(contract, kind, decision, nowMs, parts.clock.cycleMs);
  const durable = parts.durability.ofCounts(machine, parts.clock.cycle());
  if (durable === undefined) return answer(reply, decision, decided, fields);
  return durable.then(() => answer(reply, decision, decided, fields));
}

function taken({ counts }: Parts, contract: Contract, kind: number, cycle: number): Decision {
  const admitted = contract.decide(1, cycle, kind);
  counts.admitted += admitted;
  counts.limited += 1 - admitted;
  return decisionOf(contract, kind, 1, admitted);
}

function foreseen(contract: Contract, kind: number, cycle: number): Decision {
  contract.advance(cycle);
  return decisionOf(contract, kind, 1, retryAfterOf(contract, kind) === 0 ? 1 : 0);
}

// Written out field by field, twice: with rest and spread, this took longer than counting and deciding together.
function answer(
  reply: FastifyReply,
  decision: Decision,
  cycle: number,
  { policy, rateLimit, retryAfter }: RateLimitFields,
): unknown {
  const { id, state, count, threshold, remaining, retry_after_cycles, retry_after_ms, delay_ms } = decision;
  if (policy !== undefined) reply.header('ratelimit-policy', policy).header('ratelimit', rateLimit);
  if (decision.admitted === 1) {
    if (delay_ms !== undefined && delay_ms > 0) reply.header(DELAY, delay_ms);
    const kept = { ok: true, cycle, decision: 'admitted', id, state, count, threshold, remaining, retry_after_cycles };
    return delay_ms === undefined ? kept : { ...kept, retry_after_ms, delay_ms };
  }
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  return reply
    .code(429)
    .header('content-type', PROBLEM_TYPE)
    .send({
      ok: false,
      type: QUOTA_EXCEEDED,
      title: 'Request cannot be satisfied as assigned quota has been exceeded',
      status: 429,
      detail: wordsFor(decision),
      code: 'too_many_requests',
      cycle,
      decision: 'limited',
      id,
      state,
      count,
      threshold,
      remaining,
      retry_after_cycles,
      retry_after_ms,
      'violated-policies': VIOLATED,
    });
}

function wordsFor({ state, count, threshold, retry_after_cycles: after, retry_after_ms: ms }: Decision): string {
  const time = ms === undefined ? `${after} cycles` : `${ms} ms`;
  const again =
    after === undefined
      ? 'None will be admitted by waiting.'
      : `A request is admitted in ${time} if nothing else arrives.`;
  if (ms !== undefined || threshold === undefined) return `The contract is ${state}: its rule refuses. ${again}`;
  return `The contract is ${state}: its window holds ${count} requests, and the threshold is ${threshold}. ${again}`;
}

function countsNoRequests({ id, plan }: Contract): Failure {
  return new Failure('unknown_event_type', {
    what: `The contract ${id} has no gate.`,
    why: `It listens to ${plan.kinds.map(({ event }) => event).join(', ') || 'nothing'}, and a gate counts "${REQUEST}".`,
    fix: 'Send its own kind of event to POST …/event.',
  });
}

/** What is written beside a decision. */
interface RateLimitFields {
  /** Absent for a contract without a threshold. */
  readonly policy: string | undefined;
  readonly rateLimit: string | undefined;
  /** Seconds, rounded up: who waits this long and is alone is admitted. 0 for now, undefined for never. */
  readonly retryAfter: number | undefined;
}

/**
 * The fields by which a client learns how much it may send, and when again (draft-ietf-httpapi-ratelimit-headers).
 *
 *   RateLimit-Policy: "default";q=100;w=47     quota of a window, and its length in seconds
 *   RateLimit: "default";r=12;t=0              what remains, and in how many seconds one more would be admitted
 *
 * @param kind index into `plan.kinds`
 * @param nowMs unix ms
 */
function fieldsOf(
  { gate, plan }: Contract,
  kind: number,
  { threshold, remaining, retry_after_cycles: after, retry_after_ms: againMs }: Decision,
  nowMs: number,
  cycleMs: number,
): RateLimitFields {
  const { rule } = plan;
  const retryAfter =
    rule !== undefined
      ? againMs && Math.ceil(againMs / 1000)
      : after === undefined || after === 0
        ? after
        : secondsUntil(gate.cycle + after, nowMs, cycleMs);
  if (remaining === undefined) return { policy: undefined, rateLimit: undefined, retryAfter };
  const { within } = plan.aggregates[plan.kinds[kind]!.aggregates[0]!]!;
  const window = rule === undefined ? secondsIn(within, cycleMs) : Math.max(1, Math.ceil(rule.spanMs / 1000));
  return {
    policy: `"default";q=${threshold};w=${window}`,
    rateLimit: `"default";r=${remaining}${retryAfter === undefined ? '' : `;t=${retryAfter}`}`,
    retryAfter,
  };
}
