// Routes of machines: creating, listing, looking at one, the most active ones.
import * as api from '../../api/machines.js';
import { type Machine, slugTaken } from '../../host/machine.js';
import { assert, Failure } from '../../schema/failure.js';
import { answerInTurns, JSON_TYPE, someOf } from '../long-answer.js';
import { isReserved } from '../ownership.js';
import * as remove from '../removal.js';
import { sourceOf } from '../request-source.js';
import { route } from '../route.js';
import { ofMachine } from '../usage.js';
import { machineSummary, machineView } from '../views.js';

export const createMachine = route({
  ...api.createMachine,
  auth: 'key_or_session',
  scope: 'admin',
  ofOwner: true,
  tier: 'account',
  domain: 'state machines',
  summary: 'Creates a machine. Its record begins with the row of its creation.',
  errors: ['slug_taken', 'limit_reached', 'too_many_requests'],
  example: { body: { slug: 'another-gateway', is_public: true, display_name: 'Another gateway' }, status: 201 },
  async handle(parts, { body, caller, ip }, reply) {
    const { host, ownership, durability, memory } = parts;
    memory.refuse('No machine was created.');
    assert(caller !== undefined, 'a machine has an owner');
    const { slug, is_public = false, display_name = slug } = body;
    if (host.failure !== undefined) throw host.failure;
    if (isReserved(slug)) throw reserved(slug);
    if (parts.retention.isRemoving(slug)) throw slugTaken(slug);
    const { owner, key } = caller;
    const wanted = ofMachine(owner);
    if (parts.network === undefined) parts.usage.refuse(wanted);
    else parts.usage.refuseBeyondDeleted(wanted);
    const asked = { owner, ip, units: 1, what: 'A further machine' };
    parts.machineLimit.take(asked, (name, value) => reply.header(name, value));
    const { network } = parts;
    const image = { slug, owner, isPublic: is_public, displayName: display_name };
    const machine =
      network === undefined
        ? host.createMachine({ ...image, by: key.id })
        : await network.entries.createMachine(image, key.id, wanted);
    if (network === undefined) ownership.add(machine);
    await durability.commit();
    reply.code(201);
    return { ok: true, machine: machineView(machine, caller) };
  },
});

/** Machines that are looked at in one go: most may be private ones of others. */
const LOOKED_AT_ONCE = 500;

export const listMachines = route({
  ...api.listMachines,
  auth: 'public_or_owner',
  scope: 'read',
  tier: 'public',
  domain: 'state machines',
  summary: 'Lists the public machines and your own, by slug.',
  example: { query: { limit: '10' }, status: 200 },
  async handle({ ownership, durability, turns }, request, reply) {
    const { query, caller } = request;
    const { after = '', limit = 100, own = false } = query;
    const found: Machine[] = [];
    let from: string | undefined = after;
    const look = () => {
      const { seen, last } = ownership.look(caller, from!, LOOKED_AT_ONCE);
      for (const machine of seen) if (!own || machine.image.owner === caller?.owner) found.push(machine);
      from = last;
      return from !== undefined && found.length <= limit;
    };
    while (await turns.of(sourceOf(request), look));
    const page = found.slice(0, limit);
    const head = { ok: true, ...(found.length > limit ? { next: page.at(-1)!.slug } : {}) };
    const machines = someOf(page, (machine) => machineSummary(machine, caller));
    reply.header('content-type', JSON_TYPE);
    const answer = await answerInTurns(turns, sourceOf(request), head, { machines });
    await durability.commit();
    return answer;
  },
});

export const deleteMachine = route({
  ...api.deleteMachine,
  auth: 'key_or_session',
  scope: 'admin',
  tier: 'machine',
  domain: 'state machines',
  summary: 'Deletes a machine with its contracts: a last row ends its record, which is still read for some days.',
  errors: ['machine_not_found', 'machine_deleted', 'not_owner'],
  example: { params: { slug: 'edge-gateway' }, status: 200 },
  async handle(parts, { params, caller }) {
    const { ownership, durability, limits } = parts;
    assert(caller !== undefined, 'a machine is deleted by its owner');
    const machine = ownership.toDelete(params.slug, caller);
    const freed = await remove.deleteMachine(parts, machine, caller.key.id);
    assert(freed !== undefined, 'a machine is deleted once');
    await durability.commit();
    const readable_until = new Date((machine.deletedMs ?? 0) + limits.retentionMs).toISOString();
    return { ok: true, freed, readable_until };
  },
});

export const getMachine = route({
  ...api.getMachine,
  auth: 'public_or_owner',
  scope: 'read',
  tier: 'public',
  domain: 'state machines',
  summary: 'Tells about a machine, its contracts and the end of its record.',
  errors: ['machine_not_found'],
  example: { params: { slug: 'edge-gateway' }, status: 200 },
  async handle({ ownership, durability, network }, { params, caller }) {
    const machine = ownership.visible(params.slug, caller);
    const view = machineView(machine, caller, await network?.shown(machine));
    await durability.ofRows(machine);
    return { ok: true, machine: view };
  },
});

function reserved(slug: string): Failure {
  return new Failure('slug_taken', {
    what: `No machine can be called "${slug}".`,
    why: 'The name is a part of this API, or kept by the node.',
    fix: 'Choose another slug.',
  });
}

export const listActive = route({
  ...api.listActive,
  auth: 'public',
  tier: 'computation (public)',
  domain: 'state machines',
  summary: 'Ranks the public machines by their transitions within the last cycles. Private machines never appear.',
  example: { query: { cycles: '60', limit: '10' }, status: 200 },
  handle({ active, clock }, { query }) {
    const { cycles = 60, limit = 10 } = query;
    const cycle = clock.cycle();
    return { ok: true, window_cycles: cycles, cycle, machines: active.top(cycle, cycles, limit) };
  },
});
