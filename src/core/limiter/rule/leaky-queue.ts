// Queues that start one request every T and delay the others.
//
//   leaky_queue   start = max(t, next); next = start + T; delay = start - t; refused when the queue is full
//
//   come   ||| |          start   |   |   |   |        T apart
//
//   uber_slack    x = t at first; t - S T if t - x > (S + 1) T; else x + T;  delay = max(0, x - t): unused time is kept, up to S T
//
// A cost n is n consecutive starts; the request is delayed until the last.
// Source: Bottleneck 2.19 (minTime, highWater), go.uber.org/ratelimit 0.3 (limiter_atomic_int64.go).
import type { Static } from 'typebox';
import { exact } from '../../schema/fields.js';
import { Type } from '../../schema/json-schema.js';
import { count, length, wait } from './fields.js';
import type { Turns } from './gcra.js';
import { GRAIN_MS, LIMITED, NEVER, type Rule } from './rule.js';

const spacing = length('Time between two starts, in ms.');

export const LeakyQueueParams = exact({
  spacing_ms: spacing,
  'burst?': Type.Literal(1, { description: 'How many start at once: 1.' }),
  'max_queue?': count('How many may wait. Default: as many as come.', 0),
  'registered?': count('How many more wait that have left the queue. Default: 0.', 0),
  'max_wait_ms?': wait('A request that would be held longer is refused, in ms. Default: none is.'),
});

export const UberSlackParams = exact({
  spacing_ms: spacing,
  'slack?': count('How many starts that were not used are kept. Default: 10.', 0),
});

export function leakyQueue(params: Static<typeof LeakyQueueParams>): Rule<Turns> {
  const { spacing_ms: T, max_queue: most, registered = 0, max_wait_ms = NEVER } = params;
  const longest = Math.min(max_wait_ms, most === undefined ? NEVER : (most + registered) * T);
  const ahead = ({ fromMs, turns }: Turns, t: number) => Math.max(0, fromMs - t + turns * T);
  const delayOf = (state: Turns, t: number, n: number) => ahead(state, t) + (n - 1) * T;
  const roomAt = (state: Turns, t: number) => {
    const room = Math.floor((longest + GRAIN_MS - delayOf(state, t, 1)) / T) + 1;
    return Math.max(0, room);
  };
  return {
    fresh: () => ({ fromMs: 0, turns: 0 }),
    admit(state, t, n) {
      const delay = delayOf(state, t, n);
      if (delay > longest + GRAIN_MS) return LIMITED;
      if (ahead(state, t) === 0) {
        state.fromMs = t;
        state.turns = 0;
      }
      state.turns += n;
      return delay;
    },
    nextAdmission(state, t, n) {
      if ((n - 1) * T > longest + GRAIN_MS) return NEVER;
      return t + Math.max(0, delayOf(state, t, n) - longest);
    },
    nextChange(state, t) {
      if (longest === NEVER || ahead(state, t) === 0) return NEVER;
      return t + Math.max(GRAIN_MS, delayOf(state, t, roomAt(state, t) + 1) - longest);
    },
    remaining: roomAt,
    forgettable: (state, t) => ahead(state, t) === 0,
  };
}

export function uberSlack({ spacing_ms: T, slack = 10 }: Static<typeof UberSlackParams>): Rule<Turns> {
  const ahead = ({ fromMs, turns }: Turns, t: number) => fromMs - t + turns * T;
  return {
    fresh: () => ({ fromMs: -1, turns: 0 }),
    admit(state, t, n) {
      const isFirst = state.fromMs < 0;
      if (isFirst || -ahead(state, t) > slack * T + T) {
        state.fromMs = t;
        state.turns = isFirst ? 0 : -slack;
      } else state.turns += 1;
      // At most S T are left to catch up with after the first: each further start is T after the one before.
      state.turns += n - 1;
      return Math.max(0, ahead(state, t));
    },
    nextAdmission: (_, t) => t,
    nextChange: () => NEVER,
    remaining: () => Number.POSITIVE_INFINITY,
    // A new one has no slack.
    forgettable: (state, t) => slack === 0 && -ahead(state, t) > T,
  };
}
