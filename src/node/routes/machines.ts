// Owns machines: creating, listing, looking at one. Leaves who may see which to ownership.ts.
import { assert, Failure } from '../../schema/failure.js';
import { Type } from '../../schema/json-schema.js';
import type { Caller } from '../access.js';
import type { Parts } from '../node-context.js';
import { route } from '../route.js';
import { closed, OfMachine, Ok, Slug } from '../shapes.js';
import { MachineSummary, MachineView, machineSummary, machineView } from '../views.js';

/** Slugs that would hide other routes below /api/chain, or that the node keeps for itself. */
const isReserved = (slug: string) => slug === 'active' || slug === 'state-machines' || slug.startsWith('weir-');

export const createMachine = route({
  method: 'POST',
  path: '/api/chain/state-machines',
  auth: 'key_or_session',
  tier: 'account',
  domain: 'state machines',
  summary: 'Creates a machine. Its record begins with the row of its creation.',
  shapes: {
    body: Type.Object(
      {
        slug: Slug,
        is_public: Type.Optional(Type.Boolean({ description: 'Whether anyone may look at it; false when absent.' })),
        display_name: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 200,
            pattern: '^[^\\u0000-\\u001f\\u007f]*$',
            description: 'For people; the slug when absent.',
          }),
        ),
      },
      closed,
    ),
  },
  answers: { 201: { description: 'The machine.', schema: Type.Object({ ok: Ok, machine: MachineView }) } },
  errors: ['slug_taken', 'limit_reached'],
  example: { body: { slug: 'another-gateway', is_public: true, display_name: 'Another gateway' }, status: 201 },
  async handle(parts, { body, caller }, reply) {
    const { host, ownership, durability } = parts;
    assert(caller !== undefined, 'a machine has an owner');
    const { slug, is_public = false, display_name = slug } = body;
    if (host.failure !== undefined) throw host.failure;
    if (isReserved(slug)) throw reserved(slug);
    refuseTooMany(parts, caller);
    const machine = host.createMachine({ slug, owner: caller.owner, isPublic: is_public, displayName: display_name });
    ownership.add(machine);
    await durability.commit();
    reply.code(201);
    return { ok: true, machine: machineView(machine, caller) };
  },
});

export const listMachines = route({
  method: 'GET',
  path: '/api/chain/state-machines',
  auth: 'public_or_owner',
  tier: 'public',
  domain: 'state machines',
  summary: 'Lists the public machines and your own, by slug.',
  shapes: {
    querystring: Type.Object(
      {
        after: Type.Optional(
          Type.String({ maxLength: 64, description: 'Only slugs behind this one: `next` of the page before.' }),
        ),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 1_000, description: 'Machines a page; 100 when absent.' }),
        ),
      },
      closed,
    ),
  },
  answers: {
    200: {
      description: 'A page of machines.',
      schema: Type.Object({
        ok: Ok,
        machines: Type.Array(MachineSummary),
        next: Type.Optional(Type.String({ description: 'Give it as `after` for the next page; absent on the last.' })),
      }),
    },
  },
  example: { query: { limit: '10' }, status: 200 },
  async handle({ ownership, durability }, { query, caller }) {
    const { after = '', limit = 100 } = query;
    const found = ownership.list(caller, after, limit + 1);
    const page = found.slice(0, limit);
    const machines = page.map((machine) => machineSummary(machine, caller));
    await durability.commit();
    return { ok: true, machines, ...(found.length > limit ? { next: page.at(-1)!.slug } : {}) };
  },
});

export const getMachine = route({
  method: 'GET',
  path: '/api/chain/state-machines/{slug}',
  auth: 'public_or_owner',
  tier: 'public',
  domain: 'state machines',
  summary: 'Tells about a machine, its contracts and the end of its record.',
  shapes: { params: OfMachine },
  answers: { 200: { description: 'The machine.', schema: Type.Object({ ok: Ok, machine: MachineView }) } },
  errors: ['machine_not_found'],
  example: { params: { slug: 'edge-gateway' }, status: 200 },
  async handle({ ownership, durability }, { params, caller }) {
    const machine = ownership.visible(params.slug, caller);
    const view = machineView(machine, caller);
    await durability.ofRows(machine);
    return { ok: true, machine: view };
  },
});

function refuseTooMany({ ownership, limits }: Parts, { owner }: Caller): void {
  if (ownership.machinesOf(owner).length < limits.machinesPerOwner) return;
  throw new Failure('limit_reached', {
    what: 'No machine was created.',
    why: `An owner has up to ${limits.machinesPerOwner} machines on this node.`,
    fix: 'Put further contracts on the machines you have.',
  });
}

function reserved(slug: string): Failure {
  return new Failure('slug_taken', {
    what: `No machine can be called "${slug}".`,
    why: 'The name is a part of this API, or kept by the node.',
    fix: 'Choose another slug.',
  });
}
