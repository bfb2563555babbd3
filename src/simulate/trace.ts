// The trace of a run: every message between actors, with its cycle, its sender, and what it changed.
import type { Actor, AnyActorLogic, InspectionEvent } from 'xstate';
import { startOf } from '../time/cycle.js';
import type { SimulatedClients } from './simulated-clients.js';
import type { World } from './world.js';

/** One message between actors. */
export interface TracedMessage {
  readonly cycle: number;
  /** ms since the cycle began. */
  readonly ms: number;
  readonly from: string;
  readonly to: string;
  readonly event: string;
  readonly before: string;
  readonly after: string;
}

/** Hears every message in the order in which they were taken. */
export type TraceSink = (message: TracedMessage) => void;

/** Who sends an event is known by its kind: actors of a run never hold each other, the transport and the agenda lie between. */
const senders: Readonly<Record<string, string>> = {
  job: 'arrivals',
  begin: 'run',
  wake: 'agenda',
  timeout: 'agenda',
  served: 'service',
  late: 'service',
  failed: 'service',
  lost: 'network',
  aggregate: 'gate',
  move: 'operator',
};

/** A message that was taken; while its actor reacts, what follows from it is taken, too. */
interface Taken {
  message: TracedMessage;
  isOver: boolean;
}

export class Trace {
  #world: World | undefined;
  /** The state in which each actor was last seen. */
  readonly #states = new WeakMap<object, string>();
  /** Messages in the order taken, from the first on whose actor still reacts: a cause stands before its effects. */
  readonly #taken: Taken[] = [];
  /** By actor: its messages among those, in the order in which it will react to them. */
  readonly #mailboxes = new WeakMap<object, Taken[]>();
  /** By id of a client that belongs to one contract: the contract. */
  readonly #contracts = new Map<string, number>();

  readonly #sink: TraceSink;

  constructor(sink: TraceSink) {
    this.#sink = sink;
  }

  /** Call it once the world is made and before any actor has received a message. */
  follow(world: World, clients: SimulatedClients | undefined): void {
    this.#world = world;
    if (clients === undefined) return;
    for (const { id, contract } of clients.population.clients()) this.#contracts.set(id, contract);
    clients.onAttempt = (client, contract, decision) => {
      const parts = { from: client, to: this.#contractName(contract), event: 'request', before: '', after: decision };
      this.#taken.push({ message: { ...this.#now(), ...parts }, isOver: true });
      this.#drain();
    };
  }

  /** For `SimulateOptions.inspect`. */
  readonly inspect = (inspected: InspectionEvent): void => {
    const { actorRef } = inspected;
    if (inspected.type === '@xstate.event') this.#begun(actorRef as Actor<AnyActorLogic>, inspected.event);
    else if (inspected.type === '@xstate.snapshot' && !isInternal(inspected.event))
      this.#over(actorRef, inspected.snapshot);
  };

  /** Tells what is left: messages to which no actor reacted any more. */
  end(): void {
    for (const one of this.#taken) one.isOver = true;
    this.#drain();
  }

  #begun(actor: Actor<AnyActorLogic>, event: { readonly type: string }): void {
    if (!this.#states.has(actor)) this.#states.set(actor, stateOf(actor.getSnapshot()));
    if (isInternal(event) || this.#world === undefined) return;
    const index = this.#world.indexOf(actor.id);
    const to = index === undefined ? actor.id : this.#contractName(index);
    const from = senders[event.type] ?? this.#contractBehind(actor.id, event);
    const one = { message: { ...this.#now(), from, to, event: event.type, before: '', after: '' }, isOver: false };
    this.#taken.push(one);
    const mailbox = this.#mailboxes.get(actor);
    if (mailbox === undefined) this.#mailboxes.set(actor, [one]);
    else mailbox.push(one);
  }

  #over(actor: object, snapshot: unknown): void {
    const before = this.#states.get(actor) ?? '';
    const after = stateOf(snapshot);
    this.#states.set(actor, after);
    const one = this.#mailboxes.get(actor)?.shift();
    if (one === undefined) return;
    one.message = { ...one.message, before, after };
    one.isOver = true;
    this.#drain();
  }

  #drain(): void {
    let told = 0;
    for (; this.#taken[told]?.isOver === true; told += 1) this.#sink(this.#taken[told]!.message);
    this.#taken.splice(0, told);
  }

  #now(): Pick<TracedMessage, 'cycle' | 'ms'> {
    const { clock } = this.#world!;
    const cycle = clock.cycle();
    return { cycle, ms: round(clock.now() - startOf(cycle, clock.cycleMs)) };
  }

  /** An answer names the contract by its job; what a contract announces is heard by its own clients. */
  #contractBehind(client: string, event: object): string {
    const { attempt } = event as { attempt?: { readonly job?: { readonly contract: number } } };
    const index = attempt?.job?.contract ?? this.#contracts.get(client);
    return index === undefined ? 'contract' : this.#contractName(index);
  }

  #contractName(index: number): string {
    return `contract ${this.#world!.names[index]}`;
  }
}

/** XState's own events: an actor starts, or stops. */
function isInternal({ type }: { readonly type: string }): boolean {
  return type.startsWith('xstate.');
}

/** A statechart has a value, a client a state with a name. */
function stateOf(snapshot: unknown): string {
  const { value, context } = snapshot as { value?: unknown; context?: { at?: string } };
  return value === undefined ? (context?.at ?? '') : String(value);
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
