// Routes of contracts: creating one from a definition, listing, looking at one, moving one to another state.
import type { FastifyReply } from 'fastify';
import * as api from '../../api/contracts.js';
import { MOST_SORTED } from '../../api/shapes.js';
import type { Plan } from '../../core/limiter/plan.js';
import { rateLimiter } from '../../core/limiter/rate-limiter.js';
import { configOfPlan, planContract } from '../../core/limiter/validate.js';
import { Failure, type FailureCode } from '../../core/schema/failure.js';
import type { Counting } from '../counting/counting.js';
import type { Contract } from '../host/contract.js';
import { type KeyedFields, keyedImage, keyNameOf, refuseContradiction, splitBody } from '../keyed.js';
import type { NodeContext } from '../node-context.js';
import { contractOf } from '../ownership.js';
import type { Caller } from '../permission.js';
import { forAdmins, forOwners, forReaders, route } from '../route.js';
import { contractStatus, contractView } from '../views.js';

export const refusals = [
  'machine_not_found',
  'not_owner',
  'machine_deleted',
  'invalid_definition',
  'invalid_expression',
  'operator_not_registered',
  'definition_unsound',
  'limit_reached',
  'too_many_requests',
  'name_taken',
] as const satisfies readonly FailureCode[];

const createContract = route(api.createContract, forAdmins, {
  summary:
    'Creates a contract from a definition of your own: parsed by its schema, then checked against the live operator registry.',
  checksBody: true,
  errors: refusals,
  example: { body: rateLimiter({ threshold: 5, within: 10 }) },
  async handle(context, request, reply) {
    const { slug } = request.params;
    context.ownership.owned(slug, request.caller);
    context.bounds.definitionKib.take(request, Math.ceil(request.bodyLength / 1024));
    return { ok: true, contract: await create(context, request, reply, { slug, ...splitBody(request.body) }) };
  },
});

const listContracts = route(api.listContracts, forReaders, {
  summary: 'Lists the contracts of a machine in order of creation, in pages.',
  errors: ['contract_not_found'],
  example: { query: { limit: '10' } },
  async handle({ host, ownership, counting, registry }, { params, query, caller }) {
    // Includes what another node has just acknowledged.
    await registry.follow?.();
    const machine = ownership.visible(params.slug, caller);
    const { after, limit = 100 } = query;
    const all = await listed(counting, machine.contracts, query);
    const from = after === undefined ? 0 : all.indexOf(contractOf(host, machine, after)) + 1;
    if (after !== undefined && from === 0) throw notInList(after);
    const page = all.slice(from, from + limit);
    const next = from + limit < all.length ? page.at(-1)!.id : undefined;
    const contracts = (await counting.states(page)).map(contractView);
    await counting.durable(machine);
    return { ok: true, next, contracts };
  },
});

export function notInList(after: string): Failure {
  return new Failure('invalid_input', {
    what: 'The list was not continued.',
    why: `"${after}" is not in it: the list was another, or has changed.`,
    fix: 'Ask for the first page again, without after.',
    faults: [{ path: '/after', message: 'is not in this list' }],
  });
}

async function listed(
  counting: Counting,
  contracts: readonly Contract[],
  { search, sort }: { readonly search?: string; readonly sort?: 'limiting' },
): Promise<readonly Contract[]> {
  const text = search?.toLowerCase();
  const isCalled = ({ id, image: { name = '', definition } }: Contract) =>
    text === undefined || [id, name, definition.name].some((one) => one.toLowerCase().includes(text));
  const found = contracts.filter(isCalled);
  if (sort === undefined) return found;
  const limiting = new Set<string>();
  for (const one of await counting.states(found.slice(0, MOST_SORTED))) if (one.limiting > 0) limiting.add(one.id);
  return [...found.filter(({ id }) => limiting.has(id)), ...found.filter(({ id }) => !limiting.has(id))];
}

const getContract = route(api.getContract, forReaders, {
  summary: 'Shows a contract: its state, its window, when to come again, its last transitions.',
  errors: ['invalid_input', 'too_many_keys'],
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

const listContractKeys = route(api.listContractKeys, forOwners, {
  summary:
    'Lists the keys of a contract that counts each key separately, in pages, with state and count; none of any other.',
  example: { query: { limit: '10' } },
  async handle({ host, ownership, counting }, { params, query, caller }) {
    const machine = ownership.owned(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const { after = 0, limit = 100, limited = false, search = '' } = query;
    // Of hashes, a part; of the key of a client, its hash.
    const named = /^[0-9a-f]*$/.test(search) ? search : (contract.nameOf(search) ?? search);
    const page = await counting.keys(contract, { after, limit, limited, search: named });
    await counting.durable(machine);
    return { ok: true, ...page };
  },
});

const deleteContract = route(api.deleteContract, forAdmins, {
  summary: 'Deletes a contract: a row of the record says so, and what it took is free.',
  errors: ['machine_deleted'],
  async handle({ host, ownership, registry }, { params, caller }) {
    const machine = ownership.toDelete(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const freed = await registry.deleteContract(contract, caller.key.id);
    return { ok: true, freed };
  },
});

const showStateMachine = route(api.showStateMachine, forReaders, {
  summary: 'Shows the XState machine that a contract runs, and the state in which it is.',
  async handle({ host, ownership, counting }, { params, caller }) {
    const machine = ownership.visible(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const { plan } = contract;
    const { state: index } = await counting.state(contract);
    const { name: state } = plan.states[index]!;
    await counting.durable(machine);
    return { ok: true, state, machine: configOfPlan(plan) };
  },
});

const driveTransition = route(api.driveTransition, forAdmins, {
  summary: 'Moves a contract to another state, whatever its counts are; the next evaluation applies the rules again.',
  errors: [
    ...(['no_transition', 'condition_failed', 'compute_failed', 'prove_failed', 'verify_failed'] as const),
    ...(['contract_failed', 'key_missing', 'too_many_keys', 'invalid_input'] as const),
  ],
  example: { body: { to: 'limiting', hold_cycles: 5 } },
  async handle({ host, ownership, counting }, { params, body, caller }) {
    const machine = ownership.owned(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const { to, input = {}, hold_cycles: holdCycles = 0, key } = body;
    const move = { to, input, holdCycles, by: caller.key.id };
    const row = await counting.move(contract, move, keyNameOf(contract, key));
    const { from: previous_state, to: new_state, cycle, seq, hash, master_equation_block, emitted } = row;
    const proof_digest = row.proof_digest ?? null;
    return { ok: true, previous_state, new_state, cycle, seq, hash, master_equation_block, proof_digest, emitted };
  },
});

interface NewContract {
  readonly slug: string;
  readonly definition: unknown;
  readonly templateId?: string;
  readonly keyed?: KeyedFields | undefined;
  readonly name?: string | undefined;
}

export async function create(
  { ownership, registry, memory }: NodeContext,
  { caller }: { readonly caller: Caller },
  reply: FastifyReply,
  { slug, definition, templateId, keyed, name }: NewContract,
) {
  const machine = ownership.owned(slug, caller);
  memory.refuse('No contract was created.');
  const plan = planOf(definition, keyed);
  const options = { templateId, name, by: caller.key.id, keyed: keyed && keyedImage(keyed, machine.image.isPublic) };
  const contract = await registry.createContract(machine, plan, options);
  reply.code(201);
  return contractView(contract);
}

export function notBoth(what: string, one: string, other: string): Failure {
  return new Failure('invalid_input', {
    what,
    why: `${one} and ${other} each say what the contract follows.`,
    fix: 'Give one of them.',
    faults: [{ path: `/${other}`, message: `cannot be combined with ${one}` }],
  });
}

/** @throws Failure as `planContract`, and for what a node cannot decide */
export function planOf(definition: unknown, keyed: Parameters<typeof refuseContradiction>[1], what?: string): Plan {
  const plan = planContract(definition);
  refuseWithoutHold(plan);
  refuseContradiction(plan, keyed, what);
  return plan;
}

/** The node does not hear when a request ends. */
function refuseWithoutHold({ rule }: Plan): void {
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

export const contractRoutes = [
  createContract,
  listContracts,
  getContract,
  listContractKeys,
  deleteContract,
  showStateMachine,
  driveTransition,
];
