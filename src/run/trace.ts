// Owns making the actors of a run visible: every message with its cycle, where it came from and what it changed; and, where a run
// was stopped, what every actor is doing. Leaves files to the command that asked.
import type { Actor, AnyActorLogic, InspectionEvent } from 'xstate';
import { startOf } from '../core/cycle.js';
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

/** Who sends an event is known by its kind: actors of a run never hold each other, the road and the agenda lie between. */
const senders: Readonly<Record<string, string>> = {
  job: 'arrivals',
  begin: 'run',
  wake: 'agenda',
  timeout: 'agenda',
  served: 'service',
  failed: 'service',
  lost: 'network',
  aggregate: 'gate',
  move: 'operator',
};

export class Trace {
  private world: World | undefined;
  /** The state in which each actor was last seen. */
  private readonly states = new WeakMap<object, string>();

  constructor(private readonly sink: TraceSink) {}

  /** To be called when the world stands: until then no actor has been told anything. */
  follow(world: World, clients: SimulatedClients | undefined): void {
    this.world = world;
    if (clients === undefined) return;
    clients.onAttempt = (client, contract, decision) => {
      const name = world.names[contract]!;
      this.tell({ from: client, to: `contract ${name}`, event: 'request', before: '', after: decision });
    };
  }

  /** For `SimulateOptions.inspect`. */
  readonly inspect = (inspected: InspectionEvent): void => {
    const { actorRef } = inspected;
    if (inspected.type === '@xstate.event' && !this.states.has(actorRef))
      this.states.set(actorRef, stateOf(actorRef.getSnapshot()));
    if (inspected.type !== '@xstate.snapshot' || inspected.event.type.startsWith('xstate.')) return;
    const before = this.states.get(actorRef) ?? '';
    const after = stateOf(inspected.snapshot);
    this.states.set(actorRef, after);
    const event = inspected.event.type;
    this.tell({
      from: senders[event] ?? 'contract',
      to: this.nameOf((actorRef as Actor<AnyActorLogic>).id),
      event,
      before,
      after,
    });
  };

  private tell(message: Omit<TracedMessage, 'cycle' | 'ms'>): void {
    const { world } = this;
    if (world === undefined) return;
    const cycle = world.clock.cycle();
    this.sink({ cycle, ms: round(world.clock.now() - startOf(cycle, world.clock.cycleMs)), ...message });
  }

  private nameOf(actorId: string): string {
    const index = this.world?.indexOf(actorId);
    return index === undefined ? actorId : `contract ${this.world?.names[index]}`;
  }
}

/** A statechart has a value, a client a state with a name. */
function stateOf(snapshot: unknown): string {
  const { value, context } = snapshot as { value?: unknown; context?: { at?: string } };
  return value === undefined ? (context?.at ?? '') : String(value);
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** What one actor is doing at the moment a run was stopped. */
export interface ActorState {
  readonly actor: string;
  readonly state: string;
  /** What waits for it, in words. */
  readonly waiting: string;
}

/** Every actor of a run: contracts first, then clients. */
export function actorStates(world: World, clients: SimulatedClients | undefined): ActorState[] {
  const contracts = world.contracts.map((contract, index) => {
    const wake = contract.gate.nextWake();
    const waiting = wake === Number.POSITIVE_INFINITY ? '' : `wakes at cycle ${wake}`;
    return {
      actor: `contract ${world.names[index]}`,
      state: `${contract.state}, count ${contract.gate.count}`,
      waiting,
    };
  });
  const told = [...(clients?.population.clients() ?? [])].map((client) => {
    const { at, ...rest } = client.state as { at: string };
    return { actor: client.id, state: at, waiting: waitingFor(rest) };
  });
  return [...contracts, ...told];
}

/** The mailbox of an actor is empty between two instants; what it waits for stands in its state. */
function waitingFor(rest: object): string {
  return Object.entries(rest)
    .flatMap(([name, value]) => {
      if (typeof value === 'number' || typeof value === 'boolean') return [`${name} ${value}`];
      const size = (value as { size?: unknown } | null)?.size;
      return typeof size === 'number' ? [`${name} ${size}`] : [];
    })
    .join(', ');
}

/** Messages beyond this are left out of a diagram: nobody reads a longer one. */
export const MOST_DRAWN = 200;

/** A Mermaid sequence diagram of a short run. */
export function sequenceDiagram(messages: readonly TracedMessage[]): string {
  const names = new Map<string, string>();
  const idOf = (name: string) => {
    const known = names.get(name);
    if (known !== undefined) return known;
    const id = `p${names.size}`;
    names.set(name, id);
    return id;
  };
  const drawn = messages.slice(0, MOST_DRAWN);
  let cycle: number | undefined;
  const lines = drawn.flatMap((message) => {
    const from = idOf(message.from);
    const to = idOf(message.to);
    const moved = message.before === message.after || message.after === '' ? '' : `: ${message.after}`;
    const line = `  ${from}->>${to}: ${plain(message.event)}${plain(moved)}`;
    if (message.cycle === cycle) return [line];
    cycle = message.cycle;
    return [`  Note over ${from}: cycle ${cycle}`, line];
  });
  const participants = [...names].map(([name, id]) => `  participant ${id} as ${plain(name)}`);
  const left = messages.length > drawn.length ? [`  %% and ${messages.length - drawn.length} more messages`] : [];
  return `${['sequenceDiagram', ...participants, ...lines, ...left].join('\n')}\n`;
}

/** Mermaid ends a line at a semicolon and a comment begins with a hash. */
function plain(text: string): string {
  return text.replace(/[;#\n]/g, ' ');
}
