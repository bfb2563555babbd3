// The schema of a contract definition as its author writes it. plan.ts gives it its meaning.
import type { Static } from 'typebox';
import { exact, flag, text, whole } from '../schema/fields.js';
import { Type } from '../schema/json-schema.js';
import { GatewayDefinition } from './gateway-definition.js';
import { RuleDefinition } from './rule/rule-definition.js';

const Name = (description: string) =>
  Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$', minLength: 1, maxLength: 64, description });

const StateDefinition = exact({
  'initial?': flag('A new contract is in this state. Exactly one state is initial.'),
  'role?': Type.Enum(['initial', 'intermediate', 'final'], {
    description: 'What the state is for; said to readers only.',
  }),
  'admits?': flag(
    'Whether an event that finds the contract in this state is admitted. Default: only the initial state admits.',
  ),
});

const TriggerDefinition = Type.Object(
  { kind: text(1, 64, 'The kind of trigger: on_aggregate.') },
  { additionalProperties: true },
);

const Counted = Name('The kind of event that is counted, for example request.');
const Condition = (of: string, example: string) =>
  text(1, 500, `When the transition fires: comparisons of \`${of}\`, for example \`${of} ${example}\`.`);

export const OnCount = exact({
  kind: Type.Literal('on_aggregate'),
  event: Counted,
  aggregate: Type.Literal('count', { description: 'What is taken over the window.' }),
  within: whole(1, 100_000, 'Length of the rolling window in cycles.'),
  condition: Condition('count', '> 100'),
});

/** The decision of the rule: 1 from a refused event on, 0 once an event would be admitted again. */
export const OnRefused = exact({
  kind: Type.Literal('on_aggregate'),
  event: Counted,
  aggregate: Type.Literal('refused', { description: 'Whether the rule refuses.' }),
  condition: Condition('refused', '> 0'),
});

const PostAction = exact({ emit: Name('Name of the event that is emitted once the transition is on the record.') });

export const TransitionDefinition = exact({
  from: Name('State that the transition leaves.'),
  to: Name('State that the transition enters.'),
  operator: text(1, 64, 'Id of the registry operator that the transition fires.'),
  'inputs?': Type.Record(
    Type.String({ minLength: 1, maxLength: 64 }),
    Type.Number({ minimum: -1e300, maximum: 1e300 }),
    {
      maxProperties: 32,
      description: 'Inputs of the operator, in its units. A manual transition may give others.',
    },
  ),
  'fires_when?': Type.Union([Type.Null(), Type.String({ minLength: 1, maxLength: 500 })], {
    description: 'A further condition on `count` and `input.<name>`, for example `input.level >= 3`; null for none.',
  }),
  'proof_required?': flag('Whether the result is proved and verified at each fire. Always true for physics operators.'),
  'trigger?': Type.Union([Type.Null(), TriggerDefinition], {
    description: 'What fires the transition without a request for it; null: only a manual transition does.',
  }),
  'post_actions?': Type.Array(PostAction, { maxItems: 16, description: 'What follows, in order.' }),
});

const ParameterDefinition = exact({
  default: whole(1, 1_000_000_000, 'Taken when a deploy does not give the parameter.'),
  min: whole(1, 1_000_000_000, 'Smallest value allowed.'),
  max: whole(1, 1_000_000_000, 'Largest value allowed.'),
  unit: text(1, 64, 'What the number counts.'),
});

export const Shadow = flag(
  'Whether it counts, moves and reports, and admits all: the answers say what it would have limited.',
);

export const WhenAway = Type.Enum(['closed', 'open'], {
  description:
    'What becomes of requests while the store of a network of nodes cannot be asked: closed, refused with 503 (when absent), or open, admitted with `away` in the answer, and not counted afterwards. A single node has its store with it, and never comes to this.',
});

export const ContractDefinition = exact({
  'id?': Type.String({ pattern: '^[a-z0-9-]{1,64}$', description: 'Id of the template the definition was made from.' }),
  'category?': text(1, 64, 'Shelf of the template catalogue.'),
  name: Name('Name of the definition, for example rate_limiter.'),
  version: Type.String({
    pattern: '^[0-9]{1,6}(\\.[0-9]{1,6}){0,2}$',
    description: 'Version of the definition, for example 1.0.',
  }),
  'audit_clock?': exact({
    on: flag('Whether rows are stamped with their cycle.'),
    tick_rate: whole(1, 1, 'Cycles per tick.'),
  }),
  'parameters?': Type.Record(Type.String({ pattern: '^[a-z_]{1,32}$' }), ParameterDefinition, {
    maxProperties: 16,
    description: 'Parameters of the template that the definition was made from.',
  }),
  'rule?': RuleDefinition,
  'shadow?': Shadow,
  'when_away?': WhenAway,
  'gate?': GatewayDefinition,
  states: Type.Record(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$' }), StateDefinition, {
    minProperties: 1,
    maxProperties: 64,
    description: 'The states by name.',
  }),
  transitions: Type.Array(TransitionDefinition, {
    maxItems: 256,
    description: 'In order of precedence: where several could fire, the first does.',
  }),
  'operators?': Type.Array(
    exact({
      id: text(1, 64, 'Id in the operator registry.'),
      'kind?': Type.Enum(['substrate', 'physics'], { description: 'Kind of the operator.' }),
    }),
    { maxItems: 64, description: 'The operators that the transitions fire.' },
  ),
  'uses?': Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    maxItems: 16,
    description: 'What it is good for.',
  }),
});

export type ContractDefinition = Static<typeof ContractDefinition>;
export type TransitionDefinition = Static<typeof TransitionDefinition>;
export type OnAggregate = Static<typeof OnCount> | Static<typeof OnRefused>;

export function isOnAggregate(trigger: TransitionDefinition['trigger']): trigger is OnAggregate {
  return trigger?.kind === 'on_aggregate';
}

export function aggregateWords(trigger: OnAggregate, { rule }: ContractDefinition): string {
  return trigger.aggregate === 'count'
    ? `${trigger.event}, ${trigger.within} cycles`
    : `${trigger.event}, ${rule?.primitive}`;
}
