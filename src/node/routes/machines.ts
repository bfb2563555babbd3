// Routes of machines: creating, listing, looking at one, the most active ones.
import * as api from '../../api/machines.js';
import { MOST_SORTED } from '../../api/shapes.js';
import { assert, Failure } from '../../core/schema/failure.js';
import { isReserved, type Machine } from '../host/machine.js';
import type { Limits } from '../limits.js';
import { sourceOf } from '../request-source.js';
import { forAdmins, forComputation, forReaders, route } from '../route.js';
import { CONTRACTS_SHOWN, machineState, machineSummary, machineView, shortView } from '../views.js';
import { notInList } from './contracts.js';

const forAccounts = { ...forAdmins, ofOwner: true, tier: 'account' } as const;

const createMachine = route(api.createMachine, forAccounts, {
  summary: 'Creates a machine. Its record begins with the row of its creation.',
  errors: ['slug_taken', 'limit_reached', 'too_many_requests'],
  example: { body: { slug: 'another-gateway', is_public: true, display_name: 'Another gateway' } },
  async handle(context, { body, caller, ip }, reply) {
    const { host, registry, memory, bounds, limits } = context;
    memory.refuse('No machine was created.');
    const { slug, is_public = false, display_name = slug } = body;
    if (host.failure !== undefined) throw host.failure;
    if (isReserved(slug)) throw noSlug(slug, 'The name is a part of this API, or kept by the node.');
    const { owner, key } = caller;
    const former = host.machines.get(slug);
    if (former?.deletedMs !== undefined && (former.image.isPublic || former.image.owner === owner))
      throw noSlug(slug, `One was deleted, and its record can be read until ${readableUntil(former, limits)}.`);
    bounds.newMachines.take({ caller, ip });
    const machine = await registry.createMachine({
      ...{ slug, owner, isPublic: is_public, displayName: display_name, by: key.id },
    });
    reply.code(201);
    return { ok: true, machine: machineView(machine, caller) };
  },
});

/** Machines per step: most may be private ones of others. */
const MACHINES_PER_STEP = 500;

const listMachines = route(api.listMachines, forReaders, {
  summary: 'Lists the public machines and your own, by slug.',
  example: { query: { limit: '10' } },
  async handle({ ownership, queue, counting, active }, request) {
    const { query, caller } = request;
    const { after = '', limit = 100, own = false, search = '', sort } = query;
    const text = search.toLowerCase();
    const found: Machine[] = [];
    // Limiting machines come first, so each page of a sorted list looks at all.
    let from: string | undefined = sort === undefined ? after : '';
    const most = sort === undefined ? limit : MOST_SORTED;
    const isAsked = ({ slug, image }: Machine) =>
      (!own || image.owner === caller?.owner) &&
      (slug.includes(text) || image.displayName.toLowerCase().includes(text));
    const scanNext = () => {
      const { seen, last } = ownership.scan(caller, from!, MACHINES_PER_STEP);
      found.push(...seen.filter(isAsked));
      from = last;
      return from !== undefined && found.length <= most;
    };
    while (await queue.of(sourceOf(request), scanNext));
    const sorted = sort === undefined ? found : limitingFirst(found);
    const first = sort === undefined ? 0 : sorted.findIndex(({ slug }) => slug === after) + 1;
    if (sort !== undefined && after !== '' && first === 0) throw notInList(after);
    const page = sorted.slice(first, first + limit);
    const next = sorted.length > first + limit ? page.at(-1)!.slug : undefined;
    const machines = page.map((machine) => ({
      ...machineSummary(machine, caller),
      ...(active.knowsStates ? machineState(machine) : {}),
    }));
    await Promise.all(page.map((machine) => counting.durable(machine)));
    return { ok: true, next, machines };
  },
});

function limitingFirst(machines: readonly Machine[]): readonly Machine[] {
  const isLimiting = ({ contracts }: Machine) => contracts.some(({ limiting }) => limiting > 0);
  return [...machines.filter(isLimiting), ...machines.filter((machine) => !isLimiting(machine))];
}

const deleteMachine = route(api.deleteMachine, forAdmins, {
  summary: 'Deletes a machine with its contracts: a last row ends its record, which is still read for some days.',
  errors: ['machine_deleted'],
  async handle({ ownership, registry, limits }, { params, caller }) {
    const machine = ownership.toDelete(params.slug, caller);
    const freed = await registry.deleteMachine(machine, caller.key.id);
    assert(freed !== undefined, 'a machine is deleted once');
    return { ok: true, freed, readable_until: readableUntil(machine, limits) };
  },
});

const getMachine = route(api.getMachine, forReaders, {
  summary: 'Shows a machine, its contracts and the end of its record.',
  async handle({ ownership, counting }, { params, caller }) {
    const machine = ownership.visible(params.slug, caller);
    const shown = (await counting.states(machine.contracts.slice(0, CONTRACTS_SHOWN))).map(shortView);
    const head = await counting.head(machine);
    return { ok: true, machine: machineView(machine, caller, shown, head) };
  },
});

function readableUntil({ deletedMs = 0 }: Machine, { retentionMs }: Limits): string {
  return new Date(deletedMs + retentionMs).toISOString();
}

function noSlug(slug: string, why: string): Failure {
  return new Failure('slug_taken', { what: `No machine can be called "${slug}".`, why, fix: 'Choose another slug.' });
}

const listActive = route(api.listActive, forComputation, {
  summary: 'Ranks the public machines by their transitions within the last cycles. Private machines never appear.',
  example: { query: { cycles: '60', limit: '10' } },
  handle({ active, clock }, { query }) {
    const { cycles = 60, limit = 10 } = query;
    const cycle = clock.cycle();
    return { ok: true, window_cycles: cycles, cycle, machines: active.top(cycle, cycles, limit) };
  },
});

export const machineRoutes = [createMachine, listMachines, deleteMachine, getMachine, listActive];
