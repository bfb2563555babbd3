// The machine of a definition as an XState config: plain JSON, so it can be stored, sent and opened in XState's visual tools. compile.ts
// makes bands of it. The meaning of its guards and actions: guards.ts.
import { findOperator } from '../operator/registry.js';
import type { Fault } from '../schema/failure.js';
import {
  aggregateWords,
  type ContractDefinition,
  isOnAggregate,
  type OnAggregate,
  type TransitionDefinition,
} from './definition.js';
import { ExpressionError, parseCondition, type Vocabulary } from './expression/condition.js';
import { ALL, type IntegerSet, intersection } from './expression/integer-set.js';
import { type AsksFor, type CountIn, type Emit, type Fire, type Held, INPUT } from './guards.js';

interface Taken {
  readonly target: string;
  readonly actions: readonly [
    { readonly type: 'fire'; readonly params: Fire },
    'hold',
    ...{ readonly type: 'emit'; readonly params: Emit }[],
  ];
  readonly description: string;
}

type Stays = { readonly guard: 'held'; readonly description: string };
type OnCounts = Taken & { readonly guard: { readonly type: 'countIn'; readonly params: CountIn } };
type OnMove = Taken & { readonly guard: { readonly type: 'asksFor'; readonly params: AsksFor } };

interface StateConfig {
  readonly description: string;
  readonly tags: readonly 'admits'[];
  readonly on: { readonly aggregate: readonly [Stays, ...OnCounts[]]; readonly move: readonly OnMove[] };
}

export interface MachineConfig {
  readonly id: string;
  readonly description: string;
  readonly meta: object;
  readonly initial: string;
  readonly context: Held;
  readonly on: object;
  readonly states: Readonly<Record<string, StateConfig>>;
}

const needs = {
  guards: ['held', 'countIn', 'asksFor'],
  actions: ['fire', 'hold', 'backOff', 'emit'],
  from: '@weir/cli',
  run: "import { createActor } from 'xstate'; import { contractMachine } from '@weir/cli'; createActor(contractMachine(config)).start()",
};

/** `faults` are unreadable conditions. */
export function configOf(definition: ContractDefinition): {
  readonly config: MachineConfig;
  readonly faults: readonly Fault[];
} {
  const { states, transitions, ...rest } = definition;
  const conditions = conditionsOf(definition);
  const edges: { readonly from: string; readonly onCounts: OnCounts | undefined; readonly onMove: OnMove }[] = [];
  for (const [index, transition] of transitions.entries()) {
    const { from, to: target, trigger, fires_when: further = null } = transition;
    const countIn = conditions.countIn(index, transition);
    const aggregate = countIn?.aggregate ?? 0;
    const actions = actionsOf(index, transition, aggregate);
    const conditionText = isOnAggregate(trigger) ? `${trigger.condition} (${aggregateWords(trigger, definition)})` : '';
    edges.push({
      from,
      onCounts: countIn && {
        ...{ guard: { type: 'countIn', params: countIn }, target, actions },
        description: further === null ? conditionText : `${conditionText} and ${further}`,
      },
      onMove: {
        guard: { type: 'asksFor', params: { to: target, aggregate, fires_when: further } },
        ...{ target, actions },
        description: further === null ? `asked for ${target}` : `asked for ${target}, if ${further}`,
      },
    });
  }
  const names = Object.keys(states);
  const config: MachineConfig = {
    id: definition.name,
    description: `Contract ${definition.name} ${definition.version}. Its guards and actions are those of @weir/cli: see meta.needs.`,
    meta: { definition: rest, needs },
    initial: names.find((name) => states[name]!.initial === true) ?? '',
    context: { heldUntilCycle: Number.MIN_SAFE_INTEGER, refusals: 0 },
    on: {
      refused: { description: 'The operator refused; due again after a hold that doubles.', actions: ['backOff'] },
    },
    states: Object.fromEntries(
      names.map((name) => {
        const { initial = false, admits = initial } = states[name]!;
        const leaving = edges.filter(({ from }) => from === name);
        const onCounts = leaving.flatMap((edge) => edge.onCounts ?? []);
        return [
          name,
          stateOf(
            admits,
            onCounts,
            leaving.map((edge) => edge.onMove),
          ),
        ];
      }),
    ),
  };
  return { config, faults: conditions.faults };
}

function stateOf(admits: boolean, onCounts: readonly OnCounts[], move: readonly OnMove[]): StateConfig {
  const held = { guard: 'held', description: 'No evaluation moves a contract that is held.' } as const;
  return {
    description: admits ? 'Requests are admitted.' : 'Requests are limited.',
    tags: admits ? ['admits'] : [],
    on: { aggregate: [held, ...onCounts], move },
  };
}

function actionsOf(
  index: number,
  { operator, inputs = {}, proof_required, post_actions = [] }: TransitionDefinition,
  aggregate: number,
): Taken['actions'] {
  const needsProof = proof_required ?? findOperator(operator)?.proofRequired ?? false;
  const fire: Fire = { transition: index, operator, inputs: { ...inputs }, proof_required: needsProof };
  return [
    { type: 'fire', params: fire },
    'hold',
    ...post_actions.map(({ emit: event }) => ({ type: 'emit' as const, params: { event, aggregate } })),
  ];
}

const COUNT: Vocabulary = { names: ['count'] };
const REFUSED: Vocabulary = { names: ['refused'] };

function conditionsOf({ rule, transitions }: ContractDefinition) {
  const faults: Fault[] = [];
  const aggregates: string[] = [];
  const looksAt = rule === undefined ? COUNT : REFUSED;
  const isTriggered = transitions.some(({ trigger }) => isOnAggregate(trigger));
  const withInput: Vocabulary = { names: isTriggered ? looksAt.names : [], prefixes: [INPUT] };
  const read = <T>(path: string, parse: () => T): T | undefined => {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      faults.push({ path, message: `cannot be read: ${error.message}` });
      return undefined;
    }
  };
  const place = (trigger: OnAggregate): number => {
    const aggregate = trigger.aggregate === 'count' ? `${trigger.event} ${trigger.within}` : trigger.event;
    const found = aggregates.indexOf(aggregate);
    return found >= 0 ? found : aggregates.push(aggregate) - 1;
  };
  return {
    faults,
    countIn(index: number, { trigger, fires_when: further }: TransitionDefinition): CountIn | undefined {
      const counts = (field: string, text: string) =>
        read(`/transitions/${index}/${field}`, () => parseCondition(text, looksAt).counts());
      if (!isOnAggregate(trigger)) {
        const path = `/transitions/${index}/fires_when`;
        if (further != null) read(path, () => parseCondition(further, withInput));
        return undefined;
      }
      // A trigger fires without inputs, so the further condition may only use what the trigger tests.
      const also = further == null ? undefined : counts('fires_when', further);
      const fires = counts('trigger/condition', trigger.condition) ?? ALL;
      const { event } = trigger;
      return {
        ...(trigger.aggregate === 'count' ? { event, within: trigger.within } : { event, refused: true }),
        aggregate: place(trigger),
        ranges: rangesOf(also === undefined ? fires : intersection(fires, also)),
      };
    },
  };
}

function rangesOf(counts: IntegerSet): CountIn['ranges'] {
  // `+ 0`: JSON has no -0.
  return counts.map(({ lo, hi }) => [lo + 0, hi === Number.POSITIVE_INFINITY ? null : hi + 0]);
}
