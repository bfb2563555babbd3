// The schemas of machines, contracts, decisions and problems in answers of the node.
import type { Static } from 'typebox';
import { WhenAway } from '../core/limiter/definition.js';
import { HeadShape } from '../core/record/verification.js';
import { flag, shape } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { Cycle, Keyed } from './shapes.js';

export const MachineSummary = shape({
  slug: Type.String(),
  display_name: Type.String(),
  is_public: flag('Whether anyone may read it.'),
  is_own: flag('Whether it belongs to the caller.'),
  created_cycle: Cycle,
  'deleted_at?': Type.String({
    description: 'When it was deleted, ISO 8601: its record is read for a time. Absent while it is there.',
  }),
  head: HeadShape,
  contract_count: Type.Integer({ description: 'Contracts on the machine.' }),
});

const Name = Type.String({ description: 'The name that its owner gave it; without one, that of its definition.' });

const ContractLine = shape({
  id: Type.String(),
  currentState: Type.String(),
  name: Name,
});

export const MachineView = shape({
  ...MachineSummary.properties,
  contracts: Type.Array(ContractLine, {
    description: 'The first 100, in order of creation; GET …/contracts lists all, in pages.',
  }),
});

export const LimiterShown = Type.Object(
  {},
  { additionalProperties: true, description: '{ threshold, within }, { primitive, params }, or a whole definition.' },
);

const differences = {
  both: Type.Integer({ description: 'Limited by both.' }),
  only_limiter: Type.Integer({ description: 'Limited by the contract, and not by the candidate: newly admitted.' }),
  only_candidate: Type.Integer({ description: 'Limited by the candidate alone: newly refused.' }),
};

export const compared = {
  since: Type.Integer({ description: 'The cycle from which on they are compared.' }),
  requests: Type.Integer({ description: 'Requests that both decided on since.' }),
  ...differences,
};

export const ComparedKey = shape({
  key: Type.String({ description: 'The key, or its keyed hash.' }),
  ...differences,
});

export const ContractView = shape({
  id: Type.String(),
  currentState: Type.String({ description: 'Name of its current state.' }),
  machine: Type.String({ description: 'Slug of its machine.' }),
  name: Name,
  definition_name: Type.String({ description: 'Name of its definition.' }),
  version: Type.String({ description: 'Version of its definition.' }),
  'template_id?': Type.String({ description: 'The template it was made from; absent if there is none.' }),
  'threshold?': Type.Integer({ description: 'How many requests are admitted if all come at once.' }),
  'within?': Type.Integer({ description: 'Length of the window in cycles; absent for a rule.' }),
  'rule?': Type.String({
    description: 'Primitive of its rule; its threshold is what that admits at once, its count what is used up.',
  }),
  'shadow?': flag('Whether it admits all, and says what it would have limited.'),
  'when_away?': WhenAway,
  'keyed?': shape(
    'Each key is a gate of its own; state and count of the contract are those that keys without a place share.',
    {
      ...Keyed.properties,
      keys: Type.Integer({ description: 'Keys that are there now.' }),
      limited: Type.Integer({ description: 'Those of them whose state does not admit.' }),
    },
  ),
  'candidate?': shape('A second rule that is only checked.', {
    limiter: LimiterShown,
    ...compared,
    limited: Type.Integer({ description: 'Limited by the contract since.' }),
    would_limit: Type.Integer({ description: 'Limited by the candidate since.' }),
  }),
  created_cycle: Cycle,
  first_fire_cycle: Cycle,
});

export const ContractStatus = shape({
  ...ContractView.properties,
  'key?': Type.String({ description: 'The key that was asked for, or its keyed hash.' }),
  count: Type.Integer({ description: 'Events in the window.' }),
  'remaining?': Type.Integer({ description: 'max(0, threshold - count).' }),
  'retry_after_cycles?': Type.Integer({ description: '0 if a request would be admitted now; absent for never.' }),
  'restores_in_cycles?': Type.Integer({
    description: 'Absent if it admits now, or if it never restores without a request.',
  }),
  'held_until_cycle?': Type.Integer({
    description: 'No evaluation leaves the state before this cycle; absent without a hold.',
  }),
  'failure?': Type.String({ description: 'Why the contract has stopped; absent while it runs.' }),
});

export const State = Type.String({ description: 'State after the events were counted; absent with `away`.' });
export const Counted = Type.Integer({
  description: 'Events in the window, limited ones included; absent with `away`.',
});

export const DecisionShape = shape({
  id: Type.String({ description: 'Id of the contract.' }),
  'key?': Type.String({ description: 'Of a contract with keys: the key, or its keyed hash.' }),
  'state?': State,
  'count?': Counted,
  'threshold?': Type.Integer({
    description: 'How many requests are admitted if all come at once; absent if there is no bound.',
  }),
  'remaining?': Type.Integer({ description: 'max(0, threshold - count).' }),
  admitted: Type.Integer({ description: 'Events of this request that were admitted.' }),
  limited: Type.Integer({ description: 'Events of this request that were limited.' }),
  'would_limit?': flag('Of a shadow, which admits all: whether it would have limited the last event.'),
  'away?': Type.Literal(true, {
    description:
      'The store of the network could not be asked, and the contract is open then: admitted, and not counted.',
  }),
  'retry_after_cycles?': Type.Integer({
    description: 'Cycles until a request is admitted if nothing else arrives; 0 for now, absent for never.',
  }),
  'retry_after_ms?': Type.Number({
    description: 'The same in ms, for a contract with a rule; 0 for now, absent for never.',
  }),
  'delay_ms?': Type.Number({
    description: 'How long the rule holds the admitted request, in ms, the longest of several. The node does not wait.',
  }),
});

export const Problem = shape('A problem (RFC 9457).', {
  ok: Type.Literal(false),
  type: Type.String({ description: 'A URI that names the kind of problem.' }),
  title: Type.String({ description: 'The same for every problem of this kind.' }),
  status: Type.Integer({ description: 'The HTTP status.' }),
  detail: Type.String({ description: 'What happened, why, and what to do.' }),
  code: Type.String({ description: 'Stable code of the problem.' }),
  'errors?': Type.Array(
    shape({
      path: Type.String({ description: 'JSON pointer to the invalid value.' }),
      message: Type.String({ description: 'What is allowed at that place.' }),
    }),
  ),
});
export type Problem = Static<typeof Problem>;
