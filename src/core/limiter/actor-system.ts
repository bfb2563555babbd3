// The actors of an inspected run: one XState system, in which every message has a sender.
//
//   send('agenda', phone, wake)   ─►   phone/0: wake, sent by agenda
import {
  type Actor,
  type AnyActorLogic,
  type AnyActorRef,
  createActor,
  createMachine,
  type EventObject,
  type InspectedEventEvent,
  type InspectionEvent,
  type Observer,
  type Snapshot,
} from 'xstate';

export type Inspect = Observer<InspectionEvent> | ((event: InspectionEvent) => void);

/** An actor by its name, or a contract by its index. */
export type Party = string | number;

/** Parties that send and receive nothing themselves: arrivals, agenda, network, service. */
const bystander = createMachine({});

export class ActorSystem {
  readonly #root: AnyActorRef;
  readonly #actors = new Map<string, AnyActorRef>();
  readonly #contracts: AnyActorRef[] = [];
  #sender: AnyActorRef | undefined;

  constructor(inspect: Inspect) {
    const hear = typeof inspect === 'function' ? inspect : (event: InspectionEvent) => inspect.next?.(event);
    // XState knows no sender of an event that comes from outside of an actor.
    const root = createActor(bystander, {
      id: 'run',
      inspect: (event) => hear(isFromOutside(event) ? { ...event, sourceRef: this.#sender } : event),
    });
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
    const before = this.#sender;
    this.#sender = this.#of(from);
    try {
      (typeof to === 'object' ? to : this.#of(to)).send(message);
    } finally {
      this.#sender = before;
    }
  }

  #of(party: Party): AnyActorRef {
    if (typeof party === 'number') return this.#contracts[party] ?? this.#of(`contract ${party}`);
    return this.#actors.get(party) ?? this.add(party, bystander).start();
  }
}

function isFromOutside(event: InspectionEvent): event is InspectedEventEvent {
  return event.type === '@xstate.event' && event.sourceRef === undefined;
}
