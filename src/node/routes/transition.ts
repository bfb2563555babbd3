// The route that moves a contract, or one key of it, to another state.
import * as api from '../../api/contracts.js';
import { keyNameOf } from '../keyed.js';
import { contractOf } from '../ownership.js';
import { forAdmins, route } from '../route.js';

export const driveTransition = route({
  ...api.driveTransition,
  ...forAdmins,
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
    'key_missing',
    'too_many_keys',
    'invalid_input',
  ],
  example: {
    params: { slug: 'edge-gateway', contract_id: '{contract_id}' },
    body: { to: 'limiting', hold_cycles: 5 },
    status: 200,
  },
  async handle({ host, ownership, counting }, { params, body, caller }) {
    const machine = ownership.owned(params.slug, caller);
    const contract = contractOf(host, machine, params.contract_id);
    const { to, input = {}, hold_cycles: holdCycles = 0, key } = body;
    const move = { to, input, holdCycles, by: caller?.key.id };
    const row = await counting.move(contract, move, keyNameOf(contract, key));
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
  },
});
