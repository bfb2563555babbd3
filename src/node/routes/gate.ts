// The gate: one request event and its decision, for a gateway that asks at every request, by any method and any path below it.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import * as api from '../../api/events.js';
import type { Contract } from '../../host/contract.js';
import { KeyedContract } from '../../host/keyed-contract.js';
import type { Machine } from '../../host/machine.js';
import { windowCycles } from '../../limiter/plan.js';
import { Failure } from '../../schema/failure.js';
import { cycleOf } from '../../time/cycle.js';
import { type Caller, refuseBeyondScope } from '../access.js';
import { countEvents, type Decision, decisionOf, gateOf, whyNotSoMany } from '../decision.js';
import { SLICE } from '../fair-queue.js';
import { answer, answerUncounted, fieldsOf } from '../gate-answer.js';
import { foreseen, ofSeveral, standing } from '../gate-decision.js';
import { costIn, headerIn, keyIn } from '../gateway-headers.js';
import { keyNameOf } from '../keyed.js';
import type { Network } from '../network/network.js';
import { contractOf } from '../ownership.js';
import type { Parts } from '../parts.js';
import { problemOf, retryAfterOf, sendProblem } from '../problem.js';
import { type Asked, type Declaration, route } from '../route.js';

type Shapes = typeof api.gate.shapes;
type Query = Static<Shapes['querystring']>;

const declaration = {
  auth: 'key_or_session',
  scope: 'gate',
  tier: 'machine',
  domain: 'events',
  errors: [
    'machine_not_found',
    'not_owner',
    'contract_not_found',
    'unknown_event_type',
    'contract_failed',
    'gate_header_unusable',
    'key_missing',
    'too_many_keys',
    'invalid_input',
  ],
  example: { params: { slug: 'edge-gateway', contract_id: '{contract_id}' }, query: {}, status: 200 },
  changes: true,
  hasHead: false,
  isHot: true,
  isGate: true,
  takesAnyMethod: true,
  gatewayOf,
  handle: decide,
} as const satisfies Partial<Declaration<Shapes>>;

export const gate = route({
  ...api.gate,
  ...declaration,
  summary:
    'Counts one request, by any method, and decides it: 200 admitted, 429 limited. With ?peek=1 it counts nothing.',
});

export const gateByPost = route({
  ...api.gateByPost,
  ...declaration,
  summary: 'The same for clients that change nothing by GET.',
});

export const gateBelow = route({
  ...api.gateBelow,
  ...declaration,
  handle: (parts, request, reply) => decide(parts, request as unknown as Asked<Shapes>, reply),
  example: { params: { slug: 'edge-gateway', contract_id: '{contract_id}', path: 'orders' }, status: 200 },
  summary:
    'The same by any method, for a gateway that keeps the path and the query of its client: they are not looked at.',
});

/**
 * By the header that the contract names for it, or by Authorization. Where the first holds no key of the owner it is as if it were not
 * there, so that nobody learns whether there is such a contract.
 */
function gatewayOf({ host, access, clock }: Parts, request: FastifyRequest): Caller | undefined {
  const { slug, contract_id } = request.params as Static<Shapes['params']>;
  const { headers } = request.raw;
  const nowMs = clock.now();
  const contract = host.contracts.get(contract_id);
  const machine = contract === undefined ? undefined : host.machines.get(slug);
  const credential = machine !== contract?.machine ? undefined : contract?.plan.definition.gate?.credential;
  const named = credential && access.gatewayOf(headerIn(headers, credential.header), nowMs);
  const isOwn = named?.owner === machine?.image.owner && (named?.key.machine ?? slug) === slug;
  const caller = named !== undefined && isOwn ? named : access.gatewayOf(headers.authorization, nowMs);
  if (caller !== undefined) refuseBeyondScope(caller, declaration);
  return caller;
}

/** What is asked of a gate. */
interface Wanted {
  /** Requests that it counts as. */
  readonly n: number;
  readonly peek: boolean;
  /** The status for limited. */
  readonly deny: number;
  /** Of the key, by `nameOf`; undefined for a contract without keys. */
  readonly name: string | undefined;
}

function decide(parts: Parts, request: Asked<Shapes>, reply: FastifyReply): unknown {
  const { slug, contract_id } = request.params;
  const machine = parts.ownership.owned(slug, request.caller);
  const contract = contractOf(parts.host, machine, contract_id);
  const kind = gateOf(contract);
  const wanted = wantedOf(request, contract);
  if (wanted.n > 1) refuseSoMany(contract, kind, wanted.n);
  if (parts.network !== undefined) return decideOver(parts.network, parts, wanted, reply, contract, kind);
  const nowMs = parts.clock.now();
  const cycle = cycleOf(nowMs, parts.clock.cycleMs);
  const isFar = looksFar(contract, wanted.n);
  if (!isFar && parts.work.isFree(machine, nowMs))
    return decideAt(parts, wanted, reply, machine, contract, kind, nowMs, cycle);
  const work = function* (at: number) {
    yield isFar ? SLICE : 1;
    return decideAt(parts, wanted, reply, machine, contract, kind, nowMs, at);
  };
  return parts.work.of(machine, work);
}

/** Cells that a forecast looks at in some 0.1 ms. */
const NEAR = 8_192;

/** Whether it may take a forecast over a long window to say when to come again: that waits for a turn of its own. */
function looksFar(contract: Contract, n: number): boolean {
  if (windowCycles(contract.plan) <= NEAR) return false;
  if (contract instanceof KeyedContract) return n > 1 || contract.keys.limited > 0;
  return !contract.gate.admits || contract.gate.remaining <= n;
}

/** @throws Failure `gate_header_unusable`, `key_missing`, `invalid_input` */
function wantedOf({ query, raw }: Asked<Shapes>, contract: Contract): Wanted {
  const { peek = false, n, deny = '429', key } = query as Query;
  const { cost, key: source } = contract.plan.definition.gate ?? {};
  const isKeyed = contract instanceof KeyedContract;
  const named = key ?? (isKeyed && source !== undefined ? keyIn(raw, source) : undefined);
  return {
    n: n ?? (cost === undefined ? 1 : costIn(raw.headers, cost)),
    peek,
    deny: Number(deny),
    name: keyNameOf(contract, named),
  };
}

/** @throws Failure `invalid_input` */
function refuseSoMany(contract: Contract, kind: number, n: number): void {
  const why = whyNotSoMany([{ contract, kind }], n);
  if (why !== undefined) throw why;
}

/** As `decideAt`, by a network of nodes. */
async function decideOver(
  network: Network,
  { clock, counts }: Parts,
  { n, name, peek, deny }: Wanted,
  reply: FastifyReply,
  contract: Contract,
  kind: number,
): Promise<unknown> {
  const outcome = await network.decideOne({ contract, kind, n, name, peek });
  if (outcome instanceof Failure) return denied(reply, outcome, deny, clock);
  const { decision, cycle, nowMs } = outcome;
  if ('away' in decision) {
    if (!peek) counts.away += n;
    return answerUncounted(reply, decision, cycle);
  }
  if (!peek) counts.decided(n, decision.admitted, decision.would_limit);
  return answer(reply, decision, cycle, fieldsOf(contract, kind, decision, cycle, nowMs, clock.cycleMs), deny);
}

function decideAt(
  parts: Parts,
  wanted: Wanted,
  reply: FastifyReply,
  machine: Machine,
  contract: Contract,
  kind: number,
  nowMs: number,
  cycle: number,
): unknown {
  const { deny } = wanted;
  let decision: Decision;
  try {
    decision = wanted.peek
      ? foreseen(contract, kind, wanted.n, wanted.name, cycle)
      : taken(parts, contract, kind, wanted, cycle);
  } catch (error) {
    return denied(reply, error, deny, parts.clock);
  }
  // Taken down now: while the answer waits for the disk, the contract may go on to the next cycle.
  const decided = contract instanceof KeyedContract ? contract.keys.cycle : contract.gate.cycle;
  const fields = fieldsOf(contract, kind, decision, decided, nowMs, parts.clock.cycleMs);
  return parts.durability.afterCounts(machine, () => answer(reply, decision, decided, fields, deny));
}

/** A key without a place is limited as others are: by the status that the gateway knows. @throws any other error */
function denied(reply: FastifyReply, error: unknown, deny: number, clock: Parts['clock']): FastifyReply {
  if (!(error instanceof Failure) || error.code !== 'too_many_keys') throw error;
  return sendProblem(reply, { ...problemOf(error), status: deny }, retryAfterOf(error, clock));
}

function taken(
  { counts, host }: Parts,
  contract: Contract,
  kind: number,
  { n, name }: Wanted,
  cycle: number,
): Decision {
  const admitted = countEvents(host, { contract, kind }, n, cycle, undefined, name);
  const decision = decisionOf(contract, kind, n, admitted, name);
  counts.decided(n, admitted, decision.would_limit);
  return n === 1 ? decision : ofSeveral(standing(contract, name, cycle), kind, n, decision);
}
