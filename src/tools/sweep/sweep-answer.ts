// The schema of `weir sweep --json`: a line for each cell, for each search, or one for a map.
import { exact, flag, real } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';
import { Any, Count, Measure, Nullable, Text } from '../../harness/outcome/read-schema.js';

const set = Type.Record(Type.String(), Any('Its value.'), { description: 'The fields that are varied.' });
const share = (description: string) => real(0, 1, description);

const Interval = exact('A mean with its 95 % interval; null for a single run.', {
  mean: Type.Number(),
  low: Nullable(Type.Number()),
  high: Nullable(Type.Number()),
});

/** Each figure is a further field, by its name. */
const Row = Type.Object(
  {
    cell: Count('Number of the cell.'),
    set,
    n: Count('Runs of the cell.'),
    held: Nullable(Count('Runs in which every expectation held; null without expectations.')),
    held_share: Nullable(exact({ low: share('Lower end.'), high: share('Upper end.') })),
  },
  { additionalProperties: Interval, description: 'A cell, with a field for each figure.' },
);

const Found = exact('Of --find: a line for each cell.', {
  set,
  over: Text('The field that is searched, with its ends.'),
  answer: Type.Enum(['smallest', 'largest', 'all', 'none', 'not monotone'], {
    description: 'What value is; all and none: the condition holds, or fails, at both ends.',
  }),
  'value?': Any('The value at which the condition just holds.'),
  'next?': Any('The nearest value tried at which it fails.'),
  'resolution?': Any('The distance between them.'),
  tried: Type.Array(
    exact({
      value: Any('A value.'),
      holds: flag('Whether the condition holds at it.'),
      figures: Type.Record(Type.String(), Interval),
    }),
  ),
});

const Column = exact({
  set,
  zone: Type.Enum(['stable', 'vulnerable', 'collapsed'], { description: 'What a trigger leaves behind.' }),
  'stuckFrom?': Any('Smallest trigger that leaves half of the runs stuck.'),
  'drainsUpTo?': Any('Largest stuck trigger that recovers in a longer run.'),
  prolonged: Measure('How many times longer.'),
  'recovers?': exact({ from: Any('The largest trigger that it recovers from.'), ms: Interval }),
});

const CollapseAnswer = exact('Of --map.', {
  rows: Type.Array(Row),
  columns: Type.Array(Column, { description: 'One for each load.' }),
  runs: Count('Runs that were needed.'),
  'notes?': Type.Array(Text('What a reader should know.')),
  digest: Text('Over all rows.'),
});

export const SweepAnswer = Type.Union([Row, Found, CollapseAnswer], { title: 'weir sweep --json' });
