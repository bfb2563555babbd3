// The endpoints of machines: create, list, show, rank the most active.
import { exact, flag, shape, VISIBLE, whole } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { get, post, remove } from './endpoint.js';
import { Cycle, created, freed, OfMachine, ok, pageOf, Search, Slug, Sort } from './shapes.js';
import { MachineSummary, MachineView } from './views.js';
import { LONGEST_WINDOW, WINDOWS } from './windows.js';

export const STRETCHES = 30;

export const createMachine = post('/api/chain/state-machines', {
  shapes: {
    body: exact({
      slug: Slug,
      'is_public?': flag('Whether anyone may read it; false when absent.'),
      'display_name?': Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: VISIBLE,
        description: 'Name for people; the slug when absent.',
      }),
    }),
  },
  answers: created('The machine.', { machine: MachineView }),
});

const MachineLine = shape({
  ...MachineSummary.properties,
  'limiting?': Type.Integer({
    description:
      'Contracts that are limiting now: in their state, or in that of one of their keys. Absent on a node of a network.',
  }),
  'keyed?': shape('Over all contracts with keys; absent where there are none, and on a node of a network.', {
    keys: Type.Integer({ description: 'Keys that are there now.' }),
    limited: Type.Integer({ description: 'Those of them whose state does not admit.' }),
  }),
});

export const listMachines = get('/api/chain/state-machines', {
  shapes: {
    querystring: exact({
      ...pageOf('Machines', 'Only slugs after this one: `next` of the previous page.'),
      'own?': flag('Only those of the caller: none for anyone without a credential.'),
      search: Search,
      'sort?': Sort,
    }),
  },
  answers: ok('A page of machines.', {
    machines: Type.Array(MachineLine),
    'next?': Type.String({ description: '`after` of the next page; absent on the last page.' }),
  }),
});

export const getMachine = get('/api/chain/state-machines/{slug}', {
  shapes: { params: OfMachine },
  answers: ok('The machine.', { machine: MachineView }),
});

export const deleteMachine = remove('/api/chain/{slug}', {
  shapes: { params: OfMachine },
  answers: ok('The machine and its contracts are gone, and their room is free.', {
    freed: shape('What the owner may have anew.', { machines: Type.Integer(), ...freed }),
    readable_until: Type.String({ description: 'When its record is removed, and its slug is free. ISO 8601.' }),
  }),
});

export const listActive = get('/api/chain/active', {
  shapes: {
    querystring: exact({
      'cycles?': whole(1, LONGEST_WINDOW, 'Length of the window; 60 when absent.'),
      'limit?': whole(1, 100, 'Length of the list; 10 when absent.'),
    }),
  },
  answers: ok(
    'Public machines that moved within the window or are limiting: most transitions first, then most limiting contracts; ties by slug.',
    {
      window_cycles: Type.Integer(),
      cycle: Cycle,
      machines: Type.Array(
        shape({
          slug: Type.String(),
          transitions: Type.Integer({ description: 'Within the window.' }),
          'last_transition_cycle?': { ...Cycle, description: 'Absent where none is remembered.' },
          contracts: Type.Integer({ description: 'On the machine.' }),
          'limiting?': Type.Integer({
            description:
              'Those of them that are limiting now: in their state, or in that of one of their keys. Absent on a node of a network.',
          }),
          display_name: Type.String(),
          last: Type.Array(Type.Integer(), {
            description: `Transitions within the last ${WINDOWS.join(', ')} cycles.`,
          }),
          stretches: Type.Array(Type.Integer(), {
            description: `Transitions in each of ${STRETCHES} stretches of the window, oldest first.`,
          }),
        }),
      ),
    },
  ),
});
