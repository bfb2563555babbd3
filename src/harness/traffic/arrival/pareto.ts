// Requests with heavy-tailed gaps: clusters, and pauses of any length.
//
//   ....... .. ...            ..  . ...........                                   .. ....
//
//   P(gap > x) = (x0 / x)^shape from x0 on;   mean gap = shape x0 / (shape - 1) = 1 / rate
//
// The first request arrives one gap after the start. No gap is below x0, so a cycle has at most 1 / x0 requests, rounded up.
import { real } from '../../../core/schema/fields.js';
import { checkPeak } from './arrival.js';
import { perCycle } from './carry.js';
import { kind, RateOf } from './kind.js';

export const pareto = kind(
  'pareto',
  'Heavy-tailed gaps between requests: crowds, and long silences.',
  {
    rate: RateOf('How many requests come in the long run; the mean gap is its inverse.'),
    shape: real(
      1.01,
      100,
      'Shape of the Pareto law of the gaps: the nearer to 1 the heavier its tail; up to 2 of no variance.',
    ),
  },
  ({ shape, ...spec }, read) => {
    const leastGap = (shape - 1) / (shape * perCycle(read.rate(spec.rate, '/rate')));
    return (making) => {
      checkPeak('/rate', Math.ceil(1 / leastGap));
      const stream = making.stream('gaps');
      const gap = () => stream.pareto(shape, leastGap);
      let wait = gap();
      const instants: number[] = [];
      return {
        count: () => {
          instants.length = 0;
          for (; wait < 1; wait += gap()) instants.push(wait);
          wait -= 1;
          return instants.length;
        },
        instants: (out) => out.set(instants),
      };
    };
  },
);
