// Writes a trace in the protocol of Stately's inspector (StatelyInspectionEvent of @statelyai/inspect 0.7), one line of JSON per event.
//
//   @xstate.actor      name, definition (the config as text), snapshot, parentId
//   @xstate.event      event, sourceId
//   @xstate.snapshot   event, snapshot
//   each               sessionId, rootId, id, createdAt (ms, as text), _version
//
// The sessionId is the name of the actor, and times are those of the run: a seed always gives the same lines.
import type { Actor, AnyActorRef, AnyStateMachine, InspectionEvent } from 'xstate';
import type { Clock } from '../../core/time/clock.js';
import { isMessage } from './trace.js';

const VERSION = '0.7.1';

export function statelyTrace(sink: (line: string) => void): (inspected: InspectionEvent, clock: Clock) => void {
  let lines = 0;
  const write = (event: object, clock: Clock): void => {
    lines += 1;
    const createdAt = String(Math.floor(clock.now()));
    sink(JSON.stringify({ ...event, rootId: 'run', id: String(lines), createdAt, _version: VERSION }));
  };
  return (inspected, clock) => {
    if (inspected.type !== '@xstate.event' && inspected.type !== '@xstate.snapshot') return;
    const { type, event } = inspected;
    const actor = inspected.actorRef as Actor<AnyStateMachine>;
    const sessionId = actor.id;
    if (type === '@xstate.event') {
      const sourceId = (inspected.sourceRef as AnyActorRef | undefined)?.id;
      if (isMessage(event)) write({ type, event: plain(event), sourceId, sessionId }, clock);
      return;
    }
    const snapshot = plain(inspected.snapshot);
    if (isMessage(event)) write({ type, event: plain(event), snapshot, sessionId }, clock);
    else if (event.type === 'xstate.init') {
      const parentId = actor.sessionId === inspected.rootId ? undefined : 'run';
      const definition = JSON.stringify(actor.logic.config ?? {});
      write({ type: '@xstate.actor', name: sessionId, definition, snapshot, parentId, sessionId }, clock);
    }
  };
}

/** A copy: the actor changes before it is written. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value) ?? 'null');
}
