// Many events in one request: each is counted or refused by itself, and has an outcome, in order.
//
//   event     {type: request}    {type: reqest}       {type: request}      an outcome is what POST …/event would answer:
//   outcome   cycle, contracts   unknown_event_type   cycle, contracts     the decisions, or a problem
import { EventShape } from '../../api/events.js';
import { compileSchema } from '../../core/schema/compile-schema.js';
import { Failure } from '../../core/schema/failure.js';
import { valueFaults } from '../../core/schema/value-faults.js';
import type { Steps } from '../host/steps.js';
import { problemOf, refusal } from '../problem.js';
import type { EventAnswer, EventsAnswer } from './counting.js';
import type { Event } from './listeners.js';

const isEvent = compileSchema(EventShape);

/** Each value as an event, or why it is none. */
export function* eventsIn(values: readonly unknown[]): Steps<(Event | Failure)[]> {
  const events: (Event | Failure)[] = [];
  for (const value of values) {
    events.push(isEvent(value) ? value : refusal('event', valueFaults(EventShape, value)));
    yield;
  }
  return events;
}

/** @throws what is more than the failure of one event: a store that fails, an internal error */
export function failureOfEvent(error: unknown): Failure {
  if (!(error instanceof Failure)) throw error;
  if (error.code === 'store_failed' || error.code === 'disk_full' || error.code === 'store_away') throw error;
  return error;
}

export function eventsAnswer(outcomes: readonly (EventAnswer | Failure)[]): EventsAnswer {
  const sums = { counted: 0, refused: 0, admitted: 0, limited: 0 };
  for (const outcome of outcomes) {
    if (outcome instanceof Failure) {
      sums.refused += 1;
      continue;
    }
    const { admitted, limited } = outcome.contracts[0]!;
    const least = outcome.contracts.reduce((fewest, one) => Math.min(fewest, one.admitted), admitted);
    sums.counted += 1;
    sums.admitted += least;
    sums.limited += admitted + limited - least;
  }
  return { ok: true, ...sums, outcomes: outcomes.map((one) => (one instanceof Failure ? problemOf(one) : one)) };
}
