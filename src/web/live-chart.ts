// A chart that moves: one line of counts against its threshold on the left axis, requests admitted and limited as bars below on the right one,
// limiting stretches shaded, unknown cycles hatched, transitions marked, states as a strip. uPlot draws it. Only charts in sight are drawn, some in each frame: no frame is late because of many.
import uPlot from 'uplot';

/** Cycles, both ends included. */
type Stretch = readonly [from: number, to: number];

interface LiveData {
  readonly cycles: readonly number[];
  readonly count: readonly (number | null)[];
  readonly admitted: readonly (number | null)[];
  readonly limited: readonly (number | null)[];
  readonly shaded: readonly Stretch[];
  /** The states by name of their colour, each with its stretches: a strip along the lower edge. */
  readonly states: readonly { readonly tone: string; readonly stretches: readonly Stretch[] }[];
  /** Stretches that are not known: no line goes through them. */
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
  /** What the line counts: the title of the left axis. */
  readonly unit: string;
  /** Cycles from the left end to the right. */
  readonly inView: number;
  /** Length of a cycle; where it is not known, the lower axis has cycles. */
  readonly cycleMs: number | undefined;
}

const HEIGHT = 216;
/** The bars take the lower part of the chart. */
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

function make(place: HTMLElement, { threshold, unit, inView, cycleMs }: LiveAxes, dataOf: () => LiveData): uPlot {
  const style = getComputedStyle(place);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const [ink, quiet, line, water, pale, bad, badSoft] = [
    'ink',
    'muted',
    'line',
    'link',
    'link-pale',
    'bad',
    'bad-soft',
  ].map(colour);
  const font = `11px ${style.fontFamily}`;
  const last = (u: uPlot) => (u.data[0]?.at(-1) as number | undefined) ?? 0;
  const bars = uPlot.paths.bars!({ size: [1, 8], gap: 0 });
  const axis = {
    stroke: quiet!,
    font,
    labelFont: font,
    grid: { stroke: line!, width: 1 },
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
          // The bars take the lower part: nothing above it has a number.
          splits: (u) => {
            const most = Math.max(1, (u.scales['requests']!.max ?? BARS) / BARS);
            return most < 2 ? [0, 1] : [0, Math.floor(most / 2), Math.floor(most)];
          },
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
            for (const { tone, stretches } of dataOf().states)
              for (const stretch of stretches) strip(u, stretch, colour(tone));
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

const MINUTE_MS = 60_000;

interface TicksBack {
  readonly title: string;
  /** From the oldest to now. */
  readonly ticks: readonly { readonly cycles: number; readonly words: string }[];
}

/** Whole seconds, minutes or hours back from now; cycles where their length is not known. */
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

function strip(u: uPlot, stretch: Stretch, colour: string): void {
  const [start, width] = placeOf(u, stretch);
  const high = 4 * devicePixelRatio;
  u.ctx.fillStyle = colour;
  u.ctx.fillRect(start, u.bbox.top + u.bbox.height - high, width, high);
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
