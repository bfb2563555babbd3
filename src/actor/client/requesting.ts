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
import type { Pauses } from './backoff.js';
import { type ClientEvent, cancelWait, type Effect, type Job, type Setback, type Wait } from './behaviour.js';
import { type ClientChart, onSetback, type SetbackEvent } from './client-chart.js';

/** Empty while the client is idle. */
interface Requesting {
  readonly task?: Task;
}

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
export function open(): ClientChart {
  return requesting('open', { after: () => undefined });
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
export function obedient({ maxAttempts, jitterMs }: ObedientPlan): ClientChart {
  return requesting('obedient', {
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
): ClientChart {
  return requesting('retrying', {
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

type EventOf<Type extends ClientEvent['type']> = Extract<ClientEvent, { type: Type }>;

function requesting(id: string, { takesLate = false, after }: Reaction): ClientChart {
  const late = (...actions: readonly string[]) =>
    takesLate ? { late: [{ guard: 'isOfThisJob', target: 'idle', actions: [...actions, 'succeed'] }] } : {};
  return {
    config: {
      id,
      initial: 'idle',
      context: {},
      states: {
        idle: { on: { job: [{ target: 'asking', actions: ['send'] }] } },
        asking: {
          on: {
            served: [{ target: 'idle', actions: ['succeed'] }],
            ...onSetback(
              { guard: 'triesAgain', target: 'pausing', actions: ['pause'] },
              { target: 'idle', actions: ['giveUp'] },
            ),
            ...late('abandon', 'stopWaiting'),
          },
        },
        pausing: {
          on: {
            wake: [{ target: 'asking', actions: ['sendAgain'] }],
            no_retry: [{ target: 'idle', actions: ['giveUp'] }],
            ...late('stopWaiting'),
          },
        },
      },
    },
    guards: {
      triesAgain: ({ task }: Requesting, setback: SetbackEvent) => after(setback, task!) !== undefined,
      isOfThisJob: ({ task }: Requesting, { attempt }: EventOf<'late'>) => attempt.job === task!.job,
    },
    actions: {
      send: (_: Requesting, { job }: EventOf<'job'>) => sent(job, 1, 0),
      sendAgain: ({ task }: Requesting, { waitedMs }: EventOf<'wake'>) => sent(task!.job, task!.attempts + 1, waitedMs),
      pause: (memory: Requesting, setback: SetbackEvent) => [
        memory,
        [{ type: 'retry', wait: after(setback, memory.task!)! }],
      ],
      succeed: ({ task }: Requesting) => over(task!.job, 'succeeded'),
      giveUp: ({ task }: Requesting) => over(task!.job, 'given_up'),
      abandon: (memory: Requesting) => [memory, [{ type: 'abandon' }]],
      stopWaiting: (memory: Requesting) => [memory, [cancelWait]],
    },
  };
}

function sent(job: Job, attempts: number, pausedMs: number): readonly [Requesting, readonly Effect[]] {
  return [{ task: { job, attempts, pausedMs } }, [{ type: 'send', job, number: attempts }]];
}

function over(job: Job, ending: 'succeeded' | 'given_up'): readonly [Requesting, readonly Effect[]] {
  return [{}, [{ type: 'finish', job, ending }]];
}
