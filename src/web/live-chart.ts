// A chart that moves: one line of counts against its threshold, what was admitted and limited as bars below, stretches shaded, cycles that
// nobody took hatched, instants marked. uPlot draws it. Only charts in sight are drawn, some in each frame: no frame is late because of many.
import uPlot from 'uplot';

/** Cycles, both ends included. */
type Stretch = readonly [from: number, to: number];

export interface LiveData {
  /** The cycles, without gaps. */
  readonly cycles: readonly number[];
  readonly count: readonly (number | null)[];
  readonly admitted: readonly (number | null)[];
  readonly limited: readonly (number | null)[];
  /** Stretches in which requests are limited. */
  readonly shaded: readonly Stretch[];
  /** Stretches that are not known: no line goes through them. */
  readonly unknown: readonly Stretch[];
  readonly entries: readonly number[];
  readonly restores: readonly number[];
}

export interface LiveChart {
  show(data: LiveData): void;
  close(): void;
}

const HEIGHT = 176;
/** The bars take the lower part of the chart. */
const BARS = 4;

/** @param inView cycles from the left end to the right */
export function liveChart(place: HTMLElement, threshold: number | undefined, inView: number): LiveChart {
  let data: LiveData | undefined;
  let chart: uPlot | undefined;
  let isInSight = false;
  const draw = () => {
    if (data === undefined) return;
    chart ??= make(place, threshold, inView, () => data!);
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
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const printed = matchMedia('print');
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
/** A chart takes about a ms, a frame 16. */
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
  // Where nothing was limited, nothing of it may shine through at the edge of what was admitted.
  const all = admitted.map((value, index) => (limited[index] ? (value ?? 0) + limited[index] : null));
  return [cycles, all, admitted, count] as unknown as uPlot.AlignedData;
}

function make(place: HTMLElement, threshold: number | undefined, inView: number, dataOf: () => LiveData): uPlot {
  const style = getComputedStyle(place);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const [ink, quiet, line, water, pale, bad, badSoft] = [
    'ink',
    'quiet',
    'line',
    'water',
    'water-pale',
    'bad',
    'bad-soft',
  ].map(colour);
  const font = `11px ${style.fontFamily}`;
  const last = (u: uPlot) => (u.data[0]?.at(-1) as number | undefined) ?? 0;
  const bars = uPlot.paths.bars!({ size: [1, 8], gap: 0 });
  const axis = { stroke: quiet!, font, grid: { stroke: line!, width: 1 }, ticks: { show: false } } as const;
  return new uPlot(
    {
      width: Math.max(1, place.clientWidth),
      height: HEIGHT,
      padding: [10, 14, 0, 0],
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
          size: 24,
          grid: { show: false },
          splits: (u) => [1, 2, 3, 4, 5, 6].map((part) => last(u) - inView + (part * inView) / 6),
          values: (u, splits) => splits.map((cycle) => (cycle === last(u) ? 'now' : `−${Math.round(last(u) - cycle)}`)),
        },
        {
          ...axis,
          size: 44,
          space: 36,
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9],
        },
      ],
      series: [
        {},
        { scale: 'requests', paths: bars, fill: bad!, width: 0, points: { show: false } },
        { scale: 'requests', paths: bars, fill: pale!, width: 0, points: { show: false } },
        { stroke: water!, width: 1.5, points: { show: false } },
      ],
      hooks: {
        drawClear: [
          (u) => {
            for (const stretch of dataOf().shaded) shade(u, stretch, badSoft!);
            for (const stretch of dataOf().unknown) hatch(u, stretch, line!);
          },
        ],
        draw: [
          (u) => {
            if (threshold !== undefined) level(u, threshold, ink!);
            mark(u, dataOf().entries, bad!, 'down');
            mark(u, dataOf().restores, water!, 'up');
          },
        ],
      },
    },
    alignedOf(dataOf()),
    place,
  );
}

/** Where a stretch begins on the canvas, and how wide it is. */
function placeOf(u: uPlot, [from, to]: Stretch): readonly [start: number, width: number] {
  const { left, width } = u.bbox;
  const start = Math.max(left, u.valToPos(from - 0.5, 'x', true));
  return [start, Math.max(0, Math.min(left + width, u.valToPos(to + 0.5, 'x', true)) - start)];
}

function shade(u: uPlot, stretch: Stretch, colour: string): void {
  const [start, width] = placeOf(u, stretch);
  u.ctx.fillStyle = colour;
  u.ctx.fillRect(start, u.bbox.top, width, u.bbox.height);
}

function hatch(u: uPlot, stretch: Stretch, colour: string): void {
  const { ctx } = u;
  const { top, height } = u.bbox;
  const [start, width] = placeOf(u, stretch);
  ctx.save();
  ctx.beginPath();
  ctx.rect(start, top, width, height);
  ctx.clip();
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  for (let x = start - height; x < start + width; x += 6 * devicePixelRatio) {
    ctx.moveTo(x, top + height);
    ctx.lineTo(x + height, top);
  }
  ctx.stroke();
  ctx.restore();
}

function level(u: uPlot, threshold: number, colour: string): void {
  const { left, width } = u.bbox;
  const y = Math.round(u.valToPos(threshold, 'y', true)) + 0.5;
  u.ctx.save();
  u.ctx.strokeStyle = colour;
  u.ctx.lineWidth = devicePixelRatio;
  u.ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  u.ctx.beginPath();
  u.ctx.moveTo(left, y);
  u.ctx.lineTo(left + width, y);
  u.ctx.stroke();
  u.ctx.restore();
}

/** Small triangles on the upper edge: down where limiting is entered, up where it is left. */
function mark(u: uPlot, cycles: readonly number[], colour: string, points: 'up' | 'down'): void {
  const size = 4 * devicePixelRatio;
  const { top } = u.bbox;
  const [base, tip] = points === 'down' ? [top - 2 * size, top - size / 2] : [top - size / 2, top - 2 * size];
  u.ctx.fillStyle = colour;
  for (const cycle of cycles) {
    const x = u.valToPos(cycle, 'x', true);
    u.ctx.beginPath();
    u.ctx.moveTo(x - size, base);
    u.ctx.lineTo(x + size, base);
    u.ctx.lineTo(x, tip);
    u.ctx.fill();
  }
}
