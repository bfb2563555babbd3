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

export type ActorSystem = ReturnType<typeof actorSystem>;

export function actorSystem(inspect: Inspect) {
  const contracts: AnyActorRef[] = [];
  let sender: AnyActorRef | undefined;
  const hear = typeof inspect === 'function' ? inspect : (event: InspectionEvent) => inspect.next?.(event);
  // XState knows no sender of an event that comes from outside of an actor.
  const root = createActor(bystander, {
    id: 'run',
    inspect: (event) => hear(isFromOutside(event) ? { ...event, sourceRef: sender } : event),
  });
  // The sender gets the error of a child. It is not thrown again in a later tick.
  root.subscribe({ error: () => undefined });
  root.start();
  const actors = new Map<string, AnyActorRef>([['run', root]]);
  const add = <Logic extends AnyActorLogic>(name: string, logic: Logic, snapshot?: Snapshot<unknown>) => {
    const options = { id: name, parent: root, ...(snapshot === undefined ? {} : { snapshot }) };
    const actor = createActor<AnyActorLogic>(logic, options) as Actor<Logic>;
    actors.set(name, actor);
    return actor;
  };
  const of = (party: Party): AnyActorRef => {
    if (typeof party === 'number') return contracts[party] ?? of(`contract ${party}`);
    return actors.get(party) ?? add(party, bystander).start();
  };
  return {
    add,
    addContract<Logic extends AnyActorLogic>(name: string, machine: Logic, snapshot: Snapshot<unknown>): Actor<Logic> {
      const actor = add(name, machine, snapshot);
      contracts.push(actor);
      return actor;
    },
    send<Message extends EventObject>(from: Party, to: Party | AnyActorRef, message: Message): void {
      const before = sender;
      sender = of(from);
      try {
        (typeof to === 'object' ? to : of(to)).send(message);
      } finally {
        sender = before;
      }
    },
  };
}

function isFromOutside(event: InspectionEvent): event is InspectedEventEvent {
  return event.type === '@xstate.event' && event.sourceRef === undefined;
}
