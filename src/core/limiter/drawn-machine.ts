// The schema of a machine as XState's tools write it, restricted to the guards and actions of contracts.
import { exact, flag, whole } from '../schema/fields.js';
import { Type } from '../schema/json-schema.js';

const text = (description: string, maxLength = 64) => Type.Optional(Type.String({ maxLength, description }));
const Loose = (description: string) =>
  Type.Optional(Type.Object({}, { additionalProperties: true, maxProperties: 64, description }));

export const Params = {
  countIn: exact({
    event: text('The kind of event that is counted; the name of the event of the transition when absent.'),
    'within?': whole(1, 100_000, 'Length of the rolling window in cycles; 60 when absent.'),
    condition: text('When the transition fires, for example `count > 100`.', 500),
    'ranges?': Type.Array(
      Type.Array(Type.Union([Type.Null(), Type.Integer({ minimum: 0 })]), { minItems: 2, maxItems: 2 }),
      {
        maxItems: 256,
        description:
          'In place of `condition`: the counts at which it fires, as [lowest, highest], null for no highest.',
      },
    ),
    'refused?': flag('Whether it looks at the rule of the definition.'),
    'aggregate?': whole(0, 256, 'Given by Weir; not read.'),
  }),
  asksFor: exact({
    to: text('Given by Weir; not read.'),
    'aggregate?': whole(0, 256, 'Given by Weir; not read.'),
    'fires_when?': Type.Union([Type.Null(), Type.String({ maxLength: 500 })], {
      description: 'A condition on `count` and `input.<name>`; null for none.',
    }),
  }),
  emit: exact({
    event: Type.String({ maxLength: 64, description: 'Name of the event that is emitted.' }),
    'aggregate?': whole(0, 256, 'Given by Weir; not read.'),
  }),
  fire: exact({
    'transition?': whole(0, 256, 'Its place among all transitions.'),
    operator: text('Id of the registry operator; KO42 when absent.'),
    'inputs?': Type.Record(Type.String(), Type.Number(), { maxProperties: 32, description: 'Inputs of the operator.' }),
    'proof_required?': flag('Whether the result is proved and verified.'),
  }),
} as const;

const Named = <T extends (typeof Params)[keyof typeof Params]>(type: keyof typeof Params, params: T) =>
  exact({ type: Type.Literal(type), 'params?': params });
const Action = Type.Union([
  Type.String({ maxLength: 64, description: 'fire or hold.' }),
  Named('fire', Params.fire),
  Named('emit', Params.emit),
]);

export const Edge = exact({
  target: text('State that the transition enters.'),
  'guard?': Type.Union([Type.Literal('held'), Named('countIn', Params.countIn), Named('asksFor', Params.asksFor)], {
    description: 'countIn for events, asksFor for `move`; held is given by Weir.',
  }),
  'actions?': Type.Union([Action, Type.Array(Action, { maxItems: 18 })], { description: 'What follows, in order.' }),
  'reenter?': Type.Literal(false, { description: 'A target is another state in any case.' }),
  description: text('Said to readers only.', 2_000),
  meta: Loose('Said to readers only.'),
});

const common = {
  id: text('Of the root: the name of the definition.'),
  description: text('Said to readers only.', 2_000),
  meta: Loose('Of the root: `definition` holds further fields of the definition, for example rule or shadow.'),
};

export const State = exact({
  ...common,
  'type?': Type.Literal('atomic', { description: 'States have no states within.' }),
  'tags?': Type.Union([Type.String({ maxLength: 64 }), Type.Array(Type.String({ maxLength: 64 }), { maxItems: 16 })], {
    description: 'admits: requests that find the contract in this state are admitted.',
  }),
  'on?': Type.Record(
    Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$' }),
    Type.Union([Type.String({ maxLength: 64 }), Edge, Type.Array(Edge, { maxItems: 257 })]),
    {
      maxProperties: 64,
      description: 'Transitions by kind of event, or `move`: by hand. The first whose guard holds is taken.',
    },
  ),
});

export const DrawnMachine = exact({
  ...common,
  'type?': Type.Literal('compound', { description: 'One of its states at a time.' }),
  $schema: text('Said to tools only.', 500),
  version: text('Version of the definition; 1.0 when absent.', 24),
  initial: Type.String({ maxLength: 64, description: 'The state of a new contract.' }),
  context: Loose('Given by Weir; not read.'),
  on: Loose('Given by Weir: `refused`.'),
  states: Type.Record(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$' }), State, {
    minProperties: 1,
    maxProperties: 64,
    description: 'The states by name.',
  }),
});
