// The answer of a gate: the decision as a body, and the header fields for clients and gateways.
import type { FastifyReply } from 'fastify';
import { secondsIn, secondsUntil } from '../core/time/cycle.js';
import type { TimedDecision } from './counting/counting.js';
import type { Decision, DecisionRequest, Uncounted } from './counting/decision.js';
import { PROBLEM_TYPE } from './problem.js';

const DELAY = 'weir-delay-ms';

const SHADOW = 'weir-shadow';

const AWAY = 'weir-away';

/** Registered problem type (RFC 9457, draft-ietf-httpapi-ratelimit-headers). */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

const VIOLATED = ['default'];

// Field by field, twice: rest and spread took longer than counting and deciding together.
/** @param deny status for limited */
export function answer(
  reply: FastifyReply,
  asked: DecisionRequest,
  { decision, cycle, nowMs }: TimedDecision,
  deny: number,
): unknown {
  if (decision.away) return answerUncounted(reply, decision, cycle);
  const { policy, rateLimit, retryAfter } = fieldsOf(asked, decision, cycle, nowMs);
  const { id, key, state, count, threshold, remaining, would_limit, retry_after_cycles, retry_after_ms, delay_ms } =
    decision;
  if (policy !== undefined) reply.header('ratelimit-policy', policy).header('ratelimit', rateLimit);
  if (would_limit !== undefined) reply.header(SHADOW, would_limit ? 'limited' : 'admitted');
  if (decision.limited === 0) {
    if (delay_ms !== undefined && delay_ms > 0) reply.header(DELAY, delay_ms);
    const body = {
      ok: true,
      cycle,
      decision: 'admitted',
      id,
      key,
      state,
      count,
      threshold,
      remaining,
      retry_after_cycles,
    };
    const kept = would_limit === undefined ? body : { ...body, would_limit };
    return delay_ms === undefined ? kept : { ...kept, retry_after_ms, delay_ms };
  }
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  return reply
    .code(deny)
    .header('content-type', PROBLEM_TYPE)
    .send({
      ok: false,
      type: QUOTA_EXCEEDED,
      title: 'Request cannot be satisfied as assigned quota has been exceeded',
      status: deny,
      detail: wordsFor(decision, asked.contract.plan.rule !== undefined, retryAfter),
      code: 'too_many_requests',
      cycle,
      decision: 'limited',
      id,
      key,
      state,
      count,
      threshold,
      remaining,
      retry_after_cycles,
      retry_after_ms,
      'violated-policies': VIOLATED,
    });
}

export function markAway(reply: FastifyReply): void {
  reply.header(AWAY, 'open');
}

/** For a gate that admits while the store is unreachable: its quota is unknown. */
function answerUncounted(reply: FastifyReply, { id, key, retry_after_cycles, away }: Uncounted, cycle: number) {
  markAway(reply);
  return { ok: true, cycle, decision: 'admitted', id, key, retry_after_cycles, away };
}

function wordsFor(
  { state, count, threshold, limited, retry_after_cycles: after, retry_after_ms: ms }: Decision,
  hasRule: boolean,
  seconds: number | undefined,
): string {
  const time = ms === undefined ? `${seconds} s (${after} ${after === 1 ? 'cycle' : 'cycles'})` : `${ms / 1000} s`;
  const what = limited > 1 ? 'One of this cost' : 'A request';
  const again =
    after === undefined
      ? `${limited > 1 ? 'None of this cost' : 'None'} will be admitted by waiting.`
      : `${what} is admitted in ${time} if nothing else arrives.`;
  if (hasRule || threshold === undefined) return `The contract is ${state}: its rule refuses. ${again}`;
  return `The contract is ${state}: its window holds ${count} ${count === 1 ? 'request' : 'requests'}, and the threshold is ${threshold}. ${again}`;
}

/**
 * Fields of draft-ietf-httpapi-ratelimit-headers: how much a client may send, and when again.
 *
 *   RateLimit-Policy: "default";q=100;w=47     quota of a window, and its length in seconds
 *   RateLimit: "default";r=12;t=0              what remains, and in how many seconds one more would be admitted
 *
 * `retryAfter` is in seconds, rounded up: a client that waits this long and is alone is admitted. 0 for now, undefined for never.
 */
function fieldsOf(
  { machine, contract, kind }: DecisionRequest,
  { threshold, remaining, retry_after_cycles: after, retry_after_ms: againMs }: Decision,
  cycle: number,
  nowMs: number,
) {
  const { plan } = contract;
  const { cycleMs } = machine.context.clock;
  const { rule } = plan;
  const retryAfter =
    rule !== undefined
      ? againMs && Math.ceil(againMs / 1000)
      : after === undefined || after === 0
        ? after
        : secondsUntil(cycle + after, nowMs, cycleMs);
  if (threshold === undefined || remaining === undefined)
    return { policy: undefined, rateLimit: undefined, retryAfter };
  const { within } = plan.aggregates[plan.kinds[kind]!.aggregates[0]!]!;
  const window = rule === undefined ? secondsIn(within, cycleMs) : Math.max(1, Math.ceil(rule.spanMs / 1000));
  return {
    policy: policyField('default', threshold, window),
    rateLimit: limitField('default', remaining, retryAfter),
    retryAfter,
  };
}

export function policyField(name: string, quota: number, windowSeconds: number): string {
  return `"${name}";q=${quota};w=${windowSeconds}`;
}

/** @param seconds until one more is admitted, a whole number; undefined for never */
export function limitField(name: string, remaining: number, seconds: number | undefined): string {
  return `"${name}";r=${remaining}${seconds === undefined ? '' : `;t=${seconds}`}`;
}
