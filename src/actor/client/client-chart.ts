// A kind of client as a statechart: the config is data that can be drawn, guards and actions are pure functions with the names that the
// config gives them.
//
//   chart ──► behaviourOf    a table of its edges: what runs
//        └──► machineOf      an XState machine: what is drawn and inspected; stories and a property hold the two to each other
import { type AnyStateMachine, assign, emit, enqueueActions, setup } from 'xstate';
import { assert } from '../../schema/failure.js';
import { type Behaviour, type ClientEvent, type Effect, stay } from './behaviour.js';

/** What a client remembers beside the name of its state: which fields there are is a matter of its kind. */
type Memory = object;

type EventOf<Type extends ClientEvent['type']> = Extract<ClientEvent, { type: Type }>;

/** The memory and the event are those of the edges that name it. */
type Guard = (memory: never, event: never) => boolean;
/** The memory afterwards, and what is to be done. */
type Action = (memory: never, event: never) => readonly [Memory, readonly Effect[]];

interface Edge {
  readonly guard?: string;
  /** Absent: the client stays in its state. */
  readonly target?: string;
  readonly actions?: readonly string[];
}

interface ChartState {
  readonly on?: { readonly [Type in ClientEvent['type']]?: readonly Edge[] };
  /** Taken as soon as its guard holds, after any other. */
  readonly always?: readonly Edge[];
}

export interface ClientChart {
  readonly config: {
    readonly id: string;
    readonly initial: string;
    readonly context: Memory;
    readonly states: Readonly<Record<string, ChartState>>;
  };
  readonly guards: Readonly<Record<string, Guard>>;
  readonly actions: Readonly<Record<string, Action>>;
}

type State = { readonly at: string };

/** The events after which a client has no answer: it may try again. */
export const setbacks = ['limited', 'failed', 'lost', 'timeout'] as const;
export type SetbackEvent = EventOf<(typeof setbacks)[number]>;

/** The same edges for each setback. */
export function onSetback(...edges: readonly Edge[]): Record<SetbackEvent['type'], readonly Edge[]> {
  return { limited: edges, failed: edges, lost: edges, timeout: edges };
}

interface CompiledEdge {
  readonly guard: ((memory: Memory, event: ClientEvent) => boolean) | undefined;
  readonly target: string | undefined;
  readonly actions: readonly ((memory: Memory, event: ClientEvent) => readonly [Memory, readonly Effect[]])[];
}

interface CompiledState {
  readonly on: Readonly<Partial<Record<ClientEvent['type'], readonly CompiledEdge[]>>>;
  readonly always: readonly CompiledEdge[];
}

/** The chart as a reducer. */
export function behaviourOf({ config, guards, actions }: ClientChart): Behaviour<State> {
  const edgeOf = ({ guard, target, actions: names = [] }: Edge): CompiledEdge => ({
    guard: guard === undefined ? undefined : (named(guards, guard) as CompiledEdge['guard']),
    target,
    actions: names.map((name) => named(actions, name) as CompiledEdge['actions'][number]),
  });
  const states: Record<string, CompiledState> = {};
  for (const [name, { on = {}, always = [] }] of Object.entries(config.states)) {
    const edges = Object.entries(on).map(([type, given]) => [type, given.map(edgeOf)]);
    states[name] = { on: Object.fromEntries(edges), always: always.map(edgeOf) };
  }
  return {
    initial: { ...config.context, at: config.initial },
    on(state, event) {
      let edge = enabled(states[state.at]!.on[event.type], state, event);
      if (edge === undefined) return stay(state);
      let effects: readonly Effect[] = [];
      for (; edge !== undefined; edge = enabled(states[state.at]!.always, state, event)) {
        let memory: Memory = state;
        for (const action of edge.actions) {
          const [next, more] = action(memory, event);
          memory = next;
          effects = effects.length === 0 ? more : [...effects, ...more];
        }
        state = { ...memory, at: edge.target ?? state.at };
      }
      return [state, effects];
    },
  };
}

function enabled(
  edges: readonly CompiledEdge[] | undefined,
  memory: Memory,
  event: ClientEvent,
): CompiledEdge | undefined {
  if (edges === undefined) return undefined;
  for (const edge of edges) if (edge.guard === undefined || edge.guard(memory, event)) return edge;
  return undefined;
}

/** The chart for XState: its effects are emitted. */
export function machineOf({ config, guards, actions }: ClientChart): AnyStateMachine {
  const drawn = setup({
    types: { context: {} as Memory, events: {} as ClientEvent, emitted: {} as Effect },
    guards: Object.fromEntries(
      Object.entries(guards).map(([name, guard]) => [
        name,
        ({ context, event }: { context: Memory; event: ClientEvent }) => guard(context as never, event as never),
      ]),
    ),
    actions: Object.fromEntries(
      Object.entries(actions).map(([name, action]) => [
        name,
        enqueueActions(({ context, event, enqueue }) => {
          const [next, effects] = action(context as never, event as never);
          // What the memory of the state before had and the next has not is gone.
          const gone = Object.fromEntries(Object.keys(context).map((field) => [field, undefined]));
          enqueue(assign({ ...gone, ...next } as never));
          for (const effect of effects) enqueue(emit(effect as never));
        }),
      ]),
    ) as object,
  });
  return drawn.createMachine(config as never) as unknown as AnyStateMachine;
}

function named<T>(meanings: Readonly<Record<string, T>>, name: string): T {
  const meaning = meanings[name];
  assert(meaning !== undefined, `a statechart names "${name}", which means nothing`);
  return meaning;
}
