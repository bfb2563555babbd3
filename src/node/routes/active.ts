// Owns GET /api/chain/active: the busiest public machines. Leaves counting to active-machines.ts.
import { Type } from '../../schema/json-schema.js';
import { LONGEST_WINDOW } from '../active-machines.js';
import { route } from '../route.js';
import { Cycle, closed, Ok } from '../shapes.js';

export const listActive = route({
  method: 'GET',
  path: '/api/chain/active',
  auth: 'public',
  tier: 'computation (public)',
  domain: 'state machines',
  summary: 'Ranks the public machines by their transitions within the last cycles. Private machines never appear.',
  shapes: {
    querystring: Type.Object(
      {
        cycles: Type.Optional(
          Type.Integer({ minimum: 1, maximum: LONGEST_WINDOW, description: 'Length of the window; 60 when absent.' }),
        ),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 100, description: 'Length of the list; 10 when absent.' }),
        ),
      },
      closed,
    ),
  },
  answers: {
    200: {
      description: 'The most active machines first; ties by slug.',
      schema: Type.Object({
        ok: Ok,
        window_cycles: Type.Integer(),
        cycle: Cycle,
        machines: Type.Array(
          Type.Object({
            slug: Type.String(),
            transitions: Type.Integer({ description: 'Within the window.' }),
            last_transition_cycle: Cycle,
            contracts: Type.Integer({ description: 'On the machine.' }),
          }),
        ),
      }),
    },
  },
  example: { query: { cycles: '60', limit: '10' }, status: 200 },
  handle({ active, clock }, { query }) {
    const { cycles = 60, limit = 10 } = query;
    const cycle = clock.cycle();
    return { ok: true, window_cycles: cycles, cycle, machines: active.top(cycle, cycles, limit) };
  },
});
