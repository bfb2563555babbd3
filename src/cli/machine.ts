// `weir machine`: creates, lists and shows machines.
import { listContracts } from '../api/contracts.js';
import { createMachine, getMachine, listMachines } from '../api/machines.js';
import { type Command, register } from './command.js';
import { nodeCommand, slugArgument } from './node-command.js';
import { facts, moreAfter, plural, table } from './terminal.js';

const createCommand = {
  usage: 'create <slug>',
  summary: 'create a machine',
  command: nodeCommand({
    options: (yargs) =>
      yargs
        .positional('slug', { ...slugArgument, describe: 'a to z, 0 to 9 and -, up to 64' })
        .option('public', { type: 'boolean', default: false, describe: 'anyone may look at it' })
        .option('name', { type: 'string', requiresArg: true, describe: 'name for people (default: the slug)' })
        .example('$0 machine create edge-gateway', 'a private machine')
        .example('$0 machine create edge-gateway --public --name "Edge gateway"', 'one that anyone may look at'),
    run: async ({ api }, { slug, public: is_public, name: display_name }) => {
      const answer = await api.call(createMachine, { body: { slug, is_public, display_name } });
      return { answer, words: `The ${is_public ? 'public' : 'private'} machine ${slug} is created.` };
    },
  }),
};

const listCommand = {
  usage: 'list',
  summary: 'list the public machines and your own',
  command: nodeCommand({
    options: (yargs) =>
      yargs
        .option('after', { type: 'string', requiresArg: true, describe: 'only slugs behind this one' })
        .option('limit', { type: 'number', requiresArg: true, describe: 'how many (default: 100)' })
        .example('$0 machine list', 'by slug'),
    run: async ({ api }, { after, limit }) => {
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
  }),
};

const showCommand = {
  usage: 'show <slug>',
  summary: 'show a machine and its contracts',
  command: nodeCommand({
    options: (yargs) =>
      yargs
        .positional('slug', slugArgument)
        .option('after', { type: 'string', requiresArg: true, describe: 'only contracts behind this one, by id' })
        .option('limit', { type: 'number', requiresArg: true, describe: 'how many contracts (default: 100)' })
        .example('$0 machine show edge-gateway', 'and its first contracts'),
    run: async ({ api }, { slug, after, limit = 100 }) => {
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
        ['contract', 'state', 'definition'],
        contracts.map(({ id, currentState, name }) => [id, currentState, name]),
      );
      const words = [slug, about, ...(contracts.length === 0 ? [] : [`\n${list}`])].join('\n');
      return { answer, words, note: moreAfter(next) };
    },
  }),
};

export const machineCommand: Command = {
  options: (yargs) =>
    [createCommand, listCommand, showCommand]
      .reduce((inner, one) => register(inner, one, one.command), yargs)
      .demandCommand(1, 'Say what to do: `weir machine --help` lists it.')
      .example('$0 machine create edge-gateway --public', 'a machine that anyone may look at'),
  run: () => {},
};
