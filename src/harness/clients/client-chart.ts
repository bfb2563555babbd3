// A kind of client as a statechart: its config is data that can be drawn, its guards and actions are pure functions by name.
//
//   chart ──► behaviourOf    a table of its edges: the logic of the actors
//        └──► clientDiagram  a drawing
import type { ActorLogic, Snapshot } from 'xstate';
import { assert } from '../../core/schema/failure.js';
import {
  type Behaviour,
  type ClientEvent,
  type ClientState,
  type Effect,
  type SetbackType,
  type Step,
  stay,
} from './behaviour.js';

type Memory = object;

export type EventOf<Type extends ClientEvent['type']> = Extract<ClientEvent, { type: Type }>;

type Guard = (memory: never, event: never) => boolean;
type Action = (memory: never, event: never) => readonly [Memory, readonly Effect[]];

interface Edge {
  readonly guard?: string;
  /** Absent: the state stays. */
  readonly target?: string;
  readonly actions?: readonly string[];
}

interface ChartState {
  readonly on?: { readonly [Name in ClientEvent['type']]?: readonly Edge[] };
  /** Taken after another edge, as long as a guard holds. */
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

export type SetbackEvent = EventOf<SetbackType>;

export function onSetback(...edges: readonly Edge[]): Record<SetbackType, readonly Edge[]> {
  return { limited: edges, failed: edges, lost: edges, timeout: edges };
}

interface CompiledEdge {
  readonly guard: ((memory: Memory, event: object) => boolean) | undefined;
  readonly target: string;
  readonly actions: readonly ((memory: Memory, event: object) => Step<Memory>)[];
}

type Edges = readonly CompiledEdge[];

export interface ChartedState extends ClientState {
  readonly memory: Memory;
}

export function behaviourOf({ config, guards, actions }: ClientChart): Behaviour<ChartedState> {
  const states = new Map<string, { readonly on: ReadonlyMap<string, Edges>; readonly always: Edges }>();
  for (const [name, { on = {}, always = [] }] of Object.entries(config.states)) {
    const compiled = (edges: readonly Edge[]): Edges =>
      edges.map(({ guard, target = name, actions: names = [] }) => ({
        guard: guard === undefined ? undefined : (named(guards, guard) as CompiledEdge['guard']),
        target,
        actions: names.map((action) => named(actions, action) as CompiledEdge['actions'][number]),
      }));
    const edges = Object.entries(on).map(([type, of]) => [type, compiled(of)] as const);
    states.set(name, { on: new Map(edges), always: compiled(always) });
  }
  return {
    initial: { at: config.initial, memory: config.context },
    on(state, event) {
      let { at, memory } = state;
      let edge = enabled(states.get(at)!.on.get(event.type), memory, event);
      if (edge === undefined) return stay(state);
      let effects: readonly Effect[] = [];
      for (; edge !== undefined; edge = enabled(states.get(at)!.always, memory, event)) {
        for (const action of edge.actions) {
          const [next, more] = action(memory, event);
          memory = next;
          effects = effects.length === 0 ? more : [...effects, ...more];
        }
        at = edge.target;
      }
      return [{ at, memory }, effects];
    },
  };
}

function enabled(edges: Edges | undefined, memory: Memory, event: object): CompiledEdge | undefined {
  if (edges === undefined) return undefined;
  for (const edge of edges) if (edge.guard === undefined || edge.guard(memory, event)) return edge;
  return undefined;
}

function named<T>(meanings: Readonly<Record<string, T>>, name: string): T {
  const meaning = meanings[name];
  assert(meaning !== undefined, `a statechart names "${name}", which means nothing`);
  return meaning;
}

// A client as an XState actor: its behaviour is the logic, and the effects of an event are data in its snapshot.
//
//   event ─► actor ─► (state, event) -> [state, effects] ─► snapshot { context: state, effects }

type ClientSnapshot = Snapshot<undefined> & {
  /** The state of its chart. */
  readonly value: string;
  readonly context: ClientState;
  readonly effects: readonly Effect[];
  readonly thrown: Thrown | undefined;
};

/** What the behaviour threw. Thrown again where the event was sent: XState would throw it in a later tick. */
type Thrown = { readonly error: unknown };

export type ClientLogic = ActorLogic<ClientSnapshot, ClientEvent, undefined> & { readonly config: object };

export function clientLogic({ initial, on }: Behaviour<ClientState>, chart?: ClientChart): ClientLogic {
  return {
    config: chart?.config ?? {},
    transition(snapshot, event) {
      try {
        return snapshotOf(...on(snapshot.context, event));
      } catch (error) {
        return snapshotOf(snapshot.context, [], { error });
      }
    },
    getInitialSnapshot: () => snapshotOf(initial, []),
    getPersistedSnapshot: (snapshot) => snapshot,
  };
}

function snapshotOf(context: ClientState, effects: readonly Effect[], thrown?: Thrown): ClientSnapshot {
  return { status: 'active', output: undefined, error: undefined, value: context.at, context, effects, thrown };
}
