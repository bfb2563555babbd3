// A chart as plain data, with the schema of those that outcome.json keeps. palette.ts and paint.ts define its style.
import type { Static, TSchema, TUnsafe } from 'typebox';
import { exact, flag, real, whole } from '../../core/schema/fields.js';
import { type Frozen, Type } from '../../core/schema/json-schema.js';

export const chartIds = [
  'window',
  'decisions',
  'requests',
  'comparison',
  'lanes',
  'contracts',
  'queue',
  'latency',
  'percentiles',
  'band',
  'replications',
  'rules',
  'limited',
  'curve',
  'timeline',
  'hours',
] as const;

const text = (description: string) => Type.String({ maxLength: 10_000, description });
const number = (description: string) => real(-1e300, 1e300, description);
const pixels = (description: string) => real(0, 10_000, description);
const many = <Item extends TSchema>(item: Item, description: string) =>
  Type.Array(item, { maxItems: 100_000, description });
const names = many(text('A name.'), 'A name for each row or column.');
const places = many(number('A place.'), 'Places on the x axis, ascending.');
const pair = Type.Array(number('A place.'), { minItems: 2, maxItems: 2 });
const intervals = (description: string) =>
  many(pair as unknown as TUnsafe<readonly [from: number, to: number]>, description);
const values = many(Type.Union([number('A value.'), Type.Null()]), 'Null where there is none.');

const Line = exact({
  label: text('Its words in the legend.'),
  tone: Type.Enum(
    [
      'count',
      'admitted',
      'limited',
      'threshold',
      'planned',
      'predicted',
      'observed',
      'difference',
      'queue',
      'jobs',
      'retries',
      'median',
      'tail',
      'response',
      'band',
    ],
    { description: 'Its meaning, which has a colour.' },
  ),
  xs: places,
  ys: values,
  stepped: flag('The value holds until the next x; otherwise straight lines join the points.'),
  'width?': pixels('px.'),
  'area?': Type.Enum(['zero', 'previous'], { description: 'Filled down to zero, or to the line before it.' }),
  'hatched?': flag('Whether the area is hatched.'),
  'tooltips?': many(number('A value.'), 'Shown in place of the values.'),
  'axis?': Type.Enum(['left', 'right'], { description: 'Default: left.' }),
  'loose?': flag('Points that no line joins.'),
  'listed?': flag('Whether the legend has it. Default: true.'),
  'dots?': Type.Enum(['circle', 'rect', 'triangle', 'rectRot', 'star'], { description: 'At each point.' }),
});

const ends = { from: number('Its start.'), to: number('Its end.') };
const cycleMs = whole(1, 86_400_000, 'Length of a cycle in ms.');

const CycleAxis = exact('Cycles from the start of the run.', {
  kind: Type.Literal('cycles'),
  ...ends,
  firstCycle: number('Absolute number of the first cycle.'),
  cycleMs,
});

const AgoAxis = exact('The last cycles; `to` is now.', { kind: Type.Literal('ago'), ...ends, cycleMs });

const PercentileAxis = exact('Number of nines: 1 is 90 %, 2 is 99 %.', {
  kind: Type.Literal('percentiles'),
  max: number('Place of the largest value.'),
});

const ValueAxis = exact({
  kind: Type.Literal('values'),
  title: text('Its title.'),
  ...ends,
  'log?': flag('Logarithmic.'),
  'names?': names,
});

const Mark = exact({
  kind: Type.Enum(['entry', 'restore', 'move', 'difference'], { description: 'What happened.' }),
  xs: places,
});

const StateStrip = exact('The colour follows from the position among states that admit, or among those that do not.', {
  name: text('Its name.'),
  admits: flag('Whether it admits.'),
  intervals: intervals('When it held.'),
});
const states = many(StateStrip, 'States, one strip each.');

const Range = exact({
  min: number('Start of the thin line.'),
  low: number('Start of the bar.'),
  middle: number('Place of the dot.'),
  high: number('End of the bar.'),
  max: number('End of the thin line.'),
});

const Heat = exact({
  names,
  values: many(values, 'Of each row.'),
  low: number('Value of the faintest colour.'),
  high: number('Value of the strongest colour.'),
  'border?': number('Drawn as a line between lower values and others.'),
});

export const ChartSpec = exact({
  id: Type.Union([
    Type.Enum([...chartIds, 'course']),
    Type.String({ pattern: '^panel-[0-9]{1,4}$' }) as unknown as TUnsafe<`panel-${number}`>,
  ]),
  title: text('Its title.'),
  about: text('A sentence about it.'),
  x: Type.Union([CycleAxis, AgoAxis, PercentileAxis, exact({ kind: Type.Literal('percent'), ...ends }), ValueAxis]),
  yTitle: text('Title of the y axis.'),
  'rightTitle?': text('Title of the right axis.'),
  'rightMax?': number('Smallest end of the right axis.'),
  'yLog?': flag('Logarithmic.'),
  'yWhole?': flag('Whole numbers.'),
  'yMax?': number('Smallest end of the axis; gives charts side by side the same scale.'),
  lines: many(Line, 'The first is on top.'),
  shades: intervals('When the limiter limits.'),
  marks: many(Mark, 'Single places.'),
  'unknown?': intervals('Without values, hatched.'),
  'states?': many(StateStrip, 'A strip on the axis; without it the strip shows the limiting intervals.'),
  'lanes?': exact({ names, states: many(states, 'Of each lane.') }),
  'ranges?': exact({ names, rows: many(Range, 'One for each name.') }),
  'heat?': Heat,
  height: pixels('px, for a width of 900 px.'),
  'leastWidth?': pixels('px; a narrower page scrolls it. Default: any width.'),
});

export type ChartSpec = Frozen<Static<typeof ChartSpec>>;
export type Line = Frozen<Static<typeof Line>>;
export type Tone = Line['tone'];
export type CycleAxis = Frozen<Static<typeof CycleAxis>>;
export type AgoAxis = Frozen<Static<typeof AgoAxis>>;
export type Mark = Frozen<Static<typeof Mark>>;
export type StateStrip = Frozen<Static<typeof StateStrip>>;
export type Heat = Frozen<Static<typeof Heat>>;

/** A colour for each column and row: of rules over time, of cells of a sweep. */
export function heatMap(title: string, columns: readonly string[], yTitle: string, heat: Heat) {
  const x = { kind: 'values' as const, title, from: -0.5, to: columns.length - 0.5, names: columns };
  return { x, yTitle, lines: [], ...unmarked, heat };
}

/** Of a chart without shaded intervals and marks. */
export const unmarked = { shades: [], marks: [] } as const;
