// Routes of contracts: creating one from a definition, listing, looking at one.
import type { FastifyReply, FastifyRequest } from 'fastify';
import * as api from '../../api/contracts.js';
import { MOST_SORTED } from '../../api/shapes.js';
import type { Contract } from '../../host/contract.js';
import type { Plan } from '../../limiter/plan.js';
import { rateLimiter } from '../../limiter/rate-limiter.js';
import { configOfPlan, planInSteps } from '../../limiter/validate.js';
import { assert, Failure, type FailureCode } from '../../schema/failure.js';
import type { Counting } from '../counting/counting.js';
import { type KeyedFields, keyedImage, keyNameOf, refuseContradiction, splitBody } from '../keyed.js';
import type { NodeContext } from '../node-context.js';
import { contractOf } from '../ownership.js';
import type { Caller } from '../permission.js';
import { ofOwner } from '../request-source.js';
import { forAdmins, forReaders, route } from '../route.js';
import { contractStatus, contractView } from '../views.js';

export const refusals = [
  'machine_not_found',
  'not_owner',
  'invalid_definition',
  'invalid_expression',
  'operator_not_registered',
  'definition_unsound',
  'limit_reached',
  'too_many_requests',
  'name_taken',
] as const satisfies readonly FailureCode[];

export const createContract = route({
  ...api.createContract,
  ...forAdmins,
  domain: 'contracts',
  summary:
    'Creates a contract from a definition of your own: parsed by its schema, then checked against the live operator registry.',
  checksBody: true,
  errors: refusals,
  example: { params: { slug: 'edge-gateway' }, body: rateLimiter({ threshold: 5, within: 10 }), status: 201 },
  async handle(context, request, reply) {
    const { params, body, caller } = request;
    context.ownership.owned(params.slug, caller);
    pay(context, request, reply, Math.ceil(request.bodyLength / 1024));
    const { definition, ...fields } = splitBody(body);
    const contract = await create(context, caller, params.slug, definition, fields);
    reply.code(201);
    return { ok: true, contract: contractView(contract) };
  },
});

export const listContracts = route({
  ...api.listContracts,
  ...forReaders,
  domain: 'contracts',
  summary: 'Lists the contracts of a machine in order of creation, in pages.',
  errors: ['machine_not_found', 'contract_not_found'],
  example: { params: { slug: 'edge-gateway' }, query: { limit: '10' }, status: 200 },
  async handle({ host, ownership, counting, registry }, { params, query, caller }) {
    // Includes what another node has just acknowledged.
    await registry.follow?.();
    const machine = ownership.visible(params.slug, caller);
    const { after, limit = 100 } = query;
    const all = await listed(counting, machine.contracts, query);
    const from = after === undefined ? 0 : all.indexOf(contractOf(host, machine, after)) + 1;
    const page = all.slice(from, from + limit);
    const next = from + limit < all.length ? { next: page.at(-1)!.id } : {};
    const contracts = (await counting.states(page)).map(contractView);
    await counting.durable(machine);
    return { ok: true, ...next, contracts };
  },
});

async function listed(
  counting: Counting,
  contracts: readonly Contract[],
  { search, sort }: { readonly search?: string; readonly sort?: 'limiting' },
): Promise<readonly Contract[]> {
  const text = search?.toLowerCase();
  const found =
    text === undefined ? contracts : contracts.filter((one) => namesOf(one).some((name) => has(name, text)));
  if (sort === undefined) return found;
  const limiting = new Set<string>();
  for (const one of await counting.states(found.slice(0, MOST_SORTED))) if (one.limiting > 0) limiting.add(one.id);
  return [...found.filter(({ id }) => limiting.has(id)), ...found.filter(({ id }) => !limiting.has(id))];
}

function namesOf({ id, image: { name = '', definition } }: Contract): string[] {
  return [id, name, definition.name];
}

function has(name: string, text: string): boolean {
  return name.toLowerCase().includes(text);
}

export const getContract = route({
  ...api.getContract,
  ...forReaders,
  domain: 'contracts',
  summary: 'Tells about a contract: its state, its window, when to come again, its last transitions.',
  errors: ['machine_not_found', 'contract_not_found', 'invalid_input', 'too_many_keys'],
  example: { params: { slug: 'edge-gateway', contract_id: '{contract_id}' }, query: {}, status: 200 },
  async handle({ host, record, ownership, counting }, { params, query: { key }, caller }) {
    const machine = ownership.visible(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const name = key === undefined ? undefined : keyNameOf(contract, key);
    const status = contractStatus(contract, await counting.state(contract, name), name);
    const { seq: toSeq } = await counting.head(machine);
    const back = { afterSeq: Math.max(0, toSeq - api.LOOK_BACK), toSeq, limit: api.LOOK_BACK };
    const transitions = await record.rows(machine.slug, { ...back, contractId: contract.id, kind: 'transition' });
    const last_transitions = transitions.slice(-api.MOST_TRANSITIONS);
    return { ok: true, contract: { ...status, definition: contract.plan.definition, last_transitions } };
  },
});

export const deleteContract = route({
  ...api.deleteContract,
  ...forAdmins,
  domain: 'contracts',
  summary: 'Deletes a contract: a row of the record says so, and what it took is free.',
  errors: ['machine_not_found', 'machine_deleted', 'not_owner', 'contract_not_found'],
  example: { params: { slug: 'edge-gateway', contract_id: '{contract_id}' }, status: 200 },
  async handle({ host, ownership, registry }, { params, caller }) {
    assert(caller !== undefined, 'a contract is deleted by its owner');
    const machine = ownership.toDelete(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const freed = await registry.deleteContract(contract, caller.key.id);
    return { ok: true, freed };
  },
});

export const showStateMachine = route({
  ...api.showStateMachine,
  ...forReaders,
  domain: 'contracts',
  summary: 'Shows the XState machine that a contract runs, and the state in which it is.',
  errors: ['machine_not_found', 'contract_not_found'],
  example: { params: { slug: 'edge-gateway', contract_id: '{contract_id}' }, status: 200 },
  async handle({ host, ownership, counting }, { params, caller }) {
    const machine = ownership.visible(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const { plan } = contract;
    const { stateIndex } = await counting.state(contract);
    const { name: state } = plan.states[stateIndex]!;
    await counting.durable(machine);
    return { ok: true, state, machine: configOfPlan(plan) };
  },
});

/** Charges KiB of a definition to the owner and the address. @throws Failure `too_many_requests` */
export function pay(
  { rates }: NodeContext,
  { caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>,
  reply: FastifyReply,
  units: number,
): void {
  assert(caller !== undefined, 'a contract is created by an owner');
  const asked = { owner: caller.owner, ip, units, what: 'The check of the definition' };
  rates.definitions.take(asked, (name, value) => reply.header(name, value));
}

interface NewContract {
  readonly templateId?: string;
  readonly keyed?: KeyedFields | undefined;
  readonly name?: string | undefined;
}

export async function create(
  { ownership, registry, queue, memory }: NodeContext,
  caller: Caller | undefined,
  slug: string,
  definition: unknown,
  { templateId, keyed, name }: NewContract,
): Promise<Contract> {
  const machine = ownership.owned(slug, caller);
  assert(caller !== undefined, 'a contract is created by an owner');
  memory.refuse('No contract was created.');
  const plan = await queue.steps(ofOwner(caller.owner), planInSteps(definition));
  refuseWithoutHold(plan);
  refuseContradiction(plan, keyed);
  return registry.createContract(machine, plan, {
    ...{ templateId, name, by: caller.key.id, keyed: keyed && keyedImage(keyed) },
  });
}

/** The node does not hear when a request ends. */
export function refuseWithoutHold({ rule }: Plan): void {
  if (rule?.definition.primitive === 'none')
    throw new Failure('invalid_definition', {
      what: 'The limiter was refused.',
      why: 'The limiter none admits everything.',
      fix: "Give a limit, for example '100 in 60s'; with shadow it only says what it would limit.",
      faults: [{ path: '/rule/primitive', message: 'is none, which limits nothing' }],
    });
  if (rule?.lacksHold !== true) return;
  throw new Failure('invalid_definition', {
    what: 'The limiter was refused.',
    why: `The rule ${rule.definition.primitive} limits what is in flight, and the node does not hear when a request is over.`,
    fix: 'Give hold_ms: how long a request is in flight, for example 100.',
    faults: [{ path: '/rule/hold_ms', message: 'is required for a limit on concurrency' }],
  });
}
