// The Chart.js data sets of a chart: lines, legend entries, and empty data sets for what the overlay draws.
import type { Chart, ChartDataset, LegendItem } from 'chart.js';
import { type Palette, stateColors } from './palette.js';
import type { ChartSpec, Line } from './spec.js';

type LineDataset = ChartDataset<'line', { x: number; y: number | null }[]>;

export function lineDataset(line: Line, palette: Palette): LineDataset {
  const { color, dash } = palette.tones[line.tone];
  return {
    label: line.label,
    data: line.xs.map((x, index) => ({ x, y: line.ys[index] ?? null })),
    yAxisID: line.axis === 'right' ? 'right' : 'y',
    stepped: line.stepped ? 'before' : false,
    borderColor: color,
    borderWidth: line.width ?? 2,
    borderDash: [...dash],
    borderJoinStyle: 'round',
    backgroundColor: `${color}${line.hatched === true ? '40' : '66'}`,
    fill: line.area === undefined ? false : line.area === 'zero' ? 'origin' : '-1',
    showLine: line.loose !== true,
    pointRadius: line.loose === true ? (line.width ?? 2) : line.dots === undefined ? lonePoints(line) : 5,
    pointBorderColor: color,
    ...(line.dots === undefined ? {} : { clip: 10 }),
    pointBackgroundColor: color,
    pointHitRadius: 8,
    pointHoverRadius: 4,
    pointStyle: line.dots ?? (line.area === undefined ? 'circle' : 'rect'),
  };
}

/** A single value between two gaps has no line, so it becomes a dot. */
function lonePoints({ ys }: Line): number[] | 0 {
  const lone = ys.map((y, index) =>
    y !== null && (ys[index - 1] ?? null) === null && (ys[index + 1] ?? null) === null ? 2 : 0,
  );
  return lone.includes(2) ? lone : 0;
}

function isBareLine(line: Line | undefined): boolean {
  return line !== undefined && line.dots === undefined && line.area === undefined && line.loose !== true;
}

export function legendItems(chart: Chart, { lines }: ChartSpec, palette: Palette): LegendItem[] {
  return chart.data.datasets.flatMap((dataset, datasetIndex) => {
    if (lines[datasetIndex]?.listed === false) return [];
    const {
      label = '',
      borderColor,
      backgroundColor,
      borderDash,
      borderWidth,
      pointStyle,
      pointRotation,
    } = dataset as LineDataset;
    return {
      text: label,
      fontColor: palette.ink,
      datasetIndex,
      hidden: !chart.isDatasetVisible(datasetIndex),
      strokeStyle: borderColor as string,
      fillStyle: backgroundColor as string,
      lineWidth: borderWidth as number,
      lineDash: (borderDash as number[] | undefined) ?? [],
      pointStyle: isBareLine(lines[datasetIndex]) ? 'line' : (pointStyle as string),
      rotation: (pointRotation as number | undefined) ?? 0,
    } as LegendItem;
  });
}

export function signDatasets(
  { shades, marks, lanes, unknown = [], states = lanes?.states[0] ?? [] }: ChartSpec,
  palette: Palette,
): LineDataset[] {
  const sign = (
    label: string,
    style: 'rect' | 'triangle' | 'circle' | 'crossRot',
    color: string,
    fill: string,
    rotation = 0,
  ): LineDataset => ({
    label,
    data: [],
    pointStyle: style,
    pointRotation: rotation,
    borderColor: color,
    backgroundColor: fill,
    borderWidth: 1.5,
  });
  const limited = palette.tones.limited.color;
  const count = palette.tones.count.color;
  return [
    ...(shades.length > 0 ? [sign('limiting', 'rect', palette.shadeLine, palette.shade)] : []),
    ...marks.map(({ kind }) =>
      kind === 'entry'
        ? sign('entry', 'triangle', limited, limited)
        : kind === 'restore'
          ? sign('restore', 'triangle', count, 'transparent', 180)
          : kind === 'move'
            ? sign('move', 'circle', palette.muted, palette.muted)
            : sign('difference', 'crossRot', palette.tones.difference.color, 'transparent'),
    ),
    ...(unknown.length > 0 ? [sign('unknown', 'rect', palette.muted, 'transparent')] : []),
    ...stateColors(states, palette).map(({ name, color }) =>
      sign(lanes !== undefined && states.length === 1 ? name : `state ${name}`, 'rect', color, color),
    ),
  ];
}
