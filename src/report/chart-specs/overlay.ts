// Draws what Chart.js does not: shades, transition marks, hatching, lanes, ranges.
import type { Chart } from 'chart.js';
import { type Palette, stateColors } from './palette.js';
import type { ChartSpec, Line, Mark } from './spec.js';

type Context = Chart['ctx'];

export interface Surface {
  readonly ctx: Context;
  readonly area: Chart['chartArea'];
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

export function surfaceOf({ ctx, chartArea: area, scales: { x, y } }: Chart<'line'>): Surface {
  return { ctx, area, x: (value) => x!.getPixelForValue(value), y: (value) => y!.getPixelForValue(value) };
}

export function drawShades({ ctx, area, x }: Surface, shades: ChartSpec['shades'], palette: Palette): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(area.left, area.top, area.width, area.height);
  ctx.clip();
  ctx.fillStyle = palette.shade;
  ctx.strokeStyle = palette.shadeLine;
  ctx.lineWidth = 1;
  for (const [from, to] of shades) {
    const left = x(from);
    const width = Math.max(1, x(to) - left);
    ctx.fillRect(left, area.top, width, area.height);
    if (width >= 6) {
      strokeAt(ctx, left + 0.5, area);
      strokeAt(ctx, left + width - 0.5, area);
    }
  }
  ctx.restore();
}

/** States, or limiting intervals, as a strip on the axis, on top so that no dense line hides it. */
export function drawStrip(
  { ctx, area, x }: Surface,
  { shades, states }: Pick<ChartSpec, 'shades' | 'states'>,
  palette: Palette,
  isShown: (label: string) => boolean = () => true,
): void {
  const fill = (intervals: ChartSpec['shades'], color: string) => {
    ctx.fillStyle = color;
    for (const [from, to] of intervals) {
      const left = x(from);
      ctx.fillRect(left, area.bottom - 5, Math.max(1, Math.min(x(to), area.right) - left), 5);
    }
  };
  ctx.save();
  if (states !== undefined) {
    for (const { name, intervals, color } of stateColors(states, palette))
      if (isShown(`state ${name}`)) fill(intervals, color);
  } else if (isShown('limiting')) fill(shades, palette.tones.limited.color);
  ctx.restore();
}

function strokeAt(ctx: Context, x: number, area: Surface['area']): void {
  ctx.beginPath();
  ctx.moveTo(x, area.top);
  ctx.lineTo(x, area.bottom);
  ctx.stroke();
}

/** Filled triangles for entries, hollow ones for restores, dots for other moves; ticks where they are too close. */
export function drawMarks({ ctx, area, x }: Surface, { kind, xs }: Mark, palette: Palette, row: number): void {
  const places = xs.map(x);
  const crowded = places.some((place, index) => index > 0 && place - places[index - 1]! < 9);
  const y = area.top - 6 - 11 * row;
  const color = {
    entry: palette.tones.limited.color,
    restore: palette.tones.count.color,
    move: palette.muted,
    difference: palette.tones.difference.color,
  }[kind];
  ctx.save();
  ctx.fillStyle = color;
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.5;
  for (const place of places) {
    ctx.beginPath();
    if (crowded) {
      ctx.moveTo(place, y - 4);
      ctx.lineTo(place, y + 4);
      ctx.stroke();
    } else if (kind === 'move') {
      ctx.arc(place, y, 3.5, 0, 2 * Math.PI);
      ctx.fill();
    } else if (kind === 'difference') {
      ctx.moveTo(place - 4, y - 4);
      ctx.lineTo(place + 4, y + 4);
      ctx.moveTo(place + 4, y - 4);
      ctx.lineTo(place - 4, y + 4);
      ctx.stroke();
    } else {
      const tip = kind === 'entry' ? -4 : 4;
      ctx.moveTo(place, y + tip);
      ctx.lineTo(place - 4.5, y - tip);
      ctx.lineTo(place + 4.5, y - tip);
      ctx.closePath();
      if (kind === 'entry') ctx.fill();
      else ctx.stroke();
    }
  }
  ctx.restore();
}

export function drawHatch(surface: Surface, line: Line, below: Line | undefined, color: string): void {
  const { x, y } = surface;
  const boxes = line.xs.flatMap((from, index) => {
    const to = line.xs[index + 1];
    const top = line.ys[index];
    const base = below?.ys[index] ?? 0;
    if (to === undefined || top === null || top === undefined || top <= base) return [];
    return [[x(from), y(top), Math.max(1, x(to) - x(from)), y(base) - y(top)] as const];
  });
  hatch(surface, boxes, color);
}

export function drawUnknown(surface: Surface, { unknown = [] }: ChartSpec, palette: Palette): void {
  const { area, x } = surface;
  const boxes = unknown.map(([from, to]) => {
    const left = Math.max(area.left, x(from));
    return [left, area.top, Math.max(0, x(to) - left), area.height] as const;
  });
  hatch(surface, boxes, palette.muted);
}

function hatch(
  { ctx, area }: Surface,
  boxes: readonly (readonly [number, number, number, number])[],
  color: string,
): void {
  if (boxes.length === 0) return;
  ctx.save();
  ctx.beginPath();
  for (const box of boxes) ctx.rect(...box);
  ctx.clip();
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  for (let start = area.left - area.height; start < area.right; start += 6) {
    ctx.moveTo(start, area.bottom);
    ctx.lineTo(start + area.height, area.top);
  }
  ctx.stroke();
  ctx.restore();
}

export function drawLanes(
  { ctx, area, x, y }: Surface,
  { lanes }: ChartSpec,
  palette: Palette,
  isShown: (label: string) => boolean,
): void {
  if (lanes === undefined) return;
  const height = Math.max(4, Math.min(14, (area.height / lanes.names.length) * 0.66));
  ctx.save();
  lanes.states.forEach((states, lane) => {
    const middle = y(lane);
    ctx.fillStyle = palette.grid;
    ctx.fillRect(area.left, middle - 1, area.width, 2);
    for (const { name, intervals, color } of stateColors(states, palette)) {
      if (!isShown(states.length === 1 ? name : `state ${name}`)) continue;
      ctx.fillStyle = color;
      for (const [from, to] of intervals) {
        const left = x(from);
        ctx.fillRect(left, middle - height / 2, Math.max(1, x(to) - left), height);
      }
    }
  });
  ctx.restore();
}

export function drawRanges({ ctx, x, y }: Surface, { ranges }: ChartSpec, palette: Palette): void {
  if (ranges === undefined) return;
  ctx.save();
  ranges.rows.forEach(({ min, low, middle, high, max }, index) => {
    const at = y(index);
    const left = x(min);
    const right = x(max);
    ctx.strokeStyle = palette.muted;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(left, at);
    ctx.lineTo(right, at);
    ctx.moveTo(left, at - 5);
    ctx.lineTo(left, at + 5);
    ctx.moveTo(right, at - 5);
    ctx.lineTo(right, at + 5);
    ctx.stroke();
    ctx.fillStyle = palette.tones.band.color;
    ctx.fillRect(x(low), at - 6, Math.max(2, x(high) - x(low)), 12);
    ctx.fillStyle = palette.ink;
    ctx.beginPath();
    ctx.arc(x(middle), at, 3.5, 0, 2 * Math.PI);
    ctx.fill();
  });
  ctx.restore();
}
