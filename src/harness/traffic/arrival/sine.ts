// A rate that oscillates around its mean, as over a day.
//
//   m + a         _                       rate(t) = m + a sin 2pi(t/P + phase)
//               /   \                     requests before cycle c: floor(m c + W(c)), W the integral of the oscillation:
//   m   ------ . --- . --- . ------       W(t) = a P / pi  sin 2pi(t/2P + phase)  sin 2pi(t/2P)
//                     \   /
//   m - a               ‾                 phase 0: from the mean, rising; 1/4: from the peak; 3/4: from the trough
//              0    P/2    P
//
// m c is exact (carried), and W returns to exactly 0 after every period: n whole periods have floor(m P n) requests.
import { sinTurns } from '../../../core/math/elementary.js';
import { real } from '../../../core/schema/fields.js';
import { parseTime, timeField } from '../../../core/schema/quantity.js';
import { checkPeak, refuse } from './arrival.js';
import { Carry, mixed, perCycle } from './carry.js';
import { byLaw, byLawFields, kind, RateOf } from './kind.js';

export const sine = kind(
  'sine',
  'A rate that swings around its mean, as over a day.',
  {
    rate: RateOf('The mean rate.'),
    amplitude: RateOf('How far the rate swings to either side; not above the mean rate.'),
    period: timeField('How long one swing takes, at least one cycle.'),
    'phase?': real(
      0,
      1,
      'Where in its swing it begins: 0 mean and rising, 0.25 peak, 0.5 mean and falling, 0.75 trough.',
    ),
    ...byLawFields,
  },
  ({ phase = 0, ...spec }, read) => {
    const rate = read.rate(spec.rate, '/rate');
    const amplitude = perCycle(read.rate(spec.amplitude, '/amplitude'));
    const period = parseTime(spec.period, read.cycleMs, '/period', 1);
    return byLaw(spec, () => {
      const mean = perCycle(rate);
      if (amplitude > mean)
        refuse('/amplitude', `must not be above the mean rate, ${mean} per cycle: no rate is negative`);
      checkPeak('/amplitude', Math.ceil(mean + amplitude));
      const { whole, part } = mixed(BigInt(rate.requests), BigInt(rate.cycles));
      const carry = new Carry(rate.cycles);
      const swing = (amplitude * period) / Math.PI;
      /** The oscillation of a cycle is, on average, this times the sine at its middle: a P / pi sin(pi / P). */
      const swingInCycle = swing * sinTurns(0.5 / period);
      const wave = (cycle: number) => {
        const half = (cycle % period) / period / 2;
        return swing * sinTurns(half + phase) * sinTurns(half);
      };
      let ahead = 0;
      return {
        count: (cycle) => {
          const ofMean = carry.take(whole, part);
          const due = ofMean + Math.floor(carry.fraction + wave(cycle + 1)) - ahead;
          // Near a rate of 0, rounding may retract a request that was already given: it is not given a second time.
          const count = Math.max(0, due);
          ahead += count - ofMean;
          return count;
        },
        meanIn: (cycle) => Math.max(0, mean + swingInCycle * sinTurns(((cycle % period) + 0.5) / period + phase)),
      };
    });
  },
);
