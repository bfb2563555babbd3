// Owns the device that holds its items back while the gate is limiting, and flushes them in batches once it is restored.
// Leaves keeping them in order to backlog.ts.
//
//              rate_limited, or a limited answer               rate_restored, or Retry-After is over
//    passing ────────────────────────────────────► holding ──────────────────────────────────────────► flushing
//       ▲                                             ▲               limited again                      │   │
//       │                                             └──────────────────────────────────────────────────┘   │
//       └─────────────────────────────── nothing held, all answered ─────────────────────────────────────────┘
//
//   at once                 |#####|                    a batch follows as soon as the one before is answered
//   spread over m           |#----#----#----#----|     k batches, one every m / k
//   spread with jitter      |--#----#----#----#--|     the first one u * m / k later, u uniform in [0, 1): devices drift apart
//
// It listens to the stream when it gets rate_limited and rate_restored. Then it trusts the stream alone: were it to try as well
// whenever a Retry-After is over, a thousand devices would keep the gate limiting by their trying. Only a device that was limited
// and has heard nothing of it goes by Retry-After; where the limiter does not say when, it waits for the stream.
import { unreachable } from '../../schema/failure.js';
import { Backlog } from './backlog.js';
import type { Attempt, Behaviour, ClientPort, Job } from './port.js';

/** An item, with the attempts made so far. */
interface Held {
  readonly job: Job;
  readonly attempts: number;
}

export type HoldingState = Passing | Holding | Flushing;

interface Passing {
  readonly at: 'passing';
  /** Items sent that have no answer yet. */
  readonly inFlight: number;
}

interface Holding {
  readonly at: 'holding';
  readonly inFlight: number;
  readonly held: Backlog<Held>;
  /** Whether the stream said that the gate limits: then it will also say when it no longer does. */
  readonly isTold: boolean;
}

interface Flushing {
  readonly at: 'flushing';
  readonly inFlight: number;
  readonly held: Backlog<Held>;
  /** From one batch to the next, in ms, at least. */
  readonly gapMs: number;
  /** Whether the gap is over, so that the next batch waits for answers only. */
  readonly isDue: boolean;
}

export interface HoldingPlan {
  /** Items that can be held, at least 1; what comes when it is full is dropped. */
  readonly buffer: number;
  /** Items of a batch, at least 1. */
  readonly batch: number;
  /** Time over which a flush is spread, in ms; 0 for at once. */
  readonly spreadMs: number;
  readonly jitter: boolean;
}

export function holding({ buffer, batch, spreadMs, jitter }: HoldingPlan): Behaviour<HoldingState> {
  return {
    initial: { at: 'passing', inFlight: 0 },
    on(port, state, event) {
      switch (event.type) {
        case 'job':
          return state.at === 'passing'
            ? { at: 'passing', inFlight: sent(port, [{ job: event.job, attempts: 0 }], state.inFlight) }
            : { ...state, held: kept(port, state.held, event.job, 0) };
        case 'served':
          port.finish(event.attempt.job, 'succeeded');
          return answered(port, state);
        // Whether the item has arrived is not known, or the service does not want it: only what the gate limits is kept.
        case 'failed':
        case 'lost':
        case 'timeout':
          port.finish(event.attempt.job, 'given_up');
          return answered(port, state);
        case 'limited':
          return returned(port, state, event.attempt, event.retryAfterMs);
        case 'rate_limited':
          port.clearAlarm();
          return { at: 'holding', inFlight: state.inFlight, held: heldIn(state), isTold: true };
        case 'rate_restored':
          return state.at === 'holding' ? flush(port, state) : state;
        case 'wake':
          if (state.at === 'holding') return flush(port, state);
          return state.at === 'flushing' ? next(port, { ...state, isDue: true }) : state;
        case 'begin':
        case 'late':
          return state;
        default:
          return unreachable(event);
      }
    },
  };

  /** One item less is on the road. */
  function answered(port: ClientPort, state: HoldingState): HoldingState {
    const inFlight = state.inFlight - 1;
    return state.at === 'flushing' ? next(port, { ...state, inFlight }) : { ...state, inFlight };
  }

  /** With one item more, or, when the buffer is full, without it. */
  function kept(port: ClientPort, held: Backlog<Held>, job: Job, attempts: number): Backlog<Held> {
    if (held.size < buffer) return attempts === 0 ? held.with({ job, attempts }) : held.withFirst({ job, attempts });
    port.finish(job, 'dropped');
    return held;
  }

  function returned(
    port: ClientPort,
    state: HoldingState,
    { job, number }: Attempt,
    retryAfterMs: number | undefined,
  ): HoldingState {
    const isTold = state.at === 'holding' && state.isTold;
    if (!isTold) {
      if (retryAfterMs === undefined) port.clearAlarm();
      else port.setAlarm(port.now() + retryAfterMs);
    }
    return { at: 'holding', inFlight: state.inFlight - 1, held: kept(port, heldIn(state), job, number), isTold };
  }

  function flush(port: ClientPort, { held, inFlight }: Holding): HoldingState {
    port.clearAlarm();
    const gapMs = spreadMs / Math.max(1, Math.ceil(held.size / batch));
    const waitMs = jitter ? port.draw.uniform() * gapMs : 0;
    if (waitMs > 0) port.setAlarm(port.now() + waitMs);
    return next(port, { at: 'flushing', inFlight, held, gapMs, isDue: waitMs === 0 });
  }

  /** Sends the next batch when its time has come and the one before is answered. */
  function next(port: ClientPort, state: Flushing): HoldingState {
    const { inFlight, held, gapMs, isDue } = state;
    if (inFlight > 0) return state;
    if (held.size === 0) {
      port.clearAlarm();
      return { at: 'passing', inFlight: 0 };
    }
    if (!isDue) return state;
    const { taken, rest } = held.take(batch);
    if (gapMs > 0) port.setAlarm(port.now() + gapMs);
    return { at: 'flushing', inFlight: sent(port, taken, 0), held: rest, gapMs, isDue: gapMs === 0 };
  }
}

const nothingHeld = Backlog.of<Held>();

function heldIn(state: HoldingState): Backlog<Held> {
  return state.at === 'passing' ? nothingHeld : state.held;
}

/** Sends the items; returns how many are then without an answer. */
function sent(port: ClientPort, items: readonly Held[], inFlight: number): number {
  for (const { job, attempts } of items) port.send(job, attempts + 1);
  return inFlight + items.length;
}
