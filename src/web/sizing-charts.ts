// Charts of a recommended limit: the curve of all thresholds, and when requests would be limited.
import { plainNumber } from './chart/axis-text.js';
import type { ChartSpec, Line } from './chart/spec.js';
import type { SizedWindow } from './sizing-data.js';

/** The threshold axis is logarithmic from this ratio of its ends. */
const WIDE = 100;

const common = { title: '', about: '', shades: [], marks: [], height: 320 } as const;

export function curveChart(one: SizedWindow, at: number, unit = 'requests'): ChartSpec {
  const { thresholds, limited, suspectsLimited, requests, suspects } = one;
  const all = requests + suspects.reduce((sum, each) => sum + each.requests, 0);
  const curve = (label: string, tone: Line['tone'], shareAt: (index: number) => number): Line => {
    const shown = thresholds.flatMap((x, index) => (shareAt(index) > 0 ? [{ x, y: 100 * shareAt(index) }] : []));
    const dots = shown.length < 3 ? { dots: 'circle' as const } : {};
    return { label, tone, xs: shown.map(({ x }) => x), ys: shown.map(({ y }) => y), stepped: false, ...dots };
  };
  const curves = [
    curve('requests limited', 'limited', (index) => (requests === 0 ? 0 : limited[index]! / requests)),
    ...(suspects.length === 0
      ? []
      : [curve('with the suspects', 'difference', (index) => (limited[index]! + suspectsLimited[index]!) / all)]),
  ];
  const lowest = Math.min(100, ...curves.flatMap(({ ys }) => ys.map((y) => y ?? 100)));
  let bottom = 100;
  while (bottom > lowest) bottom /= 10;
  const threshold = thresholds[at] ?? 1;
  const [first = 1, last = 2] = [thresholds[0], thresholds.at(-1)];
  return {
    ...common,
    id: 'curve',
    x: {
      kind: 'values',
      title: `Threshold: ${unit} in ${one.name}`,
      from: first,
      to: Math.max(2, last),
      log: last > WIDE,
    },
    yTitle: 'Requests limited, %',
    yLog: true,
    yMax: 100,
    lines: [
      {
        label: `chosen: ${plainNumber(threshold)}`,
        tone: 'threshold',
        xs: [threshold, threshold],
        ys: [bottom, 100],
        stepped: false,
      },
      ...curves,
    ],
  };
}

export function barChart(id: 'timeline' | 'hours', names: readonly string[], values: readonly number[]): ChartSpec {
  const xs = [...values.map((_, index) => index - 0.5), values.length - 0.5];
  return {
    ...common,
    id,
    x: {
      kind: 'values',
      title: id === 'hours' ? 'Hour of the day (UTC)' : 'Time (UTC)',
      from: -0.5,
      to: values.length - 0.5,
      names,
    },
    yTitle: 'Requests limited',
    yWhole: true,
    lines: [
      {
        label: 'limited',
        tone: 'limited',
        xs,
        ys: [...values, 0],
        stepped: true,
        area: 'zero',
        width: 1,
        listed: false,
      },
    ],
  };
}
