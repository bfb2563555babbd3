// A rate that changes linearly: once, or repeatedly as a sawtooth.
//
//   once        b        ______        repeat        /|  /|  /|
//                      /                            / | / | / |
//               a  __/                             /  |/  |/  |
//                  0    T                         0   T  2T
//
//   rate(t) = a + (b - a) t / T                     cycle c has a + (b - a) (2c + 1) / 2T requests on average
//
// Over one denominator, a = A/q and b = B/q, this is (2T A + (B - A)(2c + 1)) / 2Tq: it grows by 2(B - A) / 2Tq each cycle. So two
// additions of whole numbers for each cycle give floor of the exact integral, T (a + b) / 2 at the end.
import { flag } from '../../../core/schema/fields.js';
import { timeField } from '../../../core/schema/quantity.js';
import { checkPeak } from './arrival.js';
import { Carry, MOST_PARTS, mixed, onCommonParts, perCycle } from './carry.js';
import { byLaw, byLawFields, kind, RateOf } from './kind.js';

/** Rates with a common denominator above 2^51 / T are rounded to it: the error is below T^2 / 2^52 for T <= 2^30. */
export const ramp = kind(
  'ramp',
  'A rate that changes linearly.',
  {
    start_rate: RateOf('The rate at the beginning.'),
    end_rate: RateOf('The rate at the end, and after it.'),
    'over?': timeField('How long the change takes, at least one cycle. Default: until `to`.'),
    'repeat?': flag('Whether it begins again when it is over: a sawtooth.'),
    ...byLawFields,
  },
  (spec, read) => {
    const start = read.rate(spec.start_rate, '/start_rate');
    const end = read.rate(spec.end_rate, '/end_rate');
    const given = read.time(spec.over, '/over', 1);
    return byLaw(spec, (length) => {
      checkPeak('/start_rate', Math.ceil(perCycle(start)));
      checkPeak('/end_rate', Math.ceil(perCycle(end)));
      const over = given ?? Math.max(1, length);
      const common = onCommonParts([start, end], Math.floor(MOST_PARTS / (2 * over)));
      const [a, b] = [common.amounts[0]!, common.amounts[1]!];
      const twice = 2n * BigInt(over);
      const parts = twice * common.parts;
      const first = mixed(twice * a + (b - a), parts);
      const growth = mixed(2n * (b - a), parts);
      const last = mixed(twice * b, parts);
      const carry = new Carry(Number(parts));
      let { whole, part } = first;
      const placeOf = (cycle: number) => (spec.repeat === true ? cycle % over : cycle);
      return {
        count: (cycle) => {
          const at = placeOf(cycle);
          if (at === 0) ({ whole, part } = first);
          else if (at === over) ({ whole, part } = last);
          else if (at < over) {
            whole += growth.whole;
            part += growth.part;
            if (part >= carry.parts) {
              part -= carry.parts;
              whole += 1;
            }
          }
          return carry.take(whole, part);
        },
        meanIn: (cycle) => {
          const at = placeOf(cycle);
          if (at >= over) return perCycle(end);
          return perCycle(start) + ((perCycle(end) - perCycle(start)) * (2 * at + 1)) / (2 * over);
        },
      };
    });
  },
);
