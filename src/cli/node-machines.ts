// `weir node machine` and `weir node active`: creates, lists, shows, ranks and deletes machines.
import { listContracts } from '../api/contracts.js';
import { createMachine, deleteMachine, getMachine, listActive, listMachines } from '../api/machines.js';
import { text } from '../report/command/command.js';
import { bodyOf, fields } from '../report/command/options.js';
import { facts, table } from '../report/command/terminal.js';
import { counted, spanWords } from '../report/words.js';
import { cycleMsOfNode, cyclesOf, moreAfter, most, nodeCommand, slug } from './node-command.js';

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
  options: { after: text('only slugs behind this one'), top: most },
  examples: [['node machine list', 'by slug']],
  run: async ({ api }, { after, top: limit }) => {
    const answer = await api.call(listMachines, { query: { after, limit } });
    const rows = answer.machines.map(({ slug, is_public, is_own, contract_count, head, display_name }) => [
      slug,
      is_public ? 'public' : 'private',
      is_own ? 'own' : '',
      contract_count,
      head.seq,
      display_name === slug ? '' : display_name,
    ]);
    const heads = ['slug', 'who', '', 'contracts', 'rows', 'name'];
    const words = rows.length === 0 ? 'There are no machines to see.' : table(heads, rows);
    return { answer, words, note: moreAfter(answer.next) };
  },
});

export const show = nodeCommand({
  options: { slug, after: text('only contracts behind this one, by id'), top: most },
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
      ['record', `${counted(head.seq, 'row')}, ends with ${head.hash}`],
      ['has', counted(contract_count, 'contract')],
    ]);
    const rows = contracts.map(({ id, currentState, name }) => [id, currentState, name]);
    const listed = rows.length === 0 ? [] : [`\n${table(['contract', 'state', 'name'], rows)}`];
    return { answer, words: [slug, about, ...listed].join('\n'), note: moreAfter(next) };
  },
});

export const remove = nodeCommand({
  options: { slug },
  examples: [['node machine delete shop', 'with its contracts; its record can be read for some time']],
  run: async ({ api }, { slug }) => {
    const answer = await api.call(deleteMachine, { params: { slug } });
    const { freed, readable_until } = answer;
    const words = `The machine ${slug} is deleted with ${counted(freed.contracts, 'contract')}. Its record can be read until ${readable_until}.`;
    return { answer, words };
  },
});

export const active = nodeCommand({
  isPublic: true,
  options: {
    within: text('length of the window, for example 60 or 47s (default: 60 cycles)'),
    top: { ...most, description: 'most machines to list (default: 10)' },
  },
  examples: [
    ['node active', 'within the last 60 cycles'],
    ['node active --within 45m --top 3', 'the three busiest of the last 45 minutes'],
  ],
  run: async (node, { within, top: limit }) => {
    const cycles = await cyclesOf(node, within, 'within');
    const answer = await node.anyone.call(listActive, { query: { cycles, limit } });
    const { window_cycles, cycle, machines } = answer;
    const cycleMs = await cycleMsOfNode(node);
    const rows = machines.map(({ slug, transitions, last_transition_cycle: last, contracts }) => [
      slug,
      transitions,
      last === undefined ? '–' : last >= cycle ? 'now' : `${spanWords(cycle - last, cycleMs)} ago`,
      contracts,
    ]);
    const words =
      rows.length === 0
        ? `No public machine had a transition within ${spanWords(window_cycles, cycleMs)}.`
        : table(['machine', 'transitions', 'last', 'contracts'], rows);
    return { answer, words };
  },
});
