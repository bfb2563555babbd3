// The charts of a sweep, for pictures and for the page, where axes and figure are chosen.
//
//   lines   a figure over one axis, a line for each value of another, with 95 % intervals as bands
//   heat    two axes, the figure as a colour
//
// Each combination of values of further axes has its own chart, side by side, with the same scale.
import { plainNumber } from '../../report/chart-specs/axis-text.js';
import { type ChartSpec, type Heat, heatMap, type Line, type Tone, unmarked } from '../../report/chart-specs/spec.js';

export interface SweepAxis {
  readonly name: string;
  /** In order: numbers or names. */
  readonly values: readonly (number | string)[];
  readonly isNumeric: boolean;
}

type SweepValue = readonly [mean: number, low: number | null, high: number | null];

export interface SweepCell {
  /** By axis: the index of the value. */
  readonly at: readonly number[];
  readonly values: readonly (SweepValue | null)[];
}

export interface SweepData {
  readonly name: string;
  readonly axes: readonly SweepAxis[];
  readonly figures: readonly string[];
  readonly titles: readonly string[];
  readonly cells: readonly SweepCell[];
  readonly runs: number;
  readonly border?: number | undefined;
}

export interface SweepView {
  readonly figure: number;
  readonly x: number;
  readonly by: number | undefined;
  readonly kind: 'lines' | 'heat';
}

const MOST_PANELS = 12;
/** More lines could not be distinguished. */
const looks: readonly (readonly [Tone, Line['dots']])[] = [
  ['count', 'circle'],
  ['limited', 'rect'],
  ['median', 'triangle'],
  ['tail', 'rectRot'],
  ['observed', 'star'],
];
export const MOST_LINES = looks.length;
const NAME_HEIGHT = 18;
const COLUMN_WIDTH = 28;
const NAMES_WIDTH = 200;

/** First the numeric axis with the most values, horizontally; the next one as lines or, with many values, as rows. */
export function firstView({ axes, border }: SweepData, figure = 0): SweepView {
  const order = axes
    .map((_, index) => index)
    .sort(
      (a, b) =>
        Number(axes[b]!.isNumeric) - Number(axes[a]!.isNumeric) || axes[b]!.values.length - axes[a]!.values.length,
    );
  const [x = 0, by] = order;
  const [most = 0, more] = order.map((index) => axes[index]!.values.length);
  // Names read downwards, so a map of many names is taller than wide.
  if (by !== undefined && more! > MOST_LINES && !axes[x]!.isNumeric && most >= more!)
    return { figure, x: by, by: x, kind: 'heat' };
  // The last two axes of a map are trigger and load.
  if (border !== undefined) return { figure, x: axes.length - 1, by: axes.length - 2, kind: 'heat' };
  return { figure, x, by, kind: by !== undefined && axes[by]!.values.length > MOST_LINES ? 'heat' : 'lines' };
}

export function sweepCharts(data: SweepData, view: SweepView): { charts: ChartSpec[]; left: number } {
  const { axes, cells } = data;
  const others = axes.map((_, index) => index).filter((index) => index !== view.x && index !== view.by);
  const keys = [...new Set(cells.map(({ at }) => others.map((axis) => at[axis]).join('/')))];
  const scale = scaleOf(data, view);
  const charts = keys.slice(0, MOST_PANELS).map((key, panel) => {
    const within = cells.filter(({ at }) => others.map((axis) => at[axis]).join('/') === key);
    const fixed = others.map((axis) => `${axes[axis]!.name} ${axes[axis]!.values[within[0]!.at[axis]!]}`).join(', ');
    const chart = view.kind === 'heat' ? heat(data, view, within, scale) : lines(data, view, within, scale);
    const title = fixed === '' ? data.titles[view.figure]! : fixed;
    return { ...chart, id: `panel-${panel}` as const, title };
  });
  return { charts, left: keys.length - charts.length };
}

interface Scale {
  readonly low: number;
  readonly high: number;
}

function scaleOf(data: SweepData, { figure }: SweepView): Scale {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { values } of data.cells) {
    const value = values[figure];
    if (value === null || value === undefined) continue;
    low = Math.min(low, value[0]);
    high = Math.max(high, value[0], value[2] ?? value[0]);
  }
  if (data.border !== undefined && figure === 0) return { low: 0, high: 1 };
  return high < low ? { low: 0, high: 1 } : { low, high };
}

function about(data: SweepData, what: string): string {
  const { border } = data;
  if (border !== undefined)
    return `${what} (of up to ${plainNumber(data.runs)} runs; cells whose neighbours all agree take their value). The line is at ${border}.`;
  const runs = data.runs === 1 ? 'one run of each cell' : `means over ${plainNumber(data.runs)} runs of each cell`;
  return `${what} (${runs}).`;
}

function places({ isNumeric, values }: SweepAxis): (index: number) => number {
  return isNumeric ? (index) => values[index] as number : (index) => index;
}

function valueAxis({ name, values, isNumeric }: SweepAxis): ChartSpec['x'] {
  if (!isNumeric)
    return { kind: 'values', title: name, from: -0.5, to: values.length - 0.5, names: values.map(String) };
  const numbers = values as readonly number[];
  const [from, to] = [Math.min(...numbers), Math.max(...numbers)];
  return { kind: 'values', title: name, ...room(from, to), ...(isLog(numbers) ? { log: true } : {}) };
}

function room(from: number, to: number): { readonly from: number; readonly to: number } {
  return from < to ? { from, to } : { from: from - 1, to: to + 1 };
}

/** Values with growing steps over more than a factor of 20 get a logarithmic axis. */
function isLog(values: readonly number[]): boolean {
  const [first = 0, second = 0] = values;
  const [last = 0, before = 0] = [values.at(-1), values.at(-2)];
  return values.length > 2 && first > 0 && last / first >= 20 && last - before > 3 * (second - first);
}

function lines(data: SweepData, { figure, x, by }: SweepView, cells: readonly SweepCell[], { high }: Scale) {
  const place = places(data.axes[x]!);
  const groups = by === undefined ? [undefined] : data.axes[by]!.values.map((_, index) => index);
  const drawn = groups.slice(0, MOST_LINES).flatMap((group, index): Line[] => {
    const own = cells.filter(({ at }) => by === undefined || at[by] === group).sort((a, b) => a.at[x]! - b.at[x]!);
    const xs = own.map(({ at }) => place(at[x]!));
    const of = (end: 0 | 1 | 2) => own.map(({ values }) => values[figure]?.[end] ?? null);
    const [tone, shape] = looks[index]!;
    const label =
      group === undefined ? data.titles[figure]! : `${data.axes[by!]!.name} ${data.axes[by!]!.values[group]}`;
    const line = { tone, xs, stepped: false, ...(data.axes[x]!.isNumeric ? {} : { loose: true }) };
    const band: Line[] = of(1).every((one) => one === null)
      ? []
      : [
          { ...line, label: `${label}, low`, ys: of(1), width: 0, listed: false },
          { ...line, label: `${label}, high`, ys: of(2), width: 0, listed: false, area: 'previous' },
        ];
    return [
      ...band,
      { ...line, label, ys: of(0), width: 2, dots: shape!, ...(group === undefined ? { listed: false } : {}) },
    ];
  });
  const cut = groups.length > MOST_LINES ? ` The first ${MOST_LINES} of ${groups.length} values are drawn.` : '';
  const bands = data.runs > 1 ? ', with 95 % intervals as bands' : '';
  return {
    x: valueAxis(data.axes[x]!),
    about: about(data, `${data.titles[figure]} by ${data.axes[x]!.name}${bands}`) + cut,
    yTitle: data.titles[figure]!,
    yMax: high,
    lines: drawn,
    ...unmarked,
    height: 340,
  };
}

function heat(data: SweepData, { figure, x, by }: SweepView, cells: readonly SweepCell[], { low, high }: Scale) {
  const [across, down] = [data.axes[x]!, data.axes[by ?? x]!];
  // Numbers grow upwards, names read downwards.
  const rows = down.values.map((_, index) => index);
  if (down.isNumeric) rows.reverse();
  const values = rows.map((row) =>
    across.values.map((_, column) => {
      const found = cells.find(({ at }) => at[x] === column && (by === undefined || at[by] === row));
      return found?.values[figure]?.[0] ?? null;
    }),
  );
  const border = figure === 0 && data.border !== undefined ? { border: data.border } : {};
  const map: Heat = { names: rows.map((row) => String(down.values[row])), values, low, high, ...border };
  return {
    ...heatMap(across.name, across.values.map(String), down.name, map),
    about: about(data, `${data.titles[figure]} by ${across.name} (across) and ${down.name} (down)`),
    ...(isSlanted(across) ? { leastWidth: NAMES_WIDTH + COLUMN_WIDTH * across.values.length } : {}),
    height:
      (isSlanted(across) ? NAMES_WIDTH : 110) +
      Math.max(Math.min(450, 30 * rows.length), down.isNumeric ? 0 : NAME_HEIGHT * rows.length),
  };
}

function isSlanted({ isNumeric, values }: SweepAxis): boolean {
  return !isNumeric && values.length > MOST_LINES;
}
