// Owns POST …/transition: a move that somebody asks for. Leaves moving, and writing it down, to the host.
import { Type } from '../../schema/json-schema.js';
import { contractOf } from '../ownership.js';
import { route } from '../route.js';
import { Cycle, closed, Hash, OfContract, Ok } from '../shapes.js';

export const driveTransition = route({
  method: 'POST',
  path: '/api/chain/{slug}/contracts/{contract_id}/transition',
  auth: 'key_or_session',
  tier: 'machine',
  domain: 'contracts',
  summary: 'Moves a contract to another state, whatever its counts are; the next evaluation applies the rules again.',
  shapes: {
    params: OfContract,
    body: Type.Object(
      {
        to: Type.String({ minLength: 1, maxLength: 64, description: 'The state to enter.' }),
        input: Type.Optional(
          Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Type.Number({ minimum: -1e300, maximum: 1e300 }), {
            maxProperties: 32,
            description: 'For the condition of the transition, and for its operator.',
          }),
        ),
        hold_cycles: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 100_000,
            description: 'Cycles for which no evaluation moves it on; 0 when absent.',
          }),
        ),
      },
      closed,
    ),
  },
  answers: {
    200: {
      description: 'The transition, as it stands in the record.',
      schema: Type.Object({
        ok: Ok,
        previous_state: Type.String(),
        new_state: Type.String(),
        cycle: Cycle,
        seq: Type.Integer({ description: 'Of its row.' }),
        hash: Hash,
        master_equation_block: Type.String({ description: 'The equation of the operator, verbatim.' }),
        proof_digest: Type.Union([Hash, Type.Null()], { description: 'null where no proof is required.' }),
        emitted: Type.Array(Type.String()),
      }),
    },
  },
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
