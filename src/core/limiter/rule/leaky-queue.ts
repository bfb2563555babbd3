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
import { aheadOf, gcra, type Turns } from './gcra.js';
import { LIMITED, NEVER, type Rule } from './rule.js';

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

/** A meter that admits as early as a request may wait, and holds it so long. */
export function leakyQueue(params: Static<typeof LeakyQueueParams>): Rule<Turns> {
  const { spacing_ms: T, max_queue: most, registered = 0, max_wait_ms = NEVER } = params;
  const longest = Math.min(max_wait_ms, most === undefined ? NEVER : (most + registered) * T);
  const { charge: _, ...meter } = gcra({ T_ms: T, tau_ms: longest });
  return {
    ...meter,
    admit(state, t, n, holdMs) {
      const delay = aheadOf(state, T, t) + (n - 1) * T;
      return meter.admit(state, t, n, holdMs) === LIMITED ? LIMITED : delay;
    },
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
