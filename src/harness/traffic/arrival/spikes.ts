// Requests that arrive all in one cycle, once or periodically.
//
//             |                   |                   |
//   ----------+-------------------+-------------------+----      n requests each
//             at              at + every         at + 2 every
import { timeField } from '../../../core/schema/quantity.js';
import { kind, Placed, RequestsOf } from './kind.js';

export const spikes = kind(
  'spikes',
  'Many requests in one cycle, again and again.',
  {
    requests: RequestsOf('How many requests a spike has.'),
    'at?': timeField('When the first spike comes. Default: 0.'),
    'every?': timeField('From one spike to the next, at least one cycle. Default: there is one.'),
    'placement?': Placed('start'),
  },
  ({ requests, ...spec }, read) => {
    const at = read.time(spec.at, '/at') ?? 0;
    const every = read.time(spec.every, '/every', 1);
    return ({ placement }) => ({
      count: (cycle) => {
        const age = cycle - at;
        return age === 0 || (age > 0 && every !== undefined && age % every === 0) ? requests : 0;
      },
      instants: placement(spec.placement ?? 'start'),
    });
  },
);
