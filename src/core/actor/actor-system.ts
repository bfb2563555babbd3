// The actors of an inspected run: one XState system, in which every message has a sender.
//
//   send('agenda', 'phone/0', wake)   ─►   agenda: relay { to, message }   ─►   phone/0: wake, sent by agenda
//
// XState takes the actor whose action sends as the sender. So each actor has a transition that sends on request.
import {
  type Actor,
  type AnyActorLogic,
  type AnyActorRef,
  createActor,
  createMachine,
  type EventObject,
  type InspectionEvent,
  type Observer,
  type Snapshot,
  sendTo,
} from 'xstate';

export type Inspect = Observer<InspectionEvent> | ((event: InspectionEvent) => void);

/** An actor by its name, or a contract by its index. */
export type Party = string | number;

/** Event type that makes an actor send. Traces omit it. */
export const RELAY = 'weir.say';

interface RelayEvent extends EventObject {
  readonly to: AnyActorRef;
  readonly message: EventObject;
}

const relay = sendTo(
  ({ event }: { event: EventObject }) => (event as RelayEvent).to,
  ({ event }: { event: EventObject }) => (event as RelayEvent).message,
);

/** For the root of a machine: its actor then sends in its own name. */
export const relaying = { [RELAY]: { actions: relay } };

/** Parties without a machine: arrivals, agenda, network, service. */
const relayMachine = createMachine({ on: relaying } as never);

export class ActorSystem {
  readonly #root: AnyActorRef;
  readonly #actors = new Map<string, AnyActorRef>();
  readonly #contracts: AnyActorRef[] = [];

  constructor(inspect: Inspect) {
    const root = createActor(relayMachine, { id: 'run', inspect });
    // The sender gets the error of a child. It is not thrown again in a later tick.
    root.subscribe({ error: () => undefined });
    this.#root = root.start();
    this.#actors.set('run', this.#root);
  }

  add<Logic extends AnyActorLogic>(name: string, logic: Logic, snapshot?: Snapshot<unknown>): Actor<Logic> {
    const options = { id: name, parent: this.#root, ...(snapshot === undefined ? {} : { snapshot }) };
    const actor = createActor<AnyActorLogic>(logic, options) as Actor<Logic>;
    this.#actors.set(name, actor);
    return actor;
  }

  addContract<Logic extends AnyActorLogic>(name: string, machine: Logic, snapshot: Snapshot<unknown>): Actor<Logic> {
    const actor = this.add(name, machine, snapshot);
    this.#contracts.push(actor);
    return actor;
  }

  send<Message extends EventObject>(from: Party, to: Party | AnyActorRef, message: Message): void {
    this.#of(from).send({ type: RELAY, to: typeof to === 'object' ? to : this.#of(to), message } as EventObject);
  }

  #of(party: Party): AnyActorRef {
    if (typeof party === 'number') return this.#contracts[party] ?? this.#of(`contract ${party}`);
    return this.#actors.get(party) ?? this.add(party, relayMachine).start();
  }
}
