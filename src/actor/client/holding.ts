// The device that holds its items back while the gate is limiting, and flushes them in batches once it is restored.
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
// A device that has received rate_limited waits for rate_restored and ignores Retry-After: a thousand devices that tried again after
// each Retry-After would keep the gate limiting. A device that was limited without rate_limited waits for Retry-After; where the
// limiter names none, it waits for the stream.
import { unreachable } from '../../schema/failure.js';
import { Backlog } from './backlog.js';
import {
  type Attempt,
  type Behaviour,
  cancelWait,
  type Effect,
  type Job,
  type Step,
  stay,
  type Wait,
} from './behaviour.js';

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
  /** Whether rate_limited was received: then rate_restored will be. */
  readonly isNotified: boolean;
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
  /** Items that can be held, at least 1; further ones are dropped. */
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
    on(state, event) {
      switch (event.type) {
        case 'job':
          if (state.at === 'passing') {
            return [{ at: 'passing', inFlight: state.inFlight + 1 }, [{ type: 'send', job: event.job, number: 1 }]];
          }
          return keep(state, event.job, 0);
        case 'served':
          return answered(state, event.attempt.job, 'succeeded');
        // Whether the item has arrived is not known, or the service does not want it: only what the gate limits is kept.
        case 'failed':
        case 'lost':
        case 'timeout':
          return answered(state, event.attempt.job, 'given_up');
        case 'limited':
          return returned(state, event.attempt, event.retryAfterMs);
        case 'rate_limited': {
          const { inFlight } = state;
          return [{ at: 'holding', inFlight, held: heldIn(state), isNotified: true }, [cancelWait]];
        }
        case 'rate_restored':
          return state.at === 'holding' ? flush(state) : stay(state);
        case 'wake':
          if (state.at === 'holding') return flush(state);
          return state.at === 'flushing' ? next({ ...state, isDue: true }, []) : stay(state);
        case 'begin':
        case 'late':
        case 'no_retry':
          return stay(state);
        default:
          return unreachable(event);
      }
    },
  };

  /** One item less is under way. */
  function answered(state: HoldingState, job: Job, ending: 'succeeded' | 'given_up'): Step<HoldingState> {
    const inFlight = state.inFlight - 1;
    const finish: Effect = { type: 'finish', job, ending };
    return state.at === 'flushing' ? next({ ...state, inFlight }, [finish]) : [{ ...state, inFlight }, [finish]];
  }

  /** With one item more, or, when the buffer is full, without it. */
  function keep(
    state: Holding | Flushing,
    job: Job,
    attempts: number,
    before: readonly Effect[] = [],
  ): Step<HoldingState> {
    const { held } = state;
    if (held.size >= buffer) return [state, [...before, { type: 'finish', job, ending: 'dropped' }]];
    const item = { job, attempts };
    return [{ ...state, held: attempts === 0 ? held.with(item) : held.withFirst(item) }, before];
  }

  function returned(state: HoldingState, { job, number }: Attempt, retryAfterMs?: number): Step<HoldingState> {
    const isNotified = state.at === 'holding' && state.isNotified;
    const effect: Effect = retryAfterMs === undefined ? cancelWait : { type: 'wait', wait: retryAfterMs };
    const now: Holding = { at: 'holding', inFlight: state.inFlight - 1, held: heldIn(state), isNotified };
    return keep(now, job, number, isNotified ? [] : [effect]);
  }

  function flush({ held, inFlight }: Holding): Step<HoldingState> {
    const gapMs = spreadMs / Math.max(1, Math.ceil(held.size / batch));
    const isDue = !jitter || gapMs === 0;
    const drawMs: Exclude<Wait, number>['drawMs'] = (draw) => draw.uniform() * gapMs;
    const effects: Effect[] = isDue ? [cancelWait] : [cancelWait, { type: 'wait', wait: { drawMs } }];
    return next({ at: 'flushing', inFlight, held, gapMs, isDue }, effects);
  }

  /** Sends the next batch when its time has come and the one before is answered. */
  function next(state: Flushing, effects: readonly Effect[]): Step<HoldingState> {
    const { inFlight, held, gapMs, isDue } = state;
    if (inFlight > 0) return [state, effects];
    if (held.size === 0) return [{ at: 'passing', inFlight: 0 }, [...effects, cancelWait]];
    if (!isDue) return [state, effects];
    const { taken, rest } = held.take(batch);
    const sends = taken.map(({ job, attempts }): Effect => ({ type: 'send', job, number: attempts + 1 }));
    const pause: Effect[] = gapMs > 0 ? [{ type: 'wait', wait: gapMs }] : [];
    const flushing: Flushing = { at: 'flushing', inFlight: taken.length, held: rest, gapMs, isDue: gapMs === 0 };
    return [flushing, [...effects, ...pause, ...sends]];
  }
}

const nothingHeld = Backlog.of<Held>();

function heldIn(state: HoldingState): Backlog<Held> {
  return state.at === 'passing' ? nothingHeld : state.held;
}
