// `weir node machine`: creates, lists and shows machines.
import { listContracts } from '../api/contracts.js';
import { createMachine, getMachine, listMachines } from '../api/machines.js';
import { text } from './command.js';
import { most } from './keys.js';
import { nodeCommand, slug } from './node-command.js';
import { bodyOf, fields } from './options.js';
import { facts, moreAfter, plural, table } from './terminal.js';

export const create = nodeCommand({
  options: {
    slug: { ...slug, description: 'a to z, 0 to 9 and -, up to 64', place: true },
    name: text('name for people (default: the slug)'),
    set: fields('is_public=true, so that anyone may look at it'),
  },
  examples: [
    ['node machine create edge-gateway', 'a private machine'],
    ['node machine create edge-gateway --set is_public=true --name "Edge gateway"', 'one that anyone may look at'],
  ],
  run: async ({ api }, { slug, name: display_name, set }) => {
    const answer = await api.call(createMachine, { body: { ...bodyOf(set), slug, display_name } });
    return { answer, words: `The ${answer.machine.is_public ? 'public' : 'private'} machine ${slug} is created.` };
  },
});

export const list = nodeCommand({
  options: {
    after: text('only slugs behind this one'),
    top: most,
  },
  examples: [['node machine list', 'by slug']],
  run: async ({ api }, { after, top: limit }) => {
    const answer = await api.call(listMachines, { query: { after, limit } });
    const { machines, next } = answer;
    const rows = machines.map(({ slug, is_public, is_own, contract_count, head, display_name }) => [
      slug,
      is_public ? 'public' : 'private',
      is_own ? 'own' : '',
      contract_count,
      head.seq,
      display_name === slug ? '' : display_name,
    ]);
    const words =
      rows.length === 0
        ? 'There are no machines to see.'
        : table(['slug', 'who', '', 'contracts', 'rows', 'name'], rows);
    return { answer, words, note: moreAfter(next) };
  },
});

export const show = nodeCommand({
  options: {
    slug,
    after: text('only contracts behind this one, by id'),
    top: most,
  },
  examples: [['node machine show edge-gateway', 'and its first contracts']],
  run: async ({ api }, { slug, after, top: limit = 100 }) => {
    const { ok, machine } = await api.call(getMachine, { params: { slug } });
    const page = await api.call(listContracts, { params: { slug }, query: { after, limit } });
    const contracts = page.contracts.map(({ id, currentState, name }) => ({ id, currentState, name }));
    const { next } = page;
    const answer = { ok, machine: { ...machine, contracts }, ...(next === undefined ? {} : { next }) };
    const { display_name, is_public, is_own, created_cycle, contract_count, head } = machine;
    const about = facts([
      ['name', display_name],
      ['who', `${is_public ? 'public' : 'private'}${is_own ? ', own' : ''}`],
      ['created', `in cycle ${created_cycle}`],
      ['record', `${plural(head.seq, 'row')}, ends with ${head.hash}`],
      ['has', plural(contract_count, 'contract')],
    ]);
    const list = table(
      ['contract', 'state', 'name'],
      contracts.map(({ id, currentState, name }) => [id, currentState, name]),
    );
    const words = [slug, about, ...(contracts.length === 0 ? [] : [`\n${list}`])].join('\n');
    return { answer, words, note: moreAfter(next) };
  },
});
