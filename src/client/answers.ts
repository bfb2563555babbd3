// Owns what the commands read of a node's answers: the fields they show, and no more, so that a node of a later version may say
// more. Leaves asking to api.ts.
import type { Static } from 'typebox';
import { ContractStatus, ContractView, DecisionShape, MachineSummary, MachineView } from '../api/views.js';
import { SuccessionShape } from '../record/shape.js';
import { Type } from '../schema/json-schema.js';

const Text = Type.String();
const Whole = Type.Integer();
const Numbers = Type.Record(Type.String(), Type.Number());

export const PublicKey = Type.Object({ public_key: Text, successions: Type.Optional(Type.Array(SuccessionShape)) });

export const Minted = Type.Object({
  key: Text,
  key_id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  owner: Text,
  expires_at: Text,
});

export const Session = Type.Object({ owner: Text, expires_at: Text });

export const OneMachine = Type.Object({ machine: MachineView });
export const Machines = Type.Object({ machines: Type.Array(MachineSummary), next: Type.Optional(Text) });

export const Template = Type.Object({
  template: Type.Object({
    id: Type.Optional(Text),
    category: Type.Optional(Text),
    name: Text,
    version: Text,
    parameters: Type.Optional(Type.Record(Text, Type.Object({ default: Whole, min: Whole, max: Whole, unit: Text }))),
    states: Type.Record(Text, Type.Object({ initial: Type.Optional(Type.Boolean()), role: Type.Optional(Text) })),
    transitions: Type.Array(
      Type.Object({
        from: Text,
        to: Text,
        operator: Text,
        proof_required: Type.Optional(Type.Boolean()),
        trigger: Type.Optional(
          Type.Union([
            Type.Null(),
            Type.Object({
              kind: Text,
              event: Type.Optional(Text),
              within: Type.Optional(Whole),
              condition: Type.Optional(Text),
            }),
          ]),
        ),
        post_actions: Type.Optional(Type.Array(Type.Object({ emit: Text }))),
      }),
    ),
    uses: Type.Optional(Type.Array(Text)),
  }),
});

export const Deployed = Type.Object({ contract: ContractView });
export const Contracts = Type.Object({ contracts: Type.Array(ContractView) });
export const OneContract = Type.Object({
  contract: Type.Object({
    ...ContractStatus.properties,
    last_transitions: Type.Array(
      Type.Object({
        seq: Whole,
        cycle: Whole,
        at: Text,
        from: Type.Optional(Text),
        to: Type.Optional(Text),
        cause: Text,
        emitted: Type.Array(Text),
      }),
    ),
  }),
});

export const Moved = Type.Object({
  previous_state: Text,
  new_state: Text,
  cycle: Whole,
  seq: Whole,
  hash: Text,
  master_equation_block: Text,
  proof_digest: Type.Union([Text, Type.Null()]),
  emitted: Type.Array(Text),
});

export const Counted = Type.Object({ cycle: Whole, contracts: Type.Array(DecisionShape) });

const { admitted: _admitted, limited: _limited, ...decided } = DecisionShape.properties;
/** The same fields with both answers: 200 admitted, 429 limited. */
export const Gated = Type.Object({ cycle: Whole, decision: Type.Enum(['admitted', 'limited']), ...decided });

export const Active = Type.Object({
  window_cycles: Whole,
  cycle: Whole,
  machines: Type.Array(Type.Object({ slug: Text, transitions: Whole, last_transition_cycle: Whole, contracts: Whole })),
});

export const Endpoints = Type.Object({
  count: Whole,
  endpoints: Type.Array(Type.Object({ method: Text, path: Text, auth: Text, summary: Text })),
});

const Operator = Type.Object({
  id: Text,
  name: Text,
  version: Text,
  kind: Text,
  equation: Text,
  inputs: Type.Record(
    Text,
    Type.Object({
      unit: Text,
      min: Type.Number(),
      max: Type.Number(),
      default: Type.Optional(Type.Number()),
      description: Text,
    }),
  ),
  result: Type.Object({ unit: Text, description: Text }),
  proof_required: Type.Boolean(),
  cases: Type.Array(Type.Object({ inputs: Numbers, result: Type.Number(), source: Text })),
});
export type Operator = Static<typeof Operator>;
export const Operators = Type.Object({ operators: Type.Array(Operator) });
export const OneOperator = Type.Object({ operator: Operator });

export const Shifted = Type.Object({
  base_cycle: Whole,
  steps: Whole,
  cycle_seconds: Type.Number(),
  projection: Type.Array(
    Type.Object({ step: Whole, cycle: Whole, operator: Text, result: Type.Number(), proof_digest: Text }),
  ),
  summary: Type.Object({ min: Type.Number(), max: Type.Number(), mean: Type.Number() }),
});

export const Clock = Type.Object({ cycle: Whole, cycle_ms: Whole, next_cycle_in_ms: Type.Number() });
