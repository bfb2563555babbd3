// Clients that make one job at a time. They differ in how long they wait after a setback, and in when they give up.
//
//            job                 served
//    idle ────────►  asking  ────────────►  idle      succeeded
//                    ▲    │ limited, failed, lost, timeout
//               wake │    ▼
//                    pausing ── no more ──►  idle      given up
//
//    with a gate     idle ─ job ─►  entering  ─ entered ─►  asking      turned away: given up; pausing ─ wake ─► entering, too
//    with hedging    asking ─ wake ─►  asking, one attempt more        a setback counts once no other attempt is in flight
//
// A late answer ends the job only for clients that take late answers.
import type { Pauses } from './backoff.js';
import {
  cancelWait,
  type Effect,
  type Job,
  retryAfterMsOf,
  type Setback,
  type SetbackType,
  setbackTypes,
  type Wait,
} from './behaviour.js';
import type { ClientChart, EventOf, SetbackEvent } from './client-chart.js';
import { endsJob, type RetryAfterPlan, waitAfter } from './retry-after.js';

interface Requesting {
  readonly task?: Task;
}

interface Task {
  readonly job: Job;
  readonly attempts: number;
  /** Before the last attempt; 0 before the first. */
  readonly pausedMs: number;
  /** With hedging: attempts in flight. */
  readonly open?: number;
}

interface Again {
  readonly guard: string;
  readonly action: string;
  readonly on: readonly SetbackType[];
  readonly takesLate?: boolean;
  readonly gated?: 'attempts' | 'retries' | undefined;
  readonly hedge?: HedgePlan | undefined;
  readonly maxAttempts: number;
  mayRetry(setback: Setback): boolean;
  after(setback: Setback, task: Task): Wait;
}

interface HedgePlan {
  readonly afterMs: number;
  /** Attempts in flight, at least 2. */
  readonly most: number;
}

/** Sends every job once, whatever the answer. */
export function open(): ClientChart {
  return requesting('open');
}

interface ObedientPlan {
  /** At least 1. */
  readonly maxAttempts: number;
  /** Longest random wait on top of the announced one. */
  readonly jitterMs: number;
}

/**
 * Waits as long as Retry-After says, and sends again.
 *
 *     send ─► limited, Retry-After 12 s ─► 12 s ─┬─ jitter ─► send ─► ...          at most maxAttempts times
 *                                                └ u * jitter, u uniform in [0, 1)
 *
 * Clients that are limited together return together, unless jitter separates them.
 */
export function obedient({ maxAttempts, jitterMs }: ObedientPlan): ClientChart {
  return requesting('obedient', {
    guard: 'toldWhenToReturn',
    action: 'waitAsTold',
    on: setbackTypes,
    maxAttempts,
    mayRetry: (setback) => retryAfterMsOf(setback) !== undefined,
    after(setback) {
      const retryAfterMs = retryAfterMsOf(setback)!;
      return jitterMs > 0 ? { drawMs: (draw) => retryAfterMs + draw.uniform() * jitterMs } : retryAfterMs;
    },
  });
}

export interface RetryingPlan {
  /** At least 1. */
  readonly maxAttempts: number;
  readonly on: readonly SetbackType[];
  readonly pauses: Readonly<Record<SetbackType, Pauses>>;
  readonly retryAfter: RetryAfterPlan;
  /** The answer to an abandoned attempt ends the job, as for messages with an id. */
  readonly takesLateAnswers: boolean;
  readonly gated?: 'attempts' | 'retries' | undefined;
  readonly hedge?: HedgePlan | undefined;
}

/**
 * Retries after setbacks, paced by a back-off policy, bounded by attempts and by the retry limits of the instance.
 *
 *     send ─► setback ─► attempts left? ─► retry allowed? ─► pause ─► send ─► ...
 *                         └ no: given up    └ no: given up
 */
export function retrying(plan: RetryingPlan): ClientChart {
  const { maxAttempts, on, pauses, retryAfter, takesLateAnswers: takesLate, gated, hedge } = plan;
  return requesting('retrying', {
    guard: 'hasAttemptsLeft',
    action: 'backOff',
    on,
    takesLate,
    gated,
    hedge,
    maxAttempts,
    // A service need not announce a wait.
    mayRetry: (setback) =>
      (setback.type !== 'limited' && retryAfterMsOf(setback) === undefined) ||
      !endsJob(retryAfter, retryAfterMsOf(setback)),
    after: (setback, { attempts, pausedMs }) =>
      waitAfter(retryAfter, retryAfterMsOf(setback), (leastMs) => pauses[setback.type](attempts, pausedMs, leastMs)),
  });
}

function requesting(id: string, again?: Again): ClientChart {
  const retries = again && retriesOf(again);
  const { gated, hedge } = again ?? {};
  const toGate = [{ target: 'entering', actions: ['enter'] }];
  const giveUp = { target: 'idle', actions: hedge === undefined ? ['giveUp'] : ['stopWaiting', 'giveUp'] };
  const served = hedge === undefined ? ['succeed'] : ['abandon', 'stopWaiting', 'succeed'];
  const setbacks = (on: SetbackType) => [
    ...(hedge === undefined ? [] : [{ guard: 'othersAreInFlight', actions: ['countDown'] }]),
    ...(again?.on.includes(on) === true ? retries!.onSetback : []),
    giveUp,
  ];
  return {
    config: {
      id,
      initial: 'idle',
      context: {},
      states: {
        idle: { on: { job: gated === 'attempts' ? toGate : [{ target: 'asking', actions: ['send'] }] } },
        ...(gated === undefined ? {} : { entering: retries!.entering }),
        asking: {
          on: {
            served: [{ target: 'idle', actions: served }],
            ...Object.fromEntries(setbackTypes.map((type) => [type, setbacks(type)])),
            ...(hedge === undefined ? {} : { wake: [{ guard: 'mayHedge', actions: ['sendAnother'] }] }),
            ...retries?.late('abandon', 'stopWaiting'),
          },
        },
        ...(retries === undefined ? {} : { pausing: retries.pausing }),
      },
    },
    guards: { ...retries?.guards },
    actions: {
      send: (_: Requesting, { job }: EventOf<'job'>) => sent({ job, attempts: 0, pausedMs: 0 }, hedge),
      succeed: ({ task }: Requesting) => over(task!.job, 'succeeded'),
      giveUp: ({ task }: Requesting) => over(task!.job, 'given_up'),
      ...retries?.actions,
    },
  };
}

function retriesOf({ guard, action, takesLate = false, gated, hedge, maxAttempts, mayRetry, after }: Again) {
  const late = (...actions: readonly string[]) =>
    takesLate ? { late: [{ guard: 'isOfThisJob', target: 'idle', actions: [...actions, 'succeed'] }] } : {};
  const given = [{ target: 'idle', actions: ['giveUp'] }];
  const sendAgain = ({ task }: Requesting, { waitedMs: pausedMs }: EventOf<'wake'>): Task => ({ ...task!, pausedMs });
  return {
    onSetback: [{ guard, target: 'pausing', actions: [action] }],
    late,
    entering: {
      on: { entered: [{ target: 'asking', actions: ['sendEntered'] }], turned_away: given, ...late('stopWaiting') },
    },
    pausing: {
      on: {
        wake: [
          gated === undefined
            ? { target: 'asking', actions: ['sendAgain'] }
            : { target: 'entering', actions: ['enterAgain'] },
        ],
        no_retry: given,
        ...late('stopWaiting'),
      },
    },
    guards: {
      [guard]: ({ task }: Requesting, setback: SetbackEvent) => task!.attempts < maxAttempts && mayRetry(setback),
      isOfThisJob: ({ task }: Requesting, { attempt }: EventOf<'late'>) => attempt.job === task!.job,
      othersAreInFlight: ({ task }: Requesting) => task!.open! > 1,
      mayHedge: ({ task }: Requesting) => task!.open! < hedge!.most && task!.attempts < maxAttempts,
    },
    actions: {
      enter: (_: Requesting, { job }: EventOf<'job'>) => entering({ job, attempts: 0, pausedMs: 0 }),
      enterAgain: (memory: Requesting, event: EventOf<'wake'>) => entering(sendAgain(memory, event)),
      sendEntered: ({ task }: Requesting) => sent(task!, hedge),
      sendAgain: (memory: Requesting, event: EventOf<'wake'>) => sent(sendAgain(memory, event), hedge),
      sendAnother: ({ task }: Requesting) => sent(task!, hedge, task!.open),
      countDown: ({ task }: Requesting) => [{ task: { ...task!, open: task!.open! - 1 } }, []],
      [action]: (memory: Requesting, setback: SetbackEvent): readonly [Requesting, readonly Effect[]] => [
        memory,
        [{ type: 'retry', job: memory.task!.job, wait: after(setback, memory.task!), after: setback.type }],
      ],
      abandon: (memory: Requesting) => [memory, [{ type: 'abandon' }]],
      stopWaiting: (memory: Requesting) => [memory, [cancelWait]],
    } satisfies ClientChart['actions'],
  };
}

type Step = readonly [Requesting, readonly Effect[]];

function sent({ job, attempts, pausedMs }: Task, hedge: HedgePlan | undefined, open = 0): Step {
  const number = attempts + 1;
  if (hedge === undefined) return [{ task: { job, attempts: number, pausedMs } }, [{ type: 'send', job, number }]];
  const send: Effect = { type: 'send', job, number, ...(open > 0 && { isHedge: true }) };
  return [{ task: { job, attempts: number, pausedMs, open: open + 1 } }, [send, { type: 'wait', wait: hedge.afterMs }]];
}

function entering(task: Task): Step {
  return [{ task }, [{ type: 'enter', job: task.job }]];
}

function over(job: Job, ending: 'succeeded' | 'given_up'): Step {
  return [{}, [{ type: 'finish', job, ending }]];
}
