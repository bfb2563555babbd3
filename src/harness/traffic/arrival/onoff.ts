// Random bursts: Poisson requests at one of two rates, each held for an exponential time (MMPP-2).
//
//   on rate         ______            __          ________           mean rate = (on T_on + off T_off) / (T_on + T_off)
//   off rate   ____|      |__________|  |________|        |____      P(on at the start) = T_on / (T_on + T_off)
//   requests    .   .. .... .    .    ...   .     . .. ....   .
//
// The state may switch at any point of a cycle. Given the switches, the requests of a cycle are one Poisson draw whose mean is the
// integral of the rate over the cycle. Each instant is where the integral reaches a uniform share of its total:
//
//   cycle      |   off    |     on      | off  |          integral  0 .. Lambda
//   switches   0          a             b      1          share u Lambda -> its instant
import { drawPoisson } from '../../../core/math/random-law.js';
import { parseMeanTime, timeField } from '../../../core/schema/quantity.js';
import { checkPeak } from './arrival.js';
import { perCycle } from './carry.js';
import { kind, RateOf } from './kind.js';

/** The shortest mean time in a state, in cycles: about a hundred switches in a cycle are simulated at most. */
const LEAST_SOJOURN = 0.01;

/** Three streams: bursts do not depend on the rates, and counts do not depend on whether instants are drawn. */
export const onoff = kind(
  'onoff',
  'Poisson requests at one of two rates, each held for a time by chance (MMPP).',
  {
    on_rate: RateOf('The rate while on.'),
    'off_rate?': RateOf('The rate while off. Default: 0.'),
    on_for: timeField('How long it is on, on average; at least a hundredth of a cycle.'),
    off_for: timeField('How long it is off, on average; at least a hundredth of a cycle.'),
  },
  (spec, read) => {
    const on = perCycle(read.rate(spec.on_rate, '/on_rate'));
    const off = perCycle(read.rate(spec.off_rate ?? 0, '/off_rate'));
    const onFor = parseMeanTime(spec.on_for, read.cycleMs, '/on_for', LEAST_SOJOURN);
    const offFor = parseMeanTime(spec.off_for, read.cycleMs, '/off_for', LEAST_SOJOURN);
    return ({ stream }) => {
      checkPeak('/on_rate', on);
      checkPeak('/off_rate', off);
      const [sojourns, counts, places] = [stream('sojourns'), stream('counts'), stream('instants')];
      const rates = [off, on] as const;
      const sojourn = () => sojourns.exponential(1 / (state === 1 ? onFor : offFor));
      let state: 0 | 1 = sojourns.uniform() * (onFor + offFor) < onFor ? 1 : 0;
      // Cycles to the next switch. Exponential times are memoryless: the rest of a sojourn has the law of a whole one.
      let wait = sojourn();
      let stateBefore: 0 | 1 = 0;
      const switches: number[] = [];
      let integral = 0;
      const placeOf = (share: number) => {
        let of = stateBefore;
        let since = 0;
        let left = share;
        for (const until of switches) {
          const ofStretch = (until - since) * rates[of];
          if (left < ofStretch) break;
          left -= ofStretch;
          since = until;
          of = of === 1 ? 0 : 1;
        }
        // Rounding may leave a tiny remainder for a last segment without requests.
        return rates[of] > 0 ? Math.min(since + left / rates[of], LAST_INSTANT) : since;
      };
      return {
        count: () => {
          stateBefore = state;
          switches.length = 0;
          integral = 0;
          let since = 0;
          while (wait < 1) {
            integral += (wait - since) * rates[state];
            since = wait;
            switches.push(since);
            state = state === 1 ? 0 : 1;
            wait += sojourn();
          }
          integral += (1 - since) * rates[state];
          wait -= 1;
          return drawPoisson(integral, counts);
        },
        instants: (out, n) => {
          for (let k = 0; k < n; k += 1) out[k] = placeOf(places.uniform() * integral);
          out.subarray(0, n).sort();
        },
      };
    };
  },
);

const LAST_INSTANT = 1 - 2 ** -53;
