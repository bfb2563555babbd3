// Owns the course of one job after another: ask, and on a setback pause and ask again, or give up. Leaves how long to pause, and
// when to give up, to a reaction: open.ts, obedient.ts, retrying.ts.
//
//            job                 served
//    idle ────────►  asking  ────────────►  idle      succeeded
//                    ▲    │ limited, failed, lost, timeout
//               wake │    ▼
//                    pausing ── no more ──►  idle      given up
//
// A late answer, to an attempt abandoned before, ends the job only for those who care: see retrying.ts.
import { assert, unreachable } from '../../schema/failure.js';
import type { Attempt, Behaviour, ClientPort, Job, Setback } from './port.js';

export type RequestingState =
  | { readonly at: 'idle' }
  | { readonly at: 'asking'; readonly task: Task; readonly attempt: Attempt }
  | { readonly at: 'pausing'; readonly task: Task };

/** A job in the making. */
export interface Task {
  readonly job: Job;
  /** Attempts made so far, the one under way included. */
  readonly attempts: number;
  /** The pause before the last of them, in ms; 0 before the first. */
  readonly pausedMs: number;
}

export interface Reaction {
  /** A job has come and will be sent at once. */
  begins?(port: ClientPort): void;
  /** Whether an answer to an abandoned attempt ends the job, if it is still wanted. */
  readonly takesLate?: boolean;
  /** What follows a setback: a pause in ms, 0 for none, and another attempt; undefined to give up. */
  after(setback: Setback, task: Task, port: ClientPort): number | undefined;
}

const idle: RequestingState = { at: 'idle' };

export function requesting(reaction: Reaction): Behaviour<RequestingState> {
  return {
    initial: idle,
    on(port, state, event) {
      switch (event.type) {
        case 'job':
          assert(state.at === 'idle', `a client was given job ${event.job.number} while it has another`);
          reaction.begins?.(port);
          return ask(port, event.job, 1, 0);
        case 'wake':
          if (state.at !== 'pausing') return state;
          return ask(port, state.task.job, state.task.attempts + 1, state.task.pausedMs);
        case 'served':
          if (state.at !== 'asking') return state;
          port.finish(state.task.job, 'succeeded');
          return idle;
        case 'limited':
        case 'failed':
        case 'lost':
        case 'timeout':
          if (state.at !== 'asking') return state;
          return pauseOrGiveUp(port, state.task, reaction.after(event, state.task, port));
        case 'late':
          if (reaction.takesLate !== true || state.at === 'idle' || event.attempt.job !== state.task.job) return state;
          if (state.at === 'asking') port.abandon(state.attempt);
          port.clearAlarm();
          port.finish(state.task.job, 'succeeded');
          return idle;
        case 'begin':
        case 'rate_limited':
        case 'rate_restored':
          return state;
        default:
          return unreachable(event);
      }
    },
  };
}

function ask(port: ClientPort, job: Job, attempts: number, pausedMs: number): RequestingState {
  return { at: 'asking', task: { job, attempts, pausedMs }, attempt: port.send(job, attempts) };
}

function pauseOrGiveUp(port: ClientPort, task: Task, pausedMs: number | undefined): RequestingState {
  const { job, attempts } = task;
  if (pausedMs === undefined) {
    port.finish(job, 'given_up');
    return idle;
  }
  if (pausedMs === 0) return ask(port, job, attempts + 1, 0);
  port.setAlarm(port.now() + pausedMs);
  return { at: 'pausing', task: { job, attempts, pausedMs } };
}
