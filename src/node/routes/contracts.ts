// Routes of contracts and their templates: creating from a definition or from the template, listing, looking at one, moving one.
import * as api from '../../api/contracts.js';
import type { Contract } from '../../host/contract.js';
import { type Plan, windowCycles } from '../../limiter/plan.js';
import { rateLimiter, TEMPLATE_ID } from '../../limiter/rate-limiter.js';
import { planContract } from '../../limiter/validate.js';
import { assert, Failure, type FailureCode } from '../../schema/failure.js';
import type { Caller } from '../access.js';
import type { Limits } from '../limits.js';
import { contractOf, type Ownership } from '../ownership.js';
import type { Parts } from '../parts.js';
import { route } from '../route.js';
import { contractStatus, contractView } from '../views.js';

const refusals = [
  'machine_not_found',
  'not_owner',
  'invalid_definition',
  'invalid_expression',
  'operator_not_registered',
  'definition_unsound',
  'limit_reached',
] as const satisfies readonly FailureCode[];

export const deployRateLimiter = route({
  ...api.deployRateLimiter,
  auth: 'key_or_session',
  scope: 'admin',
  tier: 'machine',
  domain: 'contract templates',
  summary:
    'Deploys the windowed rate limiter onto a machine: the contract starts allowing, and fires first in the next cycle.',
  errors: refusals,
  example: { body: { slug: 'edge-gateway', threshold: 100, within: 60 }, status: 201 },
  async handle(parts, { body, caller }, reply) {
    const { slug, ...parameters } = body;
    const contract = await create(parts, caller, slug, rateLimiter(parameters), TEMPLATE_ID);
    reply.code(201);
    return { ok: true, contract: contractView(contract), template_id: TEMPLATE_ID };
  },
});

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
  async handle(parts, { params, body, caller }, reply) {
    const contract = await create(parts, caller, params.slug, body);
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
  summary: 'Lists the contracts of a machine in order of creation.',
  errors: ['machine_not_found'],
  example: { params: { slug: 'edge-gateway' }, status: 200 },
  async handle({ ownership, durability }, { params, caller }) {
    const machine = ownership.visible(params.slug, caller);
    const contracts = machine.contracts.map(contractView);
    await durability.ofRows(machine);
    return { ok: true, contracts };
  },
});

export const getContract = route({
  ...api.getContract,
  auth: 'public_or_owner',
  scope: 'read',
  tier: 'public',
  domain: 'contracts',
  summary: 'Tells about a contract: its state, its window, when to come again, its last transitions.',
  errors: ['machine_not_found', 'contract_not_found'],
  example: { params: { slug: 'edge-gateway', contract_id: '{contract_id}' }, status: 200 },
  async handle({ host, store, ownership, durability, clock }, { params, caller }) {
    const machine = ownership.visible(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    if (contract.failure === undefined) contract.advance(clock.cycle());
    const status = contractStatus(contract);
    const query = {
      afterSeq: Math.max(0, machine.head.seq - api.LOOK_BACK),
      limit: api.LOOK_BACK,
      contractId: contract.id,
    };
    const last_transitions = store.rows(machine.slug, { ...query, kind: 'transition' }).slice(-api.MOST_TRANSITIONS);
    await durability.ofRows(machine);
    return { ok: true, contract: { ...status, definition: contract.plan.definition, last_transitions } };
  },
});

async function create(
  { host, ownership, durability, limits }: Parts,
  caller: Caller | undefined,
  slug: string,
  definition: unknown,
  templateId?: string,
): Promise<Contract> {
  const machine = ownership.owned(slug, caller);
  assert(caller !== undefined, 'a contract is created by an owner');
  const plan = planContract(definition, host.findOperator);
  refuseTooMany(ownership.usageOf(caller.owner), plan, limits);
  const contract = host.createPlanned(machine.slug, plan, templateId, caller.key.id);
  await durability.commit();
  return contract;
}

function refuseTooMany(
  used: ReturnType<Ownership['usageOf']>,
  plan: Plan,
  { contractsPerOwner, windowCyclesPerOwner }: Limits,
): void {
  const refuse = (why: string, fix: string): never => {
    throw new Failure('limit_reached', { what: 'No contract was created.', why, fix });
  };
  if (used.contracts >= contractsPerOwner)
    refuse(`An owner has up to ${contractsPerOwner} contracts on this node.`, 'Let several clients share one.');
  const cycles = used.windowCycles + windowCycles(plan);
  if (cycles > windowCyclesPerOwner)
    refuse(
      `The windows of an owner's contracts have up to ${windowCyclesPerOwner} cycles together, and with this one it would be ${cycles}.`,
      'Choose shorter windows, or let several clients share a contract.',
    );
}

const template = rateLimiter();

export const listTemplates = route({
  ...api.listTemplates,
  auth: 'public',
  tier: 'public',
  domain: 'contract templates',
  summary: 'Lists the templates that can be deployed.',
  example: { status: 200 },
  handle() {
    const { category, name, version } = template;
    return { ok: true, count: 1, templates: [{ id: TEMPLATE_ID, category, name, version }] };
  },
});

export const inspectRateLimiter = route({
  ...api.inspectRateLimiter,
  auth: 'public',
  tier: 'public',
  domain: 'contract templates',
  summary: 'Shows the full definition of the windowed rate limiter: states, transitions, operators, parameters.',
  example: { status: 200 },
  handle: () => ({ ok: true, template }),
});

export const driveTransition = route({
  ...api.driveTransition,
  auth: 'key_or_session',
  scope: 'admin',
  tier: 'machine',
  domain: 'contracts',
  summary: 'Moves a contract to another state, whatever its counts are; the next evaluation applies the rules again.',
  errors: [
    'machine_not_found',
    'not_owner',
    'contract_not_found',
    'no_transition',
    'condition_failed',
    'compute_failed',
    'prove_failed',
    'verify_failed',
    'contract_failed',
  ],
  example: {
    params: { slug: 'edge-gateway', contract_id: '{contract_id}' },
    body: { to: 'limiting', hold_cycles: 5 },
    status: 200,
  },
  async handle({ host, ownership, durability }, { params, body, caller }) {
    const machine = ownership.owned(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const { to, input = {}, hold_cycles: holdCycles = 0 } = body;
    try {
      const row = host.transition(contract, { to, input, holdCycles, by: caller?.key.id });
      return {
        ok: true,
        previous_state: row.from,
        new_state: row.to,
        cycle: row.cycle,
        seq: row.seq,
        hash: row.hash,
        master_equation_block: row.master_equation_block,
        proof_digest: row.proof_digest ?? null,
        emitted: row.emitted,
      };
    } finally {
      // The row of a refusal, too, is durable before the answer.
      await durability.ofRows(machine);
    }
  },
});
