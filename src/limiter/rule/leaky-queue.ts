// Queues that start one request each T, and so hold the others.
//
//   leaky_queue   start = max(t, next); next = start + T; delay = start - t; refused when the queue is full
//
//   come   ||| |          start   |   |   |   |        T apart
//
//   uber_slack    x = t at first; t - S T if t - x > (S + 1) T; else x + T;  delay = max(0, x - t): time not used is kept, up to S T
//
// A cost n is n starts in a row; the request is held until the last.
// Source: Bottleneck 2.19 (minTime, highWater), go.uber.org/ratelimit 0.3 (limiter_atomic_int64.go).
import type { Static } from 'typebox';
import { Type } from '../../schema/json-schema.js';
import { count, length, strict, wait } from './fields.js';
import { LIMITED, NEVER, type Rule } from './rule.js';

const spacing = length('Time between two starts, in ms.');

export const LeakyQueueParams = Type.Object(
  {
    spacing_ms: spacing,
    burst: Type.Optional(Type.Literal(1, { description: 'How many start at once: 1.' })),
    max_queue: Type.Optional(count('How many may wait. Default: as many as come.', 0)),
    registered: Type.Optional(count('How many more wait that have left the queue. Default: 0.', 0)),
    max_wait_ms: Type.Optional(wait('A request that would be held longer is refused, in ms. Default: none is.')),
  },
  strict,
);

export const UberSlackParams = Type.Object(
  { spacing_ms: spacing, slack: Type.Optional(count('How many starts that were not used are kept. Default: 10.', 0)) },
  strict,
);

/** `nextMs` is the earliest time of the next start. */
interface Queue {
  nextMs: number;
}

export function leakyQueue(params: Static<typeof LeakyQueueParams>): Rule<Queue> {
  const { spacing_ms: T, max_queue: most, registered = 0, max_wait_ms = NEVER } = params;
  const longest = Math.min(max_wait_ms, most === undefined ? NEVER : (most + registered) * T);
  const delayOf = ({ nextMs }: Queue, t: number, n: number) => Math.max(0, nextMs - t) + (n - 1) * T;
  const roomAt = (state: Queue, t: number) => {
    const room = Math.floor((longest - delayOf(state, t, 1)) / T) + 1;
    return Math.max(0, room);
  };
  return {
    fresh: () => ({ nextMs: 0 }),
    decide(state, t, n) {
      const delay = delayOf(state, t, n);
      if (delay > longest) return LIMITED;
      state.nextMs = t + delay + T;
      return delay;
    },
    nextAdmission(state, t, n) {
      if ((n - 1) * T > longest) return NEVER;
      return t + Math.max(0, delayOf(state, t, n) - longest);
    },
    nextChange(state, t) {
      if (longest === NEVER || state.nextMs <= t) return NEVER;
      return t + delayOf(state, t, roomAt(state, t) + 1) - longest;
    },
    remaining: roomAt,
    forgettable: ({ nextMs }, t) => nextMs <= t,
  };
}

/** `lastMs` is the last start, -1 before the first. */
interface Slack {
  lastMs: number;
}

export function uberSlack({ spacing_ms: T, slack = 10 }: Static<typeof UberSlackParams>): Rule<Slack> {
  return {
    fresh: () => ({ lastMs: -1 }),
    decide(state, t, n) {
      if (state.lastMs < 0) state.lastMs = t;
      else if (t - state.lastMs > slack * T + T) state.lastMs = t - slack * T;
      else state.lastMs += T;
      // After the first, at most S T are left to catch up with: each start of the others is T after the one before.
      state.lastMs += (n - 1) * T;
      return Math.max(0, state.lastMs - t);
    },
    nextAdmission: (_, t) => t,
    nextChange: () => NEVER,
    remaining: () => Number.POSITIVE_INFINITY,
    // A new one has no slack.
    forgettable: ({ lastMs }, t) => slack === 0 && t - lastMs > T,
  };
}
