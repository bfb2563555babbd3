// The schemas of machines, contracts, decisions and problems in answers of the node.
import type { Static } from 'typebox';
import { WhenAway } from '../core/limiter/definition.js';
import { HeadShape } from '../core/record/verification.js';
import { flag } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { Cycle, Keyed } from './shapes.js';

export const MachineSummary = Type.Object({
  slug: Type.String(),
  display_name: Type.String(),
  is_public: flag('Whether anyone may read it.'),
  is_own: flag('Whether it belongs to the caller.'),
  created_cycle: Cycle,
  deleted_at: Type.Optional(
    Type.String({
      description: 'When it was deleted, ISO 8601: its record is read for a time. Absent while it is there.',
    }),
  ),
  head: HeadShape,
  contract_count: Type.Integer({ description: 'Contracts on the machine.' }),
});

const Name = Type.String({ description: 'The name that its owner gave it; without one, that of its definition.' });

const ContractLine = Type.Object({
  id: Type.String(),
  currentState: Type.String(),
  name: Name,
});

export const MachineView = Type.Object({
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

export const ComparedKey = Type.Object({
  key: Type.String({ description: 'The key, or its keyed hash.' }),
  ...differences,
});

export const ContractView = Type.Object({
  id: Type.String(),
  currentState: Type.String({ description: 'Name of its current state.' }),
  machine: Type.String({ description: 'Slug of its machine.' }),
  name: Name,
  definition_name: Type.String({ description: 'Name of its definition.' }),
  version: Type.String({ description: 'Version of its definition.' }),
  template_id: Type.Optional(Type.String({ description: 'The template it was made from; absent if there is none.' })),
  threshold: Type.Optional(Type.Integer({ description: 'How many requests are admitted if all come at once.' })),
  within: Type.Optional(Type.Integer({ description: 'Length of the window in cycles; absent for a rule.' })),
  rule: Type.Optional(
    Type.String({
      description: 'Primitive of its rule; its threshold is what that admits at once, its count what is used up.',
    }),
  ),
  shadow: Type.Optional(flag('Whether it admits all, and says what it would have limited.')),
  when_away: Type.Optional(WhenAway),
  keyed: Type.Optional(
    Type.Object(
      {
        ...Keyed.properties,
        keys: Type.Integer({ description: 'Keys that are there now.' }),
        limited: Type.Integer({ description: 'Those of them whose state does not admit.' }),
      },
      {
        description:
          'Each key is a gate of its own; state and count of the contract are those that keys without a place share.',
      },
    ),
  ),
  candidate: Type.Optional(
    Type.Object(
      {
        limiter: LimiterShown,
        ...compared,
        limited: Type.Integer({ description: 'Limited by the contract since.' }),
        would_limit: Type.Integer({ description: 'Limited by the candidate since.' }),
      },
      { description: 'A second rule that is only checked.' },
    ),
  ),
  created_cycle: Cycle,
  first_fire_cycle: Cycle,
});

export const ContractStatus = Type.Object({
  ...ContractView.properties,
  key: Type.Optional(Type.String({ description: 'The key that was asked for, or its keyed hash.' })),
  count: Type.Integer({ description: 'Events in the window.' }),
  remaining: Type.Optional(Type.Integer({ description: 'max(0, threshold - count).' })),
  retry_after_cycles: Type.Optional(
    Type.Integer({ description: '0 if a request would be admitted now; absent for never.' }),
  ),
  restores_in_cycles: Type.Optional(
    Type.Integer({ description: 'Absent if it admits now, or if it never restores without a request.' }),
  ),
  held_until_cycle: Type.Optional(
    Type.Integer({ description: 'No evaluation leaves the state before this cycle; absent without a hold.' }),
  ),
  failure: Type.Optional(Type.String({ description: 'Why the contract has stopped; absent while it runs.' })),
});

export const State = Type.String({ description: 'State after the events were counted; absent with `away`.' });
export const Counted = Type.Integer({
  description: 'Events in the window, limited ones included; absent with `away`.',
});

export const DecisionShape = Type.Object({
  id: Type.String({ description: 'Id of the contract.' }),
  key: Type.Optional(Type.String({ description: 'Of a contract with keys: the key, or its keyed hash.' })),
  state: Type.Optional(State),
  count: Type.Optional(Counted),
  threshold: Type.Optional(
    Type.Integer({ description: 'How many requests are admitted if all come at once; absent if there is no bound.' }),
  ),
  remaining: Type.Optional(Type.Integer({ description: 'max(0, threshold - count).' })),
  admitted: Type.Integer({ description: 'Events of this request that were admitted.' }),
  limited: Type.Integer({ description: 'Events of this request that were limited.' }),
  would_limit: Type.Optional(flag('Of a shadow, which admits all: whether it would have limited the last event.')),
  away: Type.Optional(
    Type.Literal(true, {
      description:
        'The store of the network could not be asked, and the contract is open then: admitted, and not counted.',
    }),
  ),
  retry_after_cycles: Type.Optional(
    Type.Integer({
      description: 'Cycles until a request is admitted if nothing else arrives; 0 for now, absent for never.',
    }),
  ),
  retry_after_ms: Type.Optional(
    Type.Number({ description: 'The same in ms, for a contract with a rule; 0 for now, absent for never.' }),
  ),
  delay_ms: Type.Optional(
    Type.Number({
      description:
        'How long the rule holds the admitted request, in ms, the longest of several. The node does not wait.',
    }),
  ),
});

export const Problem = Type.Object(
  {
    ok: Type.Literal(false),
    type: Type.String({ description: 'A URI that names the kind of problem.' }),
    title: Type.String({ description: 'The same for every problem of this kind.' }),
    status: Type.Integer({ description: 'The HTTP status.' }),
    detail: Type.String({ description: 'What happened, why, and what to do.' }),
    code: Type.String({ description: 'Stable code of the problem.' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: 'JSON pointer to the invalid value.' }),
          message: Type.String({ description: 'What is allowed at that place.' }),
        }),
      ),
    ),
  },
  { description: 'A problem (RFC 9457).' },
);
export type Problem = Static<typeof Problem>;
