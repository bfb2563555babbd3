// A moving chart, drawn by uPlot: counts against the threshold on the left axis, admitted and limited requests as bars on the right one,
// limiting intervals, unknown cycles, transitions and states. Only visible charts are drawn, a few per frame, so that no frame is late.
import uPlot from 'uplot';
import { drawMarks, drawShades, drawStrip, hatch, type Surface } from '../report/chart-specs/overlay.js';
import { type Palette, palettes } from '../report/chart-specs/palette.js';
import type { StateStrip } from '../report/chart-specs/spec.js';

/** Cycles, both ends included. */
type Stretch = readonly [from: number, to: number];

interface LiveData {
  readonly cycles: readonly number[];
  readonly count: readonly (number | null)[];
  readonly admitted: readonly (number | null)[];
  readonly limited: readonly (number | null)[];
  readonly shaded: readonly Stretch[];
  readonly states: readonly StateStrip[];
  readonly unknown: readonly Stretch[];
  readonly entries: readonly number[];
  readonly restores: readonly number[];
}

export interface LiveChart {
  show(data: LiveData): void;
  close(): void;
}

interface LiveAxes {
  readonly threshold: number | undefined;
  readonly unit: string;
  readonly inView: number;
  /** Undefined: the lower axis shows cycles. */
  readonly cycleMs: number | undefined;
}

const HEIGHT = 216;
const dark = matchMedia('(prefers-color-scheme: dark)');
const printed = matchMedia('print');
/** Bars use the lower 1/BARS of the chart. */
const BARS = 4;

export function liveChart(place: HTMLElement, shape: LiveAxes): LiveChart {
  let data: LiveData | undefined;
  let chart: uPlot | undefined;
  let isInSight = false;
  const draw = () => {
    if (data === undefined) return;
    chart ??= make(place, shape, () => data!);
    const width = place.clientWidth;
    if (width > 0 && width !== chart.width) chart.setSize({ width, height: HEIGHT });
    chart.setData(alignedOf(data));
  };
  const again = () => {
    chart?.destroy();
    chart = undefined;
    queue(draw);
  };
  const resized = new ResizeObserver(() => queue(draw));
  resized.observe(place);
  const seen = new IntersectionObserver(
    (entries) => {
      isInSight = entries.at(-1)!.isIntersecting;
      if (isInSight) queue(draw);
    },
    { rootMargin: '100px' },
  );
  seen.observe(place);
  for (const query of [dark, printed]) query.addEventListener('change', again);
  return {
    show(next) {
      data = next;
      if (isInSight) queue(draw);
    },
    close() {
      waiting.delete(draw);
      resized.disconnect();
      seen.disconnect();
      for (const query of [dark, printed]) query.removeEventListener('change', again);
      chart?.destroy();
    },
  };
}

const waiting = new Set<() => void>();
/** A chart takes about 1 ms, a frame 16. */
const AT_ONCE = 8;

function queue(draw: () => void): void {
  if (waiting.size === 0) requestAnimationFrame(drawSome);
  waiting.add(draw);
}

function drawSome(): void {
  let left = AT_ONCE;
  for (const draw of waiting) {
    if (left === 0) break;
    waiting.delete(draw);
    draw();
    left -= 1;
  }
  if (waiting.size > 0) requestAnimationFrame(drawSome);
}

function alignedOf({ cycles, count, admitted, limited }: LiveData): uPlot.AlignedData {
  // Without limited requests, no trace of their colour may show at the edge of the admitted ones.
  const all = admitted.map((value, index) => (limited[index] ? (value ?? 0) + limited[index] : null));
  return [cycles, all, admitted, count] as unknown as uPlot.AlignedData;
}

function make(place: HTMLElement, { threshold, unit, inView, cycleMs }: LiveAxes, dataOf: () => LiveData): uPlot {
  const palette = palettes[dark.matches && !printed.matches ? 'dark' : 'light'];
  const { ink, muted, grid, tones } = palette;
  const { fontFamily } = getComputedStyle(place);
  const font = `11px ${fontFamily}`;
  const last = (u: uPlot) => (u.data[0]?.at(-1) as number | undefined) ?? 0;
  const bars = uPlot.paths.bars!({ size: [1, 8], gap: 0 });
  const axis = {
    stroke: muted,
    font,
    labelFont: font,
    grid: { stroke: grid, width: 1 },
    ticks: { show: false },
  } as const;
  const title = (label: string) => ({ label, labelSize: 16, labelGap: 2 });
  const back = ticksBack(inView, cycleMs);
  return new uPlot(
    {
      width: Math.max(1, place.clientWidth),
      height: HEIGHT,
      padding: [10, 2, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      select: { show: false, left: 0, top: 0, width: 0, height: 0 },
      scales: {
        x: { time: false, range: (u) => [last(u) - inView + 0.5, last(u) + 0.5] },
        y: { range: (_, _min, max) => [0, Math.max(1, threshold ?? 0, max ?? 0) * 1.1] },
        requests: { range: (_, _min, max) => [0, Math.max(1, max ?? 0) * BARS] },
      },
      axes: [
        {
          ...axis,
          ...title(back.title),
          size: 20,
          grid: { show: false },
          splits: (u) => back.ticks.map(({ cycles }) => last(u) - cycles),
          values: () => back.ticks.map(({ words }) => words),
        },
        {
          ...axis,
          ...title(unit),
          size: 40,
          space: 36,
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9],
        },
        {
          ...axis,
          ...title('Requests per cycle'),
          side: 1,
          scale: 'requests',
          size: 40,
          grid: { show: false },
          splits: (u) => {
            const most = Math.max(1, (u.scales['requests']!.max ?? BARS) / BARS);
            return most < 2 ? [0, 1] : [0, Math.floor(most / 2), Math.floor(most)];
          },
        },
      ],
      series: [
        {},
        { scale: 'requests', paths: bars, fill: tones.limited.color, width: 0, points: { show: false } },
        { scale: 'requests', paths: bars, fill: `${tones.admitted.color}66`, width: 0, points: { show: false } },
        { stroke: tones.count.color, width: 1.5, points: { show: false } },
      ],
      hooks: {
        drawClear: [(u) => onPlot(u, (surface) => below(surface, dataOf(), palette))],
        draw: [
          (u) =>
            onPlot(u, (surface) => {
              if (threshold !== undefined) level(surface, threshold, ink);
              above(surface, dataOf(), palette);
            }),
        ],
      },
    },
    alignedOf(dataOf()),
    place,
  );
}

function onPlot(u: uPlot, draw: (surface: Surface) => void): void {
  const { ctx, bbox } = u;
  const [left, top, width, height] = [bbox.left, bbox.top, bbox.width, bbox.height].map(
    (px) => px / devicePixelRatio,
  ) as [number, number, number, number];
  const area = { left, top, width, height, right: left + width, bottom: top + height };
  ctx.save();
  ctx.scale(devicePixelRatio, devicePixelRatio);
  const x = (cycle: number) => Math.max(left, Math.min(left + width, left + u.valToPos(cycle, 'x')));
  draw({ ctx, area, x, y: (value) => top + u.valToPos(value, 'y') });
  ctx.restore();
}

function edges([from, to]: Stretch): Stretch {
  return [from - 0.5, to + 0.5];
}

function below(surface: Surface, { shaded, unknown }: LiveData, palette: Palette): void {
  const { area, x } = surface;
  drawShades(surface, shaded.map(edges), palette);
  const boxes = unknown.map(edges).map(([from, to]) => [x(from), area.top, x(to) - x(from), area.height] as const);
  hatch(surface, boxes, palette.grid);
}

function above(surface: Surface, { states, entries, restores }: LiveData, palette: Palette): void {
  const strips = states.map((state) => ({ ...state, intervals: state.intervals.map(edges) }));
  drawStrip(surface, { shades: [], states: strips }, palette);
  drawMarks(surface, { kind: 'entry', xs: entries }, palette, 0);
  drawMarks(surface, { kind: 'restore', xs: restores }, palette, 0);
}

const MINUTE_MS = 60_000;

interface TicksBack {
  readonly title: string;
  readonly ticks: readonly { readonly cycles: number; readonly words: string }[];
}

function ticksBack(inView: number, cycleMs: number | undefined): TicksBack {
  const spanMs = inView * (cycleMs ?? 1);
  const unitMs =
    cycleMs === undefined
      ? 1
      : spanMs >= 180 * MINUTE_MS
        ? 60 * MINUTE_MS
        : spanMs >= 3 * MINUTE_MS
          ? MINUTE_MS
          : 1_000;
  const step = [1, 2, 5, 10, 15, 20, 30, 60, 100, 200, 500].find((units) => spanMs / (units * unitMs) <= 6) ?? 1_000;
  const name =
    cycleMs === undefined ? 'cycles' : unitMs === 1_000 ? 'seconds' : unitMs === MINUTE_MS ? 'minutes' : 'hours';
  const ticks = [];
  for (let units = 0; units * unitMs < 0.98 * spanMs; units += step)
    ticks.unshift({ cycles: (units * unitMs) / (cycleMs ?? 1), words: units === 0 ? 'now' : `−${units}` });
  return { title: cycleMs === undefined ? name : `${name} (a cycle is ${cycleMs / 1_000} s)`, ticks };
}

function level({ ctx, area: { left, right }, y }: Surface, threshold: number, colour: string): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1;
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(left, y(threshold));
  ctx.lineTo(right, y(threshold));
  ctx.stroke();
  ctx.setLineDash([]);
}
