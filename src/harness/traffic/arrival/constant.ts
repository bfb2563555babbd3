// A constant rate, exact to the request.
//
//   2.5 per cycle    |..|...|..|...|..|...|        count(c) = floor((c + 1) r) - floor(c r)
import { checkPeak } from './arrival.js';
import { Carry, mixed, perCycle } from './carry.js';
import { kind, Placed, RateOf } from './kind.js';

export const constant = kind(
  'constant',
  'A steady rate, exact to the request; remainders are carried.',
  { rate: RateOf('How many requests come.'), 'placement?': Placed('even') },
  (spec, read) => {
    const rate = read.rate(spec.rate, '/rate');
    return ({ placement }) => {
      checkPeak('/rate', Math.ceil(perCycle(rate)));
      const { whole, part } = mixed(BigInt(rate.requests), BigInt(rate.cycles));
      const carry = new Carry(rate.cycles);
      return { count: () => carry.take(whole, part), instants: placement(spec.placement ?? 'even') };
    };
  },
);
