// Owns GET /api/chain/active: the busiest public machines. Leaves counting to active-machines.ts.
import * as api from '../../api/machines.js';
import { route } from '../route.js';

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
