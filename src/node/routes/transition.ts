// Owns POST …/transition: a move that somebody asks for. Leaves moving, and writing it down, to the host.
import * as api from '../../api/contracts.js';
import { contractOf } from '../ownership.js';
import { route } from '../route.js';

export const driveTransition = route({
  ...api.driveTransition,
  auth: 'key_or_session',
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
      const row = host.transition(contract, { to, input, holdCycles });
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
      // A refusal is on the record, too, before anyone is told of it.
      await durability.ofRows(machine);
    }
  },
});
