// Records every message between the actors of a run: its cycle, its sender, and what it changed.
import type { AnyActorRef, InspectionEvent } from 'xstate';
import type { Clock } from '../../core/time/clock.js';
import { startOf } from '../../core/time/cycle.js';

export interface TracedMessage {
  readonly cycle: number;
  readonly ms: number;
  readonly from: string;
  readonly to: string;
  readonly event: string;
  readonly before: string;
  readonly after: string;
}

export function traceInto(sink: (message: TracedMessage) => void) {
  const states = new WeakMap<object, string>();
  const open = new Map<object, Omit<TracedMessage, 'after'>>();
  const inspect = (inspected: InspectionEvent, clock: Clock): void => {
    const actor = inspected.actorRef as AnyActorRef;
    if (inspected.type === '@xstate.event' && isMessage(inspected.event)) {
      const from = (inspected.sourceRef as AnyActorRef | undefined)?.id ?? '';
      const before = isRequest(inspected.event) ? '' : (states.get(actor) ?? stateOf(actor.getSnapshot()));
      open.set(actor, { ...instantOf(clock), from, to: actor.id, event: inspected.event.type, before });
    } else if (inspected.type === '@xstate.snapshot' && isMessage(inspected.event)) {
      const state = stateOf(inspected.snapshot);
      states.set(actor, state);
      over(actor, isRequest(inspected.event) ? inspected.event.decision : state);
    }
  };
  const over = (actor: object, after: string): void => {
    const message = open.get(actor);
    open.delete(actor);
    if (message !== undefined) sink({ ...message, after });
  };
  return {
    inspect,
    /** Reports the messages that got no reaction before the end of the run. */
    end(): void {
      for (const actor of open.keys()) over(actor, '');
    },
  };
}

function instantOf(clock: Clock): Pick<TracedMessage, 'cycle' | 'ms'> {
  const cycle = clock.cycle();
  return { cycle, ms: Math.round((clock.now() - startOf(cycle, clock.cycleMs)) * 1000) / 1000 };
}

export function isMessage({ type }: { readonly type: string }): boolean {
  return !type.startsWith('xstate.');
}

/** The gate decides requests; the contract is sent the decision. */
function isRequest(event: object): event is { readonly decision: string } {
  return 'decision' in event;
}

function stateOf(snapshot: unknown): string {
  const { value, context } = snapshot as { value?: unknown; context?: { at?: string } };
  return typeof value === 'string' ? value : (context?.at ?? '');
}

export const MOST_DRAWN = 200;

/** A Mermaid sequence diagram. `total` messages of the run: a comment counts those left out. */
export function sequenceDiagram(messages: readonly TracedMessage[], total = messages.length): string {
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
  const left = total > drawn.length ? [`  %% and ${total - drawn.length} more messages`] : [];
  return `${['sequenceDiagram', ...participants, ...lines, ...left].join('\n')}\n`;
}

/** Mermaid ends a line at a semicolon and starts a comment at a hash. */
function plain(text: string): string {
  return text.replace(/[;#\n]/g, ' ');
}
