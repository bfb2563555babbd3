// A concurrency limit that adapts to the durations of finished requests.
//
//   aimd        lost, or longer than the timeout:  K = trunc(0.9 K);   else if 2 * inflight >= K:  K + 1
//   vegas       q = ceil(K (1 - base / rtt)), l = max(1, trunc(log10 K)):   lost: K - l;  inflight < K / 2: unchanged;
//               q <= l: K + 6 l;   q < 3 l: K + l;   q > 6 l: K - l          base: the shortest time, relearned periodically
//   gradient2   g = clamp(1.5 * long / rtt, 0.5, 1),  K = 0.8 K + 0.2 (K g + 4)       long: mean of some 600 times
//
//   K   |      /\    /\        a sawtooth (aimd), or a level (vegas, gradient2)
//       |    /   \ /  \
//       |__/           t
//
// Refused requests are not samples. Vegas relearns base after (0.5 .. 1) * 30 K samples; the fraction comes from multiples of the golden
// ratio instead of a random number, so that the same requests give the same limits.
// Source: Netflix concurrency-limits, AIMDLimit, VegasLimit, Gradient2Limit.
import type { Static } from 'typebox';
import { exact } from '../../schema/fields.js';
import { Type } from '../../schema/json-schema.js';
import { endsAfter } from './concurrency.js';
import { length, places } from './fields.js';
import { copyOf, LIMITED, NEVER, type Rule } from './rule.js';

export const AdaptiveParams = exact({
  algorithm: Type.Enum(['aimd', 'vegas', 'gradient2'], { description: 'How the limit moves.' }),
  'initial?': places('The limit at first. Default: 20, for vegas 10.'),
  'min?': places('The least limit. Default: 20, for vegas 1.'),
  'max?': places('The greatest limit. Default: 200, for vegas 1000.'),
  'timeout_ms?': length('A request in flight for longer is lost. Default: 5000 ms for aimd, none for the others.'),
});
type Params = Static<typeof AdaptiveParams>;

/** `ends` in order of time, with the time in flight of each; `long` and `base` are ms, 0 before the first sample. */
interface State {
  limit: number;
  ends: number[];
  rtts: number[];
  samples: number;
  base: number;
  long: number;
  probes: number;
  untilProbe: number;
}

type Moves = (state: State, rtt: number, inFlight: number, lost: boolean) => number;

const PROBE = 30;
const GOLDEN = 0.6180339887498949;

function nextProbe(state: State): number {
  state.probes += 1;
  const part = (state.probes * GOLDEN) % 1;
  return Math.ceil((0.5 + part / 2) * PROBE * state.limit);
}

function digitsLessOne(limit: number): number {
  let digits = 0;
  for (let rest = limit; rest >= 10; rest /= 10) digits += 1;
  return Math.max(1, digits);
}

const moves: { readonly [A in Params['algorithm']]: Moves } = {
  aimd(state, _rtt, inFlight, lost) {
    if (lost) return Math.trunc(state.limit * 0.9);
    return inFlight * 2 >= state.limit ? state.limit + 1 : state.limit;
  },
  vegas(state, rtt, inFlight, lost) {
    state.untilProbe -= 1;
    if (state.untilProbe <= 0 && state.samples > 1) {
      state.untilProbe = nextProbe(state);
      state.base = rtt;
      return state.limit;
    }
    if (state.base === 0 || rtt < state.base) {
      state.base = rtt;
      return state.limit;
    }
    const l = digitsLessOne(state.limit);
    const queued = Math.ceil(state.limit * (1 - state.base / rtt));
    if (lost) return state.limit - l;
    if (inFlight * 2 < state.limit) return state.limit;
    if (queued <= l) return state.limit + 6 * l;
    if (queued < 3 * l) return state.limit + l;
    return queued > 6 * l ? state.limit - l : state.limit;
  },
  gradient2(state, rtt, inFlight) {
    const { samples } = state;
    state.long =
      samples <= 10 ? (state.long * (samples - 1) + rtt) / samples : state.long + ((rtt - state.long) * 2) / 601;
    if (state.long / rtt > 2) state.long *= 0.95;
    if (inFlight < state.limit / 2) return state.limit;
    const gradient = Math.max(0.5, Math.min(1, (1.5 * state.long) / rtt));
    return state.limit * 0.8 + 0.2 * (state.limit * gradient + 4);
  },
};

export function adaptive(params: Params): Rule<State> {
  const { algorithm } = params;
  const isVegas = algorithm === 'vegas';
  const { initial = isVegas ? 10 : 20, min = isVegas ? 1 : 20, max = isVegas ? 1000 : 200 } = params;
  const timeout = params.timeout_ms ?? (algorithm === 'aimd' ? 5_000 : NEVER);
  const move = moves[algorithm];
  const advance = (state: State, t: number) => {
    const done = endsAfter(state.ends, t);
    for (let i = 0; i < done; i += 1) {
      const rtt = Math.max(state.rtts[i]!, 0.001);
      state.samples += 1;
      const moved = move(state, rtt, state.ends.length - i, rtt > timeout);
      state.limit = Math.max(min, Math.min(max, moved));
    }
    state.ends.splice(0, done);
    state.rtts.splice(0, done);
  };
  const roomOf = (state: State) => Math.max(0, Math.floor(state.limit) - state.ends.length);
  const roomAt = (state: State, t: number) => {
    const then = copyOf(state);
    advance(then, t);
    return roomOf(then);
  };
  const timeOf = (state: State, t: number, wanted: (room: number) => boolean) => {
    const then = copyOf(state);
    advance(then, t);
    while (then.ends.length > 0 && then.ends[0]! < NEVER) {
      const at = then.ends[0]!;
      advance(then, at);
      if (wanted(roomOf(then))) return at;
    }
    return NEVER;
  };
  return {
    fresh: () => ({
      limit: initial,
      ends: [],
      rtts: [],
      samples: 0,
      base: 0,
      long: 0,
      probes: 0,
      untilProbe: PROBE * initial,
    }),
    admit(state, t, n, holdMs) {
      advance(state, t);
      if (roomOf(state) < n) return LIMITED;
      const at = endsAfter(state.ends, t + holdMs);
      state.ends.splice(at, 0, ...new Array<number>(n).fill(t + holdMs));
      state.rtts.splice(at, 0, ...new Array<number>(n).fill(holdMs));
      return 0;
    },
    release(state, t, heldMs) {
      if (state.ends[state.ends.length - 1] !== NEVER) return;
      state.ends.pop();
      state.rtts.pop();
      const at = endsAfter(state.ends, t);
      state.ends.splice(at, 0, t);
      state.rtts.splice(at, 0, heldMs);
      advance(state, t);
    },
    nextAdmission: (state, t, n) => (roomAt(state, t) >= n ? t : timeOf(state, t, (room) => room >= n)),
    nextChange(state, t) {
      const before = roomAt(state, t);
      return timeOf(state, t, (room) => room !== before);
    },
    remaining: roomAt,
    // Learned values must stay.
    forgettable: () => false,
  };
}
