// The charts of the page of a recommended limit, as configurations of Chart.js.
import type { ChartConfiguration } from 'chart.js';
import { plainNumber } from './chart/axis-text.js';
import type { Palette } from './chart/palette.js';
import type { SizedWindow } from './sizing-data.js';

interface Looks {
  readonly palette: Palette;
  readonly font: string;
  readonly isNarrow: boolean;
}

/** From this ratio of the ends on, the axis of thresholds is logarithmic. */
const WIDE = 100;

function ticks({ palette, font, isNarrow }: Looks, most: number) {
  return {
    color: palette.muted,
    font: { family: font, size: isNarrow ? 11 : 13 },
    maxTicksLimit: most,
    maxRotation: 0,
  };
}

function title({ palette, font }: Looks, text: string) {
  return { display: true, text, color: palette.muted, font: { family: font, size: 12 } };
}

/** The share limited at each threshold, and the place chosen. */
export function curveChart(
  one: SizedWindow,
  at: number,
  looks: Looks,
): ChartConfiguration<'line', { x: number; y: number }[]> {
  const { palette, font, isNarrow } = looks;
  const { thresholds, limited, suspectsLimited, requests } = one;
  const all = requests + (one.suspects.length === 0 ? 0 : one.suspects.reduce((sum, each) => sum + each.requests, 0));
  // A logarithmic axis has no place for 0.
  const points = (shareAt: (i: number) => number) =>
    thresholds.flatMap((x, i) => (shareAt(i) > 0 ? [{ x, y: 100 * shareAt(i) }] : []));
  const shareOf = (i: number) => (requests === 0 ? 0 : limited[i]! / requests);
  const withSuspects = (i: number) => (limited[i]! + suspectsLimited[i]!) / all;
  const curve = points(shareOf);
  const wide = one.suspects.length > 0 ? points(withSuspects) : [];
  const lowest = Math.min(100, ...curve.map(({ y }) => y), ...wide.map(({ y }) => y));
  let bottom = 100;
  while (bottom > lowest) bottom /= 10;
  const threshold = thresholds[at] ?? 1;
  const y = Math.max(bottom, 100 * shareOf(at));
  const limitedTone = palette.tones.limited.color;
  return {
    type: 'line',
    data: {
      datasets: [
        {
          label: `chosen: ${plainNumber(threshold)}`,
          data: [
            { x: threshold, y: 100 },
            { x: threshold, y },
            { x: threshold, y: bottom },
          ],
          borderColor: palette.ink,
          backgroundColor: palette.ink,
          borderDash: [7, 4],
          borderWidth: 2,
          pointRadius: [0, 6, 0],
        },
        {
          label: 'requests limited',
          data: curve,
          borderColor: limitedTone,
          backgroundColor: limitedTone,
          borderWidth: 2.5,
          pointRadius: curve.length < 3 ? 3 : 0,
        },
        ...(wide.length === 0
          ? []
          : [
              {
                label: 'with the suspects',
                data: wide,
                borderColor: palette.tones.difference.color,
                backgroundColor: palette.tones.difference.color,
                borderDash: [2, 3],
                borderWidth: 2,
                pointRadius: 0,
              },
            ]),
      ],
    },
    options: {
      animation: false,
      parsing: false,
      maintainAspectRatio: false,
      interaction: { mode: 'nearest', axis: 'x', intersect: false },
      scales: {
        x: {
          // Its type knows one kind of axis at a time.
          type: ((thresholds.at(-1) ?? 1) > WIDE ? 'logarithmic' : 'linear') as 'linear',
          min: thresholds[0] ?? 1,
          max: Math.max(2, thresholds.at(-1) ?? 2),
          title: title(looks, `threshold: requests in ${one.name}`),
          grid: { color: palette.grid },
          ticks: { ...ticks(looks, isNarrow ? 5 : 10), precision: 0, callback: (value) => plainNumber(Number(value)) },
        },
        y: {
          type: 'logarithmic',
          min: bottom,
          max: 100,
          title: title(looks, '% of requests limited'),
          grid: { color: palette.grid },
          ticks: {
            ...ticks(looks, 6),
            callback: (value) => (/^1(e|0*$|$)|^0\.0*1$/.test(String(value)) ? `${Number(value)} %` : ''),
          },
        },
      },
      plugins: {
        legend: {
          align: 'start',
          labels: { color: palette.ink, font: { family: font, size: isNarrow ? 11 : 13 }, boxHeight: 2, boxWidth: 20 },
        },
        tooltip: {
          filter: ({ datasetIndex }) => datasetIndex > 0,
          callbacks: {
            title: ([item]) => `threshold ${plainNumber(item?.parsed.x ?? 0)}`,
            label: (item) => `${item.dataset.label}: ${Number((item.parsed.y ?? 0).toPrecision(3))} %`,
          },
        },
      },
    },
  };
}

export function barChart(
  labels: readonly string[],
  values: readonly number[],
  what: string,
  looks: Looks,
): ChartConfiguration<'bar', number[]> {
  const { palette, isNarrow } = looks;
  return {
    type: 'bar',
    data: {
      labels: [...labels],
      datasets: [
        {
          label: what,
          // A zero has no bar, also where small values have one of at least two px.
          data: values.map((value) => (value === 0 ? null : value)) as number[],
          backgroundColor: palette.tones.limited.color,
          categoryPercentage: 1,
          barPercentage: 0.9,
          minBarLength: 2,
        },
      ],
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      scales: {
        x: { grid: { display: false }, ticks: { ...ticks(looks, isNarrow ? 5 : 12), autoSkipPadding: 14 } },
        y: {
          beginAtZero: true,
          suggestedMax: 1,
          title: title(looks, what),
          grid: { color: palette.grid },
          ticks: { ...ticks(looks, 5), precision: 0, callback: (value) => plainNumber(Number(value)) },
        },
      },
      plugins: { legend: { display: false } },
    },
  };
}
