// The endpoints that change a contract in place: its name, numbers and rule, and the candidate compared with it.
import { ContractDefinition, Shadow } from '../core/limiter/definition.js';
import { exact, shape, strict } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { LimiterField, LimitText } from './contracts.js';
import { get, patch, post } from './endpoint.js';
import { ContractName, limitOf, OfContract, ok, thresholdOf, withinOf } from './shapes.js';
import { ComparedKey, ContractView, compared, LimiterShown } from './views.js';

const Value = Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Boolean()]));

const Changed = {
  contract: ContractView,
  changes: Type.Array(shape({ what: Type.String(), from: Value, to: Value }), {
    description: 'As in the row of the record; empty, and no row is written, where nothing changes.',
  }),
  forgotten: Type.Optional(Type.String({ description: 'What of its counts could not be kept; absent for nothing.' })),
};

export const changeContract = patch('/api/chain/{slug}/contracts/{contract_id}', {
  shapes: {
    params: OfContract,
    body: Type.Object(
      {
        name: Type.Optional(
          Type.Union([Type.Null(), ContractName], { description: 'Its name from now on; null removes it.' }),
        ),
        threshold: thresholdOf(),
        within: withinOf(),
        near_limit: Type.Optional(
          Type.Union([Type.Null(), Type.Number({ minimum: 0.01, maximum: 0.99 })], {
            description: 'As of a deploy; null: it has no state nearing.',
          }),
        ),
        limiter: Type.Optional(LimiterField),
        limit: Type.Optional(LimitText),
        definition: Type.Optional(exact('A definition of your own.', ContractDefinition.properties)),
        shadow: Type.Optional(Shadow),
        candidate: Type.Optional(
          Type.Union([Type.Null(), LimiterField, LimitText], {
            description: 'A limiter that is only checked: what it would limit is counted. null removes it.',
          }),
        ),
      },
      { ...strict, minProperties: 1 },
    ),
  },
  answers: ok('The contract as it is now.', Changed),
});

export const promoteCandidate = post('/api/chain/{slug}/contracts/{contract_id}/promote', {
  shapes: { params: OfContract },
  answers: ok('The contract as it is now.', Changed),
});

export const showCandidate = get('/api/chain/{slug}/contracts/{contract_id}/candidate', {
  shapes: { params: OfContract, querystring: exact({ limit: limitOf('Keys', 1_000) }) },
  answers: ok('What contract and candidate decided differently, and for whom.', {
    limiter: LimiterShown,
    ...compared,
    keys: Type.Integer({ description: 'Keys that they treated differently, of the first 10,000.' }),
    by_key: Type.Array(ComparedKey, { description: 'Those with most differences first.' }),
  }),
});
