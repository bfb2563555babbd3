// A client as an XState actor: its behaviour is the logic, and the effects of an event are data in its snapshot.
//
//   event ─► actor ─► (state, event) -> [state, effects] ─► snapshot { context: state, effects }
import type { ActorLogic, Snapshot } from 'xstate';
import type { Behaviour, ClientEvent, ClientState, Effect } from './behaviour.js';
import type { ClientChart } from './client-chart.js';

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
