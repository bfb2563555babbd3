// The gate: counts one request and decides it, for a gateway that asks at every request, by any method and any path below it.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import * as api from '../../api/events.js';
import { Failure } from '../../core/schema/failure.js';
import type { DecisionResult } from '../counting/counting.js';
import type { DecisionRequest as Requests } from '../counting/decision.js';
import { askedOfGate } from '../counting/listeners.js';
import { answer } from '../gate-answer.js';
import { costIn, headerIn, keyIn } from '../gateway-headers.js';
import type { Contract } from '../host/contract.js';
import type { Machine } from '../host/machine.js';
import type { NodeContext } from '../node-context.js';
import { contractOf } from '../ownership.js';
import { type Caller, refuseBeyondScope } from '../permission.js';
import { problemOf, retryAfterSeconds, sendProblem } from '../problem.js';
import { forGates, type RouteRequest, route, type Served } from '../route.js';

type Shapes = typeof api.gate.shapes;
type Query = Static<Shapes['querystring']>;

const served = {
  errors: [
    'unknown_event_type',
    'contract_failed',
    'gate_header_unusable',
    'key_missing',
    'too_many_keys',
    'invalid_input',
  ],
  skipsQueue: true,
  isGate: true,
  gatewayOf,
  handle: decide,
} as const satisfies Partial<Served<Shapes, 'key_or_session'>>;

const gate = route(api.gate, forGates, {
  ...served,
  summary:
    'Counts one request, by any method, and decides it: 200 admitted, 429 limited. With ?peek=1 it counts nothing.',
});

const gateByPost = route(api.gateByPost, forGates, {
  ...served,
  summary: 'The same for clients that change nothing by GET.',
});

const gateBelow = route(api.gateBelow, forGates, {
  ...served,
  handle: (context, request, reply) =>
    decide(context, request as unknown as RouteRequest<Shapes, 'key_or_session'>, reply),
  example: { params: { path: 'orders' } },
  summary:
    'The same by any method, for a gateway that keeps the path and the query of its client: they are not looked at.',
});

/** By the contract's key header, or by Authorization. A foreign key in the first is ignored, to reveal nothing. */
function gatewayOf({ host, access }: NodeContext, request: FastifyRequest): Caller | undefined {
  const { slug, contract_id } = request.params as Static<Shapes['params']>;
  const { nowMs, raw } = request;
  const { headers } = raw;
  const machine = host.machines.get(slug);
  const contract = machine && (host.contracts.get(contract_id) ?? machine.named.get(contract_id));
  const credential = machine !== contract?.machine ? undefined : contract?.plan.definition.gate?.credential;
  const named = credential && access.gatewayOf(headerIn(headers, credential.header), nowMs);
  const isOwn = named?.owner === machine?.image.owner && (named?.key.machine ?? slug) === slug;
  const caller = named !== undefined && isOwn ? named : access.gatewayOf(headers.authorization, nowMs);
  if (caller !== undefined) refuseBeyondScope(caller, forGates);
  return caller;
}

function decide(context: NodeContext, request: RouteRequest<Shapes, 'key_or_session'>, reply: FastifyReply): unknown {
  const { slug, contract_id } = request.params;
  const machine = context.ownership.owned(slug, request.caller);
  const asked = askedOf(machine, contractOf(context.host, machine, contract_id), request);
  const outcome = context.counting.decide(asked, request.nowMs);
  if (outcome instanceof Promise) return outcome.then((decided) => answerWith(context, request, asked, decided, reply));
  return answerWith(context, request, asked, outcome, reply);
}

/** From the query, or from the contract's headers. @throws Failure `gate_header_unusable`, and as `askedOfGate` */
function askedOf(
  machine: Machine,
  contract: Contract,
  { query, raw }: RouteRequest<Shapes, 'key_or_session'>,
): Requests {
  const { key, n, peek } = query as Query;
  const { cost, key: source } = contract.plan.definition.gate ?? {};
  const named = key ?? (contract.keys !== undefined && source !== undefined ? keyIn(raw, source) : undefined);
  return askedOfGate(machine, contract, n ?? (cost === undefined ? 1 : costIn(raw.headers, cost)), named, peek);
}

function answerWith(
  { counts, clock }: NodeContext,
  { query }: RouteRequest<Shapes, 'key_or_session'>,
  asked: Requests,
  outcome: DecisionResult,
  reply: FastifyReply,
): unknown {
  const { deny = '429' } = query as Query;
  const status = Number(deny);
  if (outcome instanceof Failure) {
    // A key without a place is limited, by the status that the gateway knows.
    if (outcome.code !== 'too_many_keys') throw outcome;
    return sendProblem(reply, { ...problemOf(outcome), status }, retryAfterSeconds(outcome, clock));
  }
  if (!asked.peek) counts.took(outcome.decision);
  return answer(reply, asked, outcome, status);
}

export const gateRoutes = [gate, gateByPost, gateBelow];
