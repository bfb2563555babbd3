// The generic cell rate algorithm: one number, the theoretical arrival time of the next request.
//
//   TAT' = max(TAT, t) + n T         ok = t >= TAT' - (tau + T), and only then TAT = TAT'
//
//      t            TAT     TAT'
//   ---|-------------|---T---|----  time        the same decisions as a continuous bucket of capacity tau / T + 1, full at first
//      |<- at most tau + T ->|
//
// Source: redis-cell 0.5 (CL.THROTTLE), throttled; ITU-T I.371 for the name.
import type { Static } from 'typebox';
import { exact } from '../../schema/fields.js';
import { length, wait } from './fields.js';
import { GRAIN_MS, LIMITED, NEVER, type Rule } from './rule.js';

export const GcraParams = exact({
  T_ms: length('Time between two requests at the rate, in ms.'),
  tau_ms: wait('How much earlier than at the rate a request may come, in ms: burst * T.'),
});

/** An instant, `fromMs` + `turns` T: near 2^41 ms a running sum would be rounded each time, and drift for a fractional T. */
export interface Turns {
  fromMs: number;
  turns: number;
}

export function aheadOf({ fromMs, turns }: Turns, T: number, t: number): number {
  return Math.max(fromMs - t + turns * T, 0);
}

export function gcra({ T_ms: T, tau_ms: tau }: Static<typeof GcraParams>): Rule<Turns> {
  const most = Math.floor((tau + T + GRAIN_MS) / T);
  const ahead = (state: Turns, t: number) => aheadOf(state, T, t);
  const excess = (state: Turns, t: number, n: number) => ahead(state, t) + n * T - (tau + T);
  const roomAt = (state: Turns, t: number) => Math.floor((tau + T + GRAIN_MS - ahead(state, t)) / T);
  const charge = (state: Turns, t: number, n: number) => {
    if (ahead(state, t) === 0) {
      state.fromMs = t;
      state.turns = 0;
    }
    state.turns += n;
  };
  return {
    fresh: () => ({ fromMs: 0, turns: 0 }),
    admit(state, t, n) {
      if (excess(state, t, n) > GRAIN_MS) return LIMITED;
      charge(state, t, n);
      return 0;
    },
    charge,
    nextAdmission: (state, t, n) => (n > most ? NEVER : t + Math.max(0, excess(state, t, n))),
    nextChange(state, t) {
      const room = roomAt(state, t);
      return room >= most ? NEVER : t + Math.max(GRAIN_MS, excess(state, t, room + 1));
    },
    remaining: (state, t) => Math.max(0, roomAt(state, t)),
    forgettable: (state, t) => ahead(state, t) === 0,
  };
}
