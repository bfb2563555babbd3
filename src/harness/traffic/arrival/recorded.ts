// Requests whose number is known for every cycle: from a list, or from a log.
//
//   counts: [3, 0, 1]           |...|   | . |   |   |   |        then no requests
//   counts: [3, 0, 1], repeat   |...|   | . |...|   | . |...     or the list again
//
//   log      2305120007: 4    2305120009: 1        origin 2305120005
//   cycles   0  1  2  3  4  5 ...
//   counts   0  0  4  0  1  0
import { flag, text } from '../../../core/schema/fields.js';
import { Type } from '../../../core/schema/json-schema.js';
import { timeField } from '../../../core/schema/quantity.js';
import { logFormats } from '../log/formats.js';
import { checkPeak, refuse } from './arrival.js';
import { kind, Placed, RequestsOf } from './kind.js';

export const counts = kind(
  'counts',
  'Requests listed cycle by cycle.',
  {
    counts: Type.Array(RequestsOf('Requests in this cycle.'), {
      minItems: 1,
      maxItems: 1_000_000,
      description: 'How many requests come in each cycle, from the first.',
    }),
    'repeat?': flag('Whether the list begins again; else there is silence.'),
    'placement?': Placed('even'),
  },
  ({ counts: list, repeat, ...spec }) =>
    ({ placement }) => ({
      count: (cycle) => list[repeat === true ? cycle % list.length : cycle] ?? 0,
      instants: placement(spec.placement ?? 'even'),
    }),
);

const Column = (description: string) => text(1, 200, description);

/** Counts before the origin of the recording are ignored. */
export const log = kind(
  'log',
  'The requests of a log, cycle by cycle.',
  {
    file: text(1, 4096, 'Path of the log, from the folder of the scenario.'),
    'format?': Type.Enum(logFormats, { description: 'Format of the log. Default: recognised.' }),
    'time_column?': Column('Column, or field, with the time of a request. Default: recognised.'),
    'count_column?': Column('Column with the number of requests of a row. Default: recognised; else each row is one.'),
    'key_column?': Column('Column whose values are the clients: one contract for each.'),
    'spread?': timeField('Interval over which the requests of a row are spread from its time. Default: 0.'),
    'placement?': Placed('even'),
  },
  (spec) => (making) => {
    if (making.log === undefined) refuse('/model', 'log has nothing to play: a log is read before the run');
    const { cycles, counts: numbers, origin, instants } = making.log;
    for (const count of numbers) checkPeak('/file', count);
    const place = making.placement(spec.placement ?? 'even');
    let next = 0;
    let before = 0;
    return {
      count: (cycle) => {
        const wanted = origin + cycle;
        // After the last cycle, comparisons with undefined are false, both < and ===.
        for (; cycles[next]! < wanted; next += 1) before += numbers[next]!;
        return cycles[next] === wanted ? numbers[next]! : 0;
      },
      instants: (out, n) => {
        if (instants === undefined) place(out, n);
        else out.set(instants.subarray(before, before + n));
      },
    };
  },
);

const SECOND_MS = 1000;

/** Request k of n in a second is at (k + phase) / n, 0 <= phase < 1. `cycleMs` <= 1,000: `cycle` has at most one second's start. */
export function spreadOverSecond(
  cycle: number,
  n: number,
  { cycleMs, phase }: { readonly cycleMs: number; readonly phase: number },
  place: (cycle: number, fraction: number) => void,
): void {
  const second = Math.ceil((cycle * cycleMs) / SECOND_MS) * SECOND_MS;
  for (let k = 0; k < n; k += 1) {
    const ms = second + ((k + phase) * SECOND_MS) / n;
    const own = Math.floor(ms / cycleMs);
    place(own, Math.max(0, Math.min((ms - own * cycleMs) / cycleMs, 1 - Number.EPSILON)));
  }
}
