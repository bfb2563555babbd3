// A client as an XState actor: its behaviour is the logic, and the effects of an event are data in its snapshot.
//
//   event ─► actor ─► (state, event) -> [state, effects] ─► snapshot { context: state, effects }
import type { ActorLogic, Snapshot } from 'xstate';
import type { Behaviour, ClientEvent, ClientState, Effect } from './behaviour.js';
import type { ChartedState, ClientChart } from './client-chart.js';

type ClientSnapshot = Snapshot<undefined> & {
  /** The state of its chart; undefined without one. */
  readonly value: string | undefined;
  readonly context: object;
  readonly state: ClientState;
  readonly effects: readonly Effect[];
  /** What the behaviour threw. Thrown where the event was sent: XState would throw it in a later tick. */
  readonly thrown?: { readonly error: unknown };
};

export type ClientLogic = ActorLogic<ClientSnapshot, ClientEvent, undefined> & { readonly config: object };

export function clientLogic({ initial, on }: Behaviour<ClientState>, chart?: ClientChart): ClientLogic {
  return {
    config: chart?.config ?? {},
    transition(snapshot, event) {
      try {
        return snapshotOf(...on(snapshot.state, event));
      } catch (error) {
        return { ...snapshot, thrown: { error } };
      }
    },
    getInitialSnapshot: () => snapshotOf(initial, []),
    getPersistedSnapshot: (snapshot) => snapshot,
  };
}

function snapshotOf(state: ClientState, effects: readonly Effect[]): ClientSnapshot {
  const { at, memory } = state as ChartedState;
  return {
    ...{ status: 'active', output: undefined, error: undefined },
    value: at,
    context: memory ?? state,
    state,
    effects,
  };
}
