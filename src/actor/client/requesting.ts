// The clients that make one job at a time: send, and on a setback wait and send again, or give up. They differ in how long they wait
// and in when they give up: open, obedient, retrying.
//
//            job                 served
//    idle ────────►  asking  ────────────►  idle      succeeded
//                    ▲    │ limited, failed, lost, timeout
//               wake │    ▼
//                    pausing ── no more ──►  idle      given up
//
// An answer to an attempt that was abandoned ends the job only for clients that take late answers.
import { assert, unreachable } from '../../schema/failure.js';
import type { Pauses } from './backoff.js';
import {
  type Behaviour,
  cancelWait,
  type Effect,
  type Job,
  type Setback,
  type Step,
  stay,
  type Wait,
} from './behaviour.js';

export type RequestingState =
  | { readonly at: 'idle' }
  | { readonly at: 'asking'; readonly task: Task }
  | { readonly at: 'pausing'; readonly task: Task };

/** A job that is being made. */
interface Task {
  readonly job: Job;
  /** Attempts made so far, the one under way included. */
  readonly attempts: number;
  /** The pause before the last of them, in ms; 0 before the first. */
  readonly pausedMs: number;
}

interface Reaction {
  /** Whether an answer to an abandoned attempt ends the job, if it is still wanted. */
  readonly takesLate?: boolean;
  /** How long to wait after a setback before another attempt; undefined to give up. */
  after(setback: Setback, task: Task): Wait | undefined;
}

/** Sends every job once, whatever the answer: fire and forget. */
export function open(): Behaviour<RequestingState> {
  return requesting({ after: () => undefined });
}

export interface ObedientPlan {
  /** Attempts that a job may take, at least 1. */
  readonly maxAttempts: number;
  /** The longest time waited on top of what the limiter says, in ms; 0 for none. */
  readonly jitterMs: number;
}

/**
 * Waits as long as Retry-After says, and sends again.
 *
 *     send ─► limited, Retry-After 12 s ─► 12 s ─┬─ jitter ─► send ─► ...          at most maxAttempts times
 *                                                └ u * jitter, u uniform in [0, 1)
 *
 * Clients that are limited together are given the same instant and return together; the jitter sets them apart.
 */
export function obedient({ maxAttempts, jitterMs }: ObedientPlan): Behaviour<RequestingState> {
  return requesting({
    after(setback, { attempts }) {
      // After any other setback there is no instant to return at.
      if (setback.type !== 'limited' || setback.retryAfterMs === undefined || attempts >= maxAttempts) return undefined;
      const { retryAfterMs } = setback;
      return jitterMs > 0 ? { drawMs: (draw) => retryAfterMs + draw.uniform() * jitterMs } : retryAfterMs;
    },
  });
}

export interface RetryingPlan {
  /** Attempts that a job may take, at least 1. */
  readonly maxAttempts: number;
  /** Whether it waits at least as long as a limiter says. */
  readonly honoursRetryAfter: boolean;
  /** Whether an answer to an attempt it has given up still ends the job: messages with an id, rather than calls. */
  readonly takesLateAnswers: boolean;
}

/**
 * Tries again after any setback, paced by a back-off policy and bounded by attempts and by the budget of the kind.
 *
 *     send ─► setback ─► attempts left? ─► budget left? ─► pause ─► send ─► ...
 *                         └ no: given up    └ no: given up
 */
export function retrying(
  { maxAttempts, honoursRetryAfter, takesLateAnswers }: RetryingPlan,
  pauses: Pauses,
): Behaviour<RequestingState> {
  return requesting({
    takesLate: takesLateAnswers,
    after(setback, { attempts, pausedMs }) {
      if (attempts >= maxAttempts) return undefined;
      const pause = pauses(attempts, pausedMs);
      const leastMs = honoursRetryAfter && setback.type === 'limited' ? (setback.retryAfterMs ?? 0) : 0;
      if (typeof pause === 'number') return Math.max(pause, leastMs);
      return leastMs === 0 ? pause : { drawMs: (draw) => Math.max(pause.drawMs(draw), leastMs) };
    },
  });
}

const idle: RequestingState = { at: 'idle' };

function requesting({ takesLate = false, after }: Reaction): Behaviour<RequestingState> {
  return {
    initial: idle,
    on(state, event) {
      switch (event.type) {
        case 'job':
          assert(state.at === 'idle', `a client was given job ${event.job.number} while it has another`);
          return ask(event.job, 1, 0);
        case 'wake':
          return state.at === 'pausing' ? ask(state.task.job, state.task.attempts + 1, event.waitedMs) : stay(state);
        case 'no_retry':
          return state.at === 'pausing' ? over(state.task, 'given_up') : stay(state);
        case 'served':
          return state.at === 'asking' ? over(state.task, 'succeeded') : stay(state);
        case 'limited':
        case 'failed':
        case 'lost':
        case 'timeout': {
          if (state.at !== 'asking') return stay(state);
          const { task } = state;
          const wait = after(event, task);
          return wait === undefined ? over(task, 'given_up') : [{ at: 'pausing', task }, [{ type: 'retry', wait }]];
        }
        case 'late': {
          if (!takesLate || state.at === 'idle' || event.attempt.job !== state.task.job) return stay(state);
          const before: Effect[] = state.at === 'asking' ? [{ type: 'abandon' }, cancelWait] : [cancelWait];
          return over(state.task, 'succeeded', before);
        }
        case 'begin':
        case 'rate_limited':
        case 'rate_restored':
          return stay(state);
        default:
          return unreachable(event);
      }
    },
  };
}

function ask(job: Job, attempts: number, pausedMs: number): Step<RequestingState> {
  return [{ at: 'asking', task: { job, attempts, pausedMs } }, [{ type: 'send', job, number: attempts }]];
}

function over({ job }: Task, ending: 'succeeded' | 'given_up', before?: readonly Effect[]): Step<RequestingState> {
  const finish: Effect = { type: 'finish', job, ending };
  return [idle, before === undefined ? [finish] : [...before, finish]];
}
