// The endpoints of contracts: list templates, deploy, create, list, show, list keys, move to a state.
import { ContractDefinition, Shadow, WhenAway } from '../core/limiter/definition.js';
import { DrawnMachine } from '../core/limiter/drawn-machine.js';
import { GatewayDefinition } from '../core/limiter/gateway-definition.js';
import { RuleDefinition } from '../core/limiter/rule/rule-definition.js';
import { RowShape } from '../core/record/row.js';
import { exact, flag, real, shape, text, whole } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { get, post, remove } from './endpoint.js';
import {
  ContractName,
  Cycle,
  contractFields,
  created,
  freed,
  Hash,
  Key,
  Keyed,
  limitOf,
  OfContract,
  OfMachine,
  ok,
  pageOf,
  Search,
  Slug,
  Sort,
  thresholdOf,
  withinOf,
} from './shapes.js';
import { ContractStatus, ContractView, Counted, DecisionShape, State } from './views.js';

/** A contract shows its last `MOST_TRANSITIONS` transitions within the last `LOOK_BACK` rows of the record. */
export const LOOK_BACK = 200;
export const MOST_TRANSITIONS = 10;

const OfTemplate = shape({
  template_id: Type.String({ pattern: '^[a-z0-9-]{1,64}$', description: 'Id of the template.' }),
});

/** A limiter as in a scenario. The node checks which fields belong together. */
export const LimiterField = Type.Object(
  {},
  {
    additionalProperties: true,
    maxProperties: 64,
    description:
      'The limiter, as in a scenario: { primitive, params }, { like, … }, { paste } or { threshold, within }.',
  },
);

export const LimitText = text(
  1,
  20_000,
  "The limiter as a text: '100 in 60s', 'nginx 10r/s burst=5', 'gcra 10/s burst=20'. No file is read for it.",
);

const further = {
  name: Type.Optional(ContractName),
  shadow: Type.Optional(Shadow),
  when_away: Type.Optional(WhenAway),
  gate: Type.Optional(GatewayDefinition),
  keyed: Type.Optional(Keyed),
};

const Deployed = { contract: ContractView, template_id: Type.String() };

export const listTemplates = get('/api/contracts/templates', {
  shapes: {
    querystring: exact(pageOf('Templates', 'Only those behind this id: `next` of the previous page.')),
  },
  answers: ok('A page of templates.', {
    count: Type.Integer({ description: 'Templates on all pages.' }),
    templates: Type.Array(
      shape({ id: Type.String(), category: Type.String(), name: Type.String(), version: Type.String() }),
    ),
    'next?': Type.String({ description: '`after` of the next page; absent on the last page.' }),
  }),
});

export const inspectRateLimiter = get('/api/contracts/templates/rate-limiter', {
  answers: ok('The template.', { template: ContractDefinition }),
});

export const inspectTemplate = get('/api/contracts/templates/{template_id}', {
  shapes: { params: OfTemplate },
  answers: ok('The template.', { template: ContractDefinition }),
});

export const deployRateLimiter = post('/api/contracts/templates/rate-limiter/deploy', {
  shapes: {
    body: exact({
      slug: Slug,
      threshold: thresholdOf('; 100 when absent'),
      within: withinOf('; 60 when absent'),
      'near_limit?': real(
        0.01,
        0.99,
        'Share of the threshold from which the contract is in the state nearing, which emits near_limit; it leaves it once the count has fallen by a tenth of the threshold.',
      ),
      'rule?': LimiterField,
      'limit?': LimitText,
      ...further,
    }),
  },
  answers: created('The contract.', Deployed),
});

export const deployTemplate = post('/api/contracts/templates/{template_id}/deploy', {
  shapes: {
    params: OfTemplate,
    body: exact({
      slug: Slug,
      'params?': Type.Object(
        {},
        {
          additionalProperties: true,
          maxProperties: 64,
          description: 'Parameters of the rule; those of the template when absent.',
        },
      ),
      clock_resolution_ms: RuleDefinition.properties.clock_resolution_ms,
      announces: RuleDefinition.properties.announces,
      hold_ms: RuleDefinition.properties.hold_ms,
      ...further,
    }),
  },
  answers: created('The contract.', Deployed),
});

export const createContract = post('/api/chain/{slug}/contracts', {
  shapes: {
    params: OfMachine,
    body: Type.Union([
      exact({ ...ContractDefinition.properties, ...contractFields }),
      exact({ ...DrawnMachine.properties, ...contractFields }),
    ]),
  },
  answers: created('The contract.', { contract: ContractView }),
});

export const listContracts = get('/api/chain/{slug}/contracts', {
  shapes: {
    params: OfMachine,
    querystring: exact({
      ...pageOf('Contracts', 'Only contracts behind this one in the list: `next` of the page before.'),
      search: Search,
      'sort?': Sort,
    }),
  },
  answers: ok('A page of contracts, in order of creation unless `sort` says otherwise.', {
    contracts: Type.Array(ContractView),
    'next?': Type.String({ description: '`after` of the next page; absent on the last page.' }),
  }),
});

export const getContract = get('/api/chain/{slug}/contracts/{contract_id}', {
  shapes: { params: OfContract, querystring: exact({ 'key?': Key }) },
  answers: ok('The contract; with `key`, state and count are those of the key.', {
    contract: shape({
      ...ContractStatus.properties,
      definition: ContractDefinition,
      last_transitions: Type.Array(RowShape, {
        description: `Up to ${MOST_TRANSITIONS}, of the last ${LOOK_BACK} rows; newest last.`,
      }),
    }),
  }),
});

const { remaining, retry_after_cycles } = DecisionShape.properties;

export const listContractKeys = get('/api/chain/{slug}/contracts/{contract_id}/keys', {
  shapes: {
    params: OfContract,
    querystring: exact({
      'after?': whole(0, 100_000_000, '`next` of the page before.'),
      limit: limitOf('Keys'),
      'limited?': flag('Only keys whose state does not admit.'),
      search: Search,
    }),
  },
  answers: ok('A page of keys. One that comes or goes meanwhile may be missing.', {
    cycle: Cycle,
    keys: Type.Array(
      shape({
        key: Type.String({ description: 'The key, or its keyed hash.' }),
        state: State,
        count: Counted,
        remaining,
        retry_after_cycles,
      }),
    ),
    'next?': Type.Integer({ description: '`after` of the next page; absent on the last page.' }),
  }),
});

export const deleteContract = remove('/api/chain/{slug}/contracts/{contract_id}', {
  shapes: { params: OfContract },
  answers: ok('The contract is gone, and its room is free.', {
    freed: Type.Object(freed, { description: 'What the owner may have anew.' }),
  }),
});

export const showStateMachine = get('/api/chain/{slug}/contracts/{contract_id}/state-machine', {
  shapes: { params: OfContract },
  answers: ok(
    'The machine as a config of XState, whole as JSON. Its guards and actions are in the package: see its field meta.needs.',
    {
      state: Type.String({ description: 'Name of the current state of the contract.' }),
      machine: Type.Object(
        {
          id: Type.String({ description: 'Name of the definition.' }),
          initial: Type.String(),
          states: Type.Record(Type.String(), Type.Object({}, { additionalProperties: true })),
        },
        { additionalProperties: true },
      ),
    },
  ),
});

export const driveTransition = post('/api/chain/{slug}/contracts/{contract_id}/transition', {
  shapes: {
    params: OfContract,
    body: exact({
      to: text(1, 64, 'The state to enter.'),
      'key?': Key,
      'input?': Type.Record(
        Type.String({ minLength: 1, maxLength: 64 }),
        Type.Number({ minimum: -1e300, maximum: 1e300 }),
        {
          maxProperties: 32,
          description: 'For the condition of the transition, and for its operator.',
        },
      ),
      'hold_cycles?': whole(0, 100_000, 'Cycles for which no evaluation leaves the state; 0 when absent.'),
    }),
  },
  answers: ok('The transition, as the record has it.', {
    previous_state: Type.String(),
    new_state: Type.String(),
    cycle: Cycle,
    seq: Type.Integer({ description: 'Of its row.' }),
    hash: Hash,
    master_equation_block: Type.String({ description: 'The equation of the operator, verbatim.' }),
    proof_digest: Type.Union([Hash, Type.Null()], { description: 'null where no proof is required.' }),
    emitted: Type.Array(Type.String()),
  }),
});
