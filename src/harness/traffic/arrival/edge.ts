// The burst that a fixed window admits twice: n requests just before the boundary of two windows, and n just after it.
//
//   window        |          1           |          2           |
//   requests      |                     n|n                     |     2n within two cycles
//   boundary      0                      1                      2     boundary b begins cycle b * within
//
// A fixed window of n admits all 2n; a rolling window admits n, wherever the boundary is.
import { whole } from '../../../core/schema/fields.js';
import { timeField } from '../../../core/schema/quantity.js';
import { refuse } from './arrival.js';
import { kind, Placed, RequestsOf } from './kind.js';

export const edge = kind(
  'edge',
  'Many requests in the last cycle of a window and as many in the first of the next.',
  {
    requests: RequestsOf('How many requests come on each side of the boundary.'),
    'within?': timeField('Length of a window, at least one cycle. Default: that of the limiter.'),
    'boundary?': whole(1, 1_000_000, 'Which boundary: 1, the default, lies between the first window and the second.'),
    'placement?': Placed('start'),
  },
  ({ requests, ...spec }, read) => {
    const begins = (spec.boundary ?? 1) * (read.time(spec.within, '/within', 1) ?? read.within);
    return ({ placement }) => {
      if (!Number.isSafeInteger(begins)) refuse('/boundary', 'lies beyond the last cycle that can be numbered');
      return {
        count: (cycle) => (cycle === begins - 1 || cycle === begins ? requests : 0),
        instants: placement(spec.placement ?? 'start'),
      };
    };
  },
);
