// nginx limit_req: a meter in thousandths of a request, and ms. A cost n is n simultaneous requests, all or none.
//
//   e' = max(0, e - trunc(R * ms / 1000) + 1000)      R = rate in thousandths of a request per second, ms = t - last
//   e' > 1000 * burst     refused, nothing stored
//   else                  e = e', last = t (not when ms = 0); held trunc((e' - 1000 d) * 1000 / R) ms if e' > 1000 d
//
//   d = 0 without delay, unbounded with nodelay. The first request of a key passes with e = 0.
//   A clock that steps back by more than 60 s counts as 1 ms, by less as 0.
//
// Source: nginx 1.22.1, ngx_http_limit_req_module.c.
import type { Static } from 'typebox';
import { exact, whole } from '../../schema/fields.js';
import { count, flag } from './fields.js';
import { LIMITED, NEVER, type Rule } from './rule.js';

export const NginxLimitReqParams = exact({
  rate_1000: whole(1, 1_000_000_000_000, 'Thousandths of a request per second: trunc(1000 * rate / scale).'),
  'burst?': count('How many requests may be ahead of the rate. Default: 0.', 0),
  'delay?': count('How many of these are not held. Default: 0.', 0),
  'nodelay?': flag('None is held.'),
});

interface State {
  excess: number;
  atMs: number;
}

export function nginxLimitReq(params: Static<typeof NginxLimitReqParams>): Rule<State> {
  const { rate_1000: rate, burst = 0, delay = 0, nodelay = false } = params;
  const most = burst * 1000;
  const elapsed = ({ atMs }: State, t: number) => {
    const ms = Math.floor(t) - atMs;
    return ms < -60_000 ? 1 : Math.max(0, ms);
  };
  const drained = (state: State, t: number) => state.excess - Math.trunc((rate * elapsed(state, t)) / 1000);
  const excessAt = (state: State, t: number, n: number) =>
    (state.atMs < 0 ? 0 : Math.max(0, drained(state, t) + 1000)) + (n - 1) * 1000;
  const timeOf = (state: State, t: number, n: number) => {
    if (excessAt(state, t, n) <= most) return t;
    const tooMuch = state.excess + n * 1000 - most;
    return Math.max(t, state.atMs + Math.ceil((tooMuch * 1000) / rate));
  };
  const roomAt = (state: State, t: number) => Math.max(0, 1 + Math.floor((most - excessAt(state, t, 1)) / 1000));
  return {
    ownClock: true,
    fresh: () => ({ excess: 0, atMs: -1 }),
    admit(state, t, n) {
      const excess = excessAt(state, t, n);
      if (excess > most) return LIMITED;
      if (state.atMs < 0 || elapsed(state, t) > 0) state.atMs = Math.floor(t);
      state.excess = excess;
      if (nodelay || excess <= delay * 1000) return 0;
      return Math.trunc(((excess - delay * 1000) * 1000) / rate);
    },
    nextAdmission: (state, t, n) => (n > burst + 1 ? NEVER : timeOf(state, t, n)),
    nextChange(state, t) {
      const room = roomAt(state, t);
      return room > burst ? NEVER : timeOf(state, t, room + 1);
    },
    remaining: roomAt,
    forgettable: (state, t) => state.atMs < 0 || drained(state, t) + 1000 <= 0,
  };
}
