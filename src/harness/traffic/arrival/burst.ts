// A rate that steps up and back: once, permanently, or periodically.
//
//   burst            ____________              ____
//                   |            |            |            lasts `for`, repeats `every` cycles after its start
//   base   _________|            |____________|
//          0        at           at + for     at + every
import { timeField } from '../../../core/schema/quantity.js';
import { checkPeak, refuse } from './arrival.js';
import { Carry, MOST_PARTS, mixed, onCommonParts, perCycle } from './carry.js';
import { byLaw, byLawFields, kind, RateOf } from './kind.js';

export const burst = kind(
  'burst',
  'A rate that steps up and back.',
  {
    'base_rate?': RateOf('The rate outside of bursts. Default: 0.'),
    burst_rate: RateOf('The rate during a burst.'),
    'at?': timeField('When the first burst begins. Default: 0.'),
    'for?': timeField('How long a burst lasts, at least one cycle. Default: until `to`.'),
    'every?': timeField('From the beginning of a burst to that of the next. Default: there is one.'),
    ...byLawFields,
  },
  (spec, read) => {
    const low = read.rate(spec.base_rate ?? 0, '/base_rate');
    const high = read.rate(spec.burst_rate, '/burst_rate');
    const at = read.time(spec.at, '/at') ?? 0;
    const lasts = read.time(spec.for, '/for', 1) ?? Infinity;
    const every = read.time(spec.every, '/every', 1) ?? Infinity;
    const isBurst = (cycle: number) => {
      const age = cycle - at;
      return age >= 0 && (every === Infinity ? age : age % every) < lasts;
    };
    return byLaw(spec, () => {
      checkPeak('/base_rate', Math.ceil(perCycle(low)));
      checkPeak('/burst_rate', Math.ceil(perCycle(high)));
      if (lasts > every)
        refuse('/for', 'must be given and no longer than every: one burst ends before the next begins');
      const { parts, amounts } = onCommonParts([low, high], MOST_PARTS);
      const [outside, inside] = [mixed(amounts[0]!, parts), mixed(amounts[1]!, parts)];
      const carry = new Carry(Number(parts));
      return {
        count: (cycle) => {
          const { whole, part } = isBurst(cycle) ? inside : outside;
          return carry.take(whole, part);
        },
        meanIn: (cycle) => perCycle(isBurst(cycle) ? high : low),
      };
    });
  },
);
