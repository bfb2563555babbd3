// The endpoints of contracts with keys: list the keys, and decide many requests at once.
import { Type } from '../schema/json-schema.js';
import { get, post } from './endpoint.js';
import { ContractId, Count, Cycle, exact, Key, limitOf, OfContract, OfMachine, ok, Search } from './shapes.js';
import { Counted, DecisionShape, State } from './views.js';

const { state, remaining, retry_after_cycles, admitted, limited, away } = DecisionShape.properties;

export const listContractKeys = get('/api/chain/{slug}/contracts/{contract_id}/keys', {
  shapes: {
    params: OfContract,
    querystring: exact({
      after: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 100_000_000, description: '`next` of the page before.' }),
      ),
      limit: limitOf('Keys'),
      limited: Type.Optional(Type.Boolean({ description: 'Only keys whose state does not admit.' })),
      search: Search,
    }),
  },
  answers: ok('A page of keys. One that comes or goes meanwhile may be missing.', {
    cycle: Cycle,
    keys: Type.Array(
      Type.Object({
        key: Type.String({ description: 'The key, or its keyed hash.' }),
        state: State,
        count: Counted,
        remaining,
        retry_after_cycles,
      }),
    ),
    next: Type.Optional(Type.Integer({ description: '`after` of the next page; absent on the last page.' })),
  }),
});

const MOST_REQUESTS = 1_000;

export const gates = post('/api/chain/{slug}/gates', {
  takesLongBody: true,
  shapes: {
    params: OfMachine,
    body: exact({
      requests: Type.Array(exact({ contract_id: ContractId, key: Type.Optional(Key), n: Type.Optional(Count) }), {
        minItems: 1,
        maxItems: MOST_REQUESTS,
        description: 'Decided in this order.',
      }),
    }),
  },
  answers: ok('A decision for each request, in order, whether admitted or limited.', {
    cycle: Cycle,
    decisions: Type.Array(
      Type.Object({
        admitted,
        limited,
        state,
        remaining,
        retry_after_cycles,
        away,
        code: Type.Optional(
          Type.Enum(['too_many_keys', 'contract_failed', 'memory_low'], {
            description: 'Why the request was not counted.',
          }),
        ),
      }),
    ),
  }),
});
