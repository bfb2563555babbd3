// Routes of contracts: creating one from a definition, listing, looking at one.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { configOf } from '../../actor/contract-machine.js';
import * as api from '../../api/contracts.js';
import type { Contract } from '../../host/contract.js';
import { KeyedContract } from '../../host/keyed-contract.js';
import type { Plan } from '../../limiter/plan.js';
import { rateLimiter } from '../../limiter/rate-limiter.js';
import { planInSteps } from '../../limiter/validate.js';
import { assert, Failure, type FailureCode } from '../../schema/failure.js';
import type { Caller } from '../access.js';
import { type KeyedFields, keyedImage, keyNameOf, refuseUnfit, splitBody } from '../keyed.js';
import { answerInTurns, JSON_TYPE, someOf } from '../long-answer.js';
import { contractOf } from '../ownership.js';
import type { Parts } from '../parts.js';
import * as remove from '../removal.js';
import { ofOwner, sourceOf } from '../request-source.js';
import { route } from '../route.js';
import { contractStatus, contractView } from '../views.js';

/** Codes with which creating a contract can fail. */
export const refusals = [
  'machine_not_found',
  'not_owner',
  'invalid_definition',
  'invalid_expression',
  'operator_not_registered',
  'definition_unsound',
  'limit_reached',
  'too_many_requests',
] as const satisfies readonly FailureCode[];

export const createContract = route({
  ...api.createContract,
  auth: 'key_or_session',
  scope: 'admin',
  tier: 'machine',
  domain: 'contracts',
  summary:
    'Creates a contract from a definition of your own: parsed by its schema, then checked against the live operator registry.',
  checksBody: true,
  errors: refusals,
  example: { params: { slug: 'edge-gateway' }, body: rateLimiter({ threshold: 5, within: 10 }), status: 201 },
  async handle(parts, request, reply) {
    const { params, body, caller } = request;
    parts.ownership.owned(params.slug, caller);
    pay(parts, request, reply, Math.ceil(request.bodyLength / 1024));
    const { definition, keyed } = splitBody(body);
    const contract = await create(parts, caller, params.slug, definition, undefined, keyed);
    reply.code(201);
    return { ok: true, contract: contractView(contract) };
  },
});

export const listContracts = route({
  ...api.listContracts,
  auth: 'public_or_owner',
  scope: 'read',
  tier: 'public',
  domain: 'contracts',
  summary: 'Lists the contracts of a machine in order of creation, in pages.',
  errors: ['machine_not_found', 'contract_not_found'],
  example: { params: { slug: 'edge-gateway' }, query: { limit: '10' }, status: 200 },
  async handle({ host, ownership, durability, turns, network }, request, reply) {
    const { params, query, caller } = request;
    const machine = ownership.visible(params.slug, caller);
    const { after, limit = 100 } = query;
    const from = after === undefined ? 0 : machine.contracts.indexOf(contractOf(host, machine, after)) + 1;
    const page = machine.contracts.slice(from, from + limit);
    const next = from + limit < machine.contracts.length ? { next: page.at(-1)!.id } : {};
    reply.header('content-type', JSON_TYPE);
    const contracts = someOf((await network?.looks(page)) ?? page, contractView);
    const answer = await answerInTurns(turns, sourceOf(request), { ok: true, ...next }, { contracts });
    await durability.ofRows(machine);
    return answer;
  },
});

export const getContract = route({
  ...api.getContract,
  auth: 'public_or_owner',
  scope: 'read',
  tier: 'public',
  domain: 'contracts',
  summary: 'Tells about a contract: its state, its window, when to come again, its last transitions.',
  errors: ['machine_not_found', 'contract_not_found', 'invalid_input', 'too_many_keys'],
  example: { params: { slug: 'edge-gateway', contract_id: '{contract_id}' }, query: {}, status: 200 },
  async handle({ host, record, ownership, durability, work, network }, { params, query: { key }, caller }) {
    const machine = ownership.visible(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const name = key === undefined ? undefined : keyNameOf(contract, key);
    const now = await network?.look(contract, name);
    if (network !== undefined) await network.head(machine);
    else
      await work.of(machine, function* (cycle) {
        if (contract.failure === undefined) contract.advance(cycle);
        if (contract instanceof KeyedContract) contract.reach(cycle);
        yield 1;
      });
    const status = contractStatus(contract, name, now);
    const query = {
      afterSeq: Math.max(0, machine.head.seq - api.LOOK_BACK),
      limit: api.LOOK_BACK,
      contractId: contract.id,
    };
    const transitions = await record.rows(machine.slug, { ...query, kind: 'transition' });
    const last_transitions = transitions.slice(-api.MOST_TRANSITIONS);
    await durability.ofRows(machine);
    return { ok: true, contract: { ...status, definition: contract.plan.definition, last_transitions } };
  },
});

export const deleteContract = route({
  ...api.deleteContract,
  auth: 'key_or_session',
  scope: 'admin',
  tier: 'machine',
  domain: 'contracts',
  summary: 'Deletes a contract: a row of the record says so, and what it took is free.',
  errors: ['machine_not_found', 'machine_deleted', 'not_owner', 'contract_not_found'],
  example: { params: { slug: 'edge-gateway', contract_id: '{contract_id}' }, status: 200 },
  async handle(parts, { params, caller }) {
    const { host, ownership, durability } = parts;
    assert(caller !== undefined, 'a contract is deleted by its owner');
    const machine = ownership.toDelete(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const freed = await remove.deleteContract(parts, contract, caller.key.id);
    await durability.commit();
    return { ok: true, freed };
  },
});

export const showStateMachine = route({
  ...api.showStateMachine,
  auth: 'public_or_owner',
  scope: 'read',
  tier: 'public',
  domain: 'contracts',
  summary: 'Shows the XState machine that a contract runs, and the state in which it is.',
  errors: ['machine_not_found', 'contract_not_found'],
  example: { params: { slug: 'edge-gateway', contract_id: '{contract_id}' }, status: 200 },
  async handle({ host, ownership, durability, network }, { params, caller }) {
    const machine = ownership.visible(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const { plan, state } = (await network?.look(contract)) ?? contract;
    await durability.ofRows(machine);
    return { ok: true, state, machine: configOf(plan) };
  },
});

/** Charges the check of a definition to the owner and the address, in KiB. @throws Failure `too_many_requests` */
export function pay(
  { definitionLimit }: Parts,
  { caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>,
  reply: FastifyReply,
  units: number,
): void {
  assert(caller !== undefined, 'a contract is created by an owner');
  const asked = { owner: caller.owner, ip, units, what: 'The check of the definition' };
  definitionLimit.take(asked, (name, value) => reply.header(name, value));
}

/** Makes a contract of a definition. */
export async function create(
  { host, ownership, durability, usage, work, turns, network, memory }: Parts,
  caller: Caller | undefined,
  slug: string,
  definition: unknown,
  templateId?: string,
  keyed?: KeyedFields,
): Promise<Contract> {
  const machine = ownership.owned(slug, caller);
  assert(caller !== undefined, 'a contract is created by an owner');
  memory.refuse('No contract was created.');
  const plan = await turns.steps(ofOwner(caller.owner), planInSteps(definition, host.findOperator));
  refuseWithoutHold(plan);
  refuseUnfit(plan, keyed);
  const wanted = usage.ofContract(caller.owner, plan, keyed?.max_keys);
  const options = { templateId, by: caller.key.id, keyed: keyed && keyedImage(keyed) };
  if (network !== undefined) return network.entries.createContract(machine, plan, options, wanted);
  usage.refuse(wanted);
  const contract = await work.of(machine, function* () {
    yield 1;
    return host.createPlanned(machine.slug, plan, options);
  });
  await durability.commit();
  return contract;
}

/** Nobody says to the node that a request is over. */
function refuseWithoutHold({ rule }: Plan): void {
  if (rule?.lacksHold !== true) return;
  throw new Failure('invalid_definition', {
    what: 'No contract was created.',
    why: `The rule ${rule.definition.primitive} limits what is in flight, and the node does not hear when a request is over.`,
    fix: 'Give hold_ms: how long a request is in flight, for example 100.',
    faults: [{ path: '/rule/hold_ms', message: 'is required for a limit on concurrency' }],
  });
}
