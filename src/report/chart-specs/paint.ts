// Converts a chart to a Chart.js configuration, the same for PNG and page.
import type { Chart, ChartConfiguration, TooltipItem } from 'chart.js';
import { agoPlaces, percentilePlaces, placeName, plainNumber, rowNames, xTick, xTitle } from './axis-text.js';
import { legendItems, lineDataset, signDatasets } from './datasets.js';
import { drawHeat, HEAT_SCALE } from './heat.js';
import {
  drawHatch,
  drawLanes,
  drawMarks,
  drawRanges,
  drawShades,
  drawStrip,
  drawUnknown,
  surfaceOf,
} from './overlay.js';
import type { Palette } from './palette.js';
import type { ChartSpec } from './spec.js';

interface Looks {
  readonly palette: Palette;
  readonly font: string;
  readonly width: number;
}

/** px by which Chart.js misplaces upright labels above a plot. */
const LABEL_SHIFT = 15;

export function paint(spec: ChartSpec, looks: Looks): ChartConfiguration<'line', { x: number; y: number | null }[]> {
  const style = styleOf(looks);
  const names = spec.lanes?.names ?? spec.ranges?.names ?? spec.heat?.names;
  const { palette } = looks;
  const datasets = [...spec.lines.map((line) => lineDataset(line, palette)), ...signDatasets(spec, palette)];
  const hasLegend = spec.lines.some(({ listed }) => listed !== false) || datasets.length > spec.lines.length;
  return {
    type: 'line',
    data: { datasets },
    options: {
      animation: false,
      parsing: false,
      normalized: true,
      maintainAspectRatio: false,
      layout: { padding: { top: spec.heat === undefined ? 4 : HEAT_SCALE, right: 18, left: 4, bottom: 2 } },
      interaction: { mode: 'nearest', axis: 'x', intersect: false },
      scales: {
        x: xAxis(spec, style),
        y: names === undefined ? valueAxis(spec, style) : rowAxis(spec, style, names),
        ...(spec.rightTitle === undefined ? {} : { right: rightAxis(spec.rightTitle, spec.rightMax, style) }),
      },
      plugins: { legend: legend(spec, style, hasLegend), tooltip: tooltip(spec, names === undefined) },
    },
    plugins: [overlayPlugin(spec, looks)],
  };
}

type Style = ReturnType<typeof styleOf>;

function styleOf({ palette, font, width }: Looks) {
  const isNarrow = width < 520;
  const text = { family: font, size: isNarrow ? 11 : 13 };
  const small = { ...text, size: text.size - 1 };
  return {
    palette,
    isNarrow,
    text,
    small,
    grid: { color: palette.grid, tickColor: palette.grid },
    border: { color: palette.muted },
    title: (words: string) => ({ display: words !== '', text: words, color: palette.muted, font: small }),
  };
}

function xAxis(spec: ChartSpec, { palette, isNarrow, text, grid, border, title }: Style) {
  const { x } = spec;
  const isLog = x.kind === 'values' && x.log === true;
  const names = x.kind === 'values' ? x.names : undefined;
  const hasDates = (names?.[0]?.length ?? 0) > 8;
  const isShort = x.kind === 'values' && names === undefined;
  return {
    type: isLog ? ('logarithmic' as const) : ('linear' as const),
    min: x.kind === 'percentiles' ? 0.15 : x.from,
    max: x.kind === 'percentiles' ? x.max : x.to,
    title: title(xTitle(spec)),
    ...(spec.leastWidth === undefined ? {} : { position: 'top' as const }),
    grid,
    border,
    ...(x.kind === 'percentiles'
      ? { afterBuildTicks: ticksAt([...percentilePlaces.filter((place) => place < x.max - 0.15), x.max]) }
      : {}),
    ...(x.kind === 'ago' ? { afterBuildTicks: ticksAt(agoPlaces(x)) } : {}),
    ...(names === undefined ? {} : { afterBuildTicks: placeTicks(names.length) }),
    ...(isLog ? { afterBuildTicks: logTicks } : {}),
    ticks: {
      color: palette.muted,
      font: text,
      includeBounds: false,
      ...(spec.leastWidth === undefined
        ? { maxRotation: 0, autoSkipPadding: 18, maxTicksLimit: isNarrow ? (hasDates ? 2 : isShort ? 7 : 5) : 10 }
        : { minRotation: 90, maxRotation: 90, autoSkip: false, labelOffset: LABEL_SHIFT }),
      callback: (value: string | number) => xTick(spec, Number(value)),
      ...(x.kind === 'cycles' ? { precision: 0 } : {}),
    },
  };
}

function valueAxis({ yLog, yMax, yTitle, yWhole }: ChartSpec, style: Style) {
  return {
    type: yLog === true ? ('logarithmic' as const) : ('linear' as const),
    beginAtZero: yLog !== true,
    suggestedMax: yMax ?? 1,
    title: style.title(yTitle),
    grid: style.grid,
    border: style.border,
    ...(yLog === true ? { afterBuildTicks: logTicks } : {}),
    ticks: { ...valueTicks(style), ...(yWhole === true ? { precision: 0 } : {}) },
  };
}

function rightAxis(title: string, max: number | undefined, style: Style) {
  return {
    type: 'linear' as const,
    position: 'right' as const,
    beginAtZero: true,
    suggestedMax: max ?? 1,
    title: style.title(title),
    grid: { display: false },
    border: style.border,
    ticks: { ...valueTicks(style), precision: 0 },
  };
}

function valueTicks({ palette, text }: Style) {
  return {
    color: palette.muted,
    font: text,
    maxTicksLimit: 7,
    callback: (value: string | number) => plainNumber(Number(value)),
  };
}

/** A row for each name: contracts, ranges, or cells of a heat map. */
function rowAxis(spec: ChartSpec, { palette, isNarrow, small, border, title }: Style, names: readonly string[]) {
  const fitted = rowNames(names, isNarrow ? 21 : 28);
  return {
    type: 'linear' as const,
    reverse: true,
    min: -0.6,
    max: names.length - 0.4,
    title: title(spec.yTitle),
    grid: { display: false },
    border,
    afterBuildTicks: placeTicks(names.length),
    ticks: {
      color: palette.ink,
      font: small,
      autoSkip: false,
      callback: (value: string | number) => fitted[Number(value)] ?? '',
    },
  };
}

function legend(spec: ChartSpec, { palette, isNarrow, text }: Style, isShown: boolean) {
  return {
    display: isShown,
    align: 'start' as const,
    labels: {
      color: palette.ink,
      font: text,
      usePointStyle: true,
      pointStyleWidth: 20,
      boxHeight: 8,
      padding: isNarrow ? 8 : 14,
      generateLabels: (chart: Chart) => legendItems(chart, spec, palette),
    },
  };
}

function tooltip(spec: ChartSpec, isEnabled: boolean) {
  return {
    enabled: isEnabled,
    filter: (item: TooltipItem<'line'>, index: number, all: TooltipItem<'line'>[]) =>
      all.findIndex(({ datasetIndex }) => datasetIndex === item.datasetIndex) === index,
    callbacks: {
      title: (items: TooltipItem<'line'>[]) => placeName(spec, items[0]?.parsed.x ?? 0),
      label: (item: TooltipItem<'line'>) => {
        const line = spec.lines[item.datasetIndex];
        const value = line?.tooltips?.[item.dataIndex] ?? item.parsed.y ?? 0;
        return `${item.dataset.label}: ${plainNumber(value)}`;
      },
    },
  };
}

/** 1, 2, 5, 10, 20, 50, … or, on a long axis, 1, 10, 100, … */
function logTicks(axis: { min: number; max: number; ticks: { value: number }[] }): void {
  const steps = axis.max / axis.min < 1_000 ? [1, 2, 5] : [1];
  axis.ticks = Array.from({ length: 20 }, (_, n) => steps.map((step) => step * 10 ** (n - 6)))
    .flat()
    .filter((value) => value >= axis.min && value <= axis.max)
    .map((value) => ({ value }));
}

function placeTicks(n: number) {
  return ticksAt(Array.from({ length: n }, (_, value) => value));
}

function ticksAt(places: readonly number[]): (axis: { ticks: { value: number }[] }) => void {
  return (axis) => {
    axis.ticks = places.map((value) => ({ value }));
  };
}

function overlayPlugin(spec: ChartSpec, { palette, font }: Looks) {
  const shown = (chart: Chart<'line'>, label: string) =>
    chart.data.datasets.every((dataset, index) => dataset.label !== label || chart.isDatasetVisible(index));
  return {
    id: 'weir',
    // Extends the legend by the rows of marks, which lie between legend and plot.
    beforeInit: (chart: Chart<'line'>) => {
      const legend = chart.legend as unknown as { height: number; fit(): void };
      const fit = legend.fit;
      legend.fit = () => {
        fit.call(legend);
        legend.height += 6 + 11 * spec.marks.length;
      };
    },
    beforeDatasetsDraw: (chart: Chart<'line'>) => {
      const surface = surfaceOf(chart);
      if (shown(chart, 'limiting')) drawShades(surface, spec.shades, palette);
      drawUnknown(surface, spec, palette);
      drawLanes(surface, spec, palette, (label) => shown(chart, label));
      drawRanges(surface, spec, palette);
      drawHeat(surface, spec, palette, font);
    },
    afterDatasetsDraw: (chart: Chart<'line'>) => {
      const surface = surfaceOf(chart);
      spec.lines.forEach((line, index) => {
        if (line.hatched === true && chart.isDatasetVisible(index))
          drawHatch(surface, line, spec.lines[index - 1], palette.tones[line.tone].color);
      });
      drawStrip(surface, spec, palette, (label) => shown(chart, label));
      spec.marks.forEach((mark, row) => {
        if (shown(chart, mark.kind)) drawMarks(surface, mark, palette, row);
      });
    },
  };
}
