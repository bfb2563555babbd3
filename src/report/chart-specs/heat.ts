// Draws a heat map: a coloured rectangle for each pair of names, its value if there is room, and the scale above.
import { log } from '../../core/math/elementary.js';
import { plainNumber } from './axis-text.js';
import type { Surface } from './overlay.js';
import type { Palette } from './palette.js';
import type { ChartSpec, Heat } from './spec.js';

export const HEAT_SCALE = 28;
const SCALE_WIDTH = 140;
const SCALE_STEPS = 40;
const LEAST_HEIGHT = 16;
const LOG_FROM = 50;

export function drawHeat({ ctx, area, x, y }: Surface, { heat }: ChartSpec, palette: Palette, font: string): void {
  if (heat === undefined) return;
  // A few large values would otherwise leave all others in one colour.
  const isLog = heat.border === undefined && heat.low > 0 && heat.high > LOG_FROM * heat.low;
  const place = (value: number) => (isLog ? log(value) : value);
  const share = (value: number) =>
    heat.high > heat.low ? (place(value) - place(heat.low)) / (place(heat.high) - place(heat.low)) : 0;
  const width = x(1) - x(0);
  const height = y(1) - y(0);
  ctx.save();
  ctx.font = `${Math.max(10, Math.min(13, height / 2))}px ${font}`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  heat.values.forEach((row, below) => {
    row.forEach((value, across) => {
      if (value === null) return;
      const [left, top] = [x(across) - width / 2, y(below) - height / 2];
      const color = colorAt(share(value), palette);
      ctx.fillStyle = css(color);
      ctx.fillRect(left, top, width + 0.5, height + 0.5);
      const short = Number(value.toPrecision(2));
      const text = [plainNumber(value), plainNumber(short), `${plainNumber(short / 1000)}k`]
        .slice(0, value < 1000 ? 2 : 3)
        .find((one) => ctx.measureText(one).width <= width - 4);
      if (text === undefined || height < LEAST_HEIGHT) return;
      ctx.fillStyle = inkOn(color);
      ctx.fillText(text, left + width / 2, top + height / 2);
    });
  });
  drawBorder(ctx, heat, palette, (across, below) => [x(across - 0.5), y(below - 0.5)]);
  ctx.textAlign = 'left';
  ctx.font = `12px ${font}`;
  const high = plainNumber(heat.high);
  const top = 8;
  const left = area.right - SCALE_WIDTH - 6 - ctx.measureText(high).width;
  ctx.fillStyle = palette.muted;
  ctx.fillText(high, left + SCALE_WIDTH + 6, top + 6);
  ctx.textAlign = 'right';
  ctx.fillText(plainNumber(heat.low), left - 6, top + 6);
  for (let step = 0; step < SCALE_STEPS; step += 1) {
    ctx.fillStyle = css(colorAt(step / (SCALE_STEPS - 1), palette));
    ctx.fillRect(left + (step * SCALE_WIDTH) / SCALE_STEPS, top, SCALE_WIDTH / SCALE_STEPS + 0.5, 12);
  }
  ctx.restore();
}

function drawBorder(
  ctx: Surface['ctx'],
  { values, border }: Heat,
  palette: Palette,
  corner: (across: number, below: number) => readonly [x: number, y: number],
): void {
  if (border === undefined) return;
  const isAbove = (below: number, across: number) => {
    const value = values[below]?.[across];
    return value === null || value === undefined ? undefined : value >= border;
  };
  const isEdge = (a: boolean | undefined, b: boolean | undefined) => a !== undefined && b !== undefined && a !== b;
  ctx.strokeStyle = palette.tones.limited.color;
  ctx.lineWidth = 3;
  ctx.lineCap = 'square';
  ctx.beginPath();
  values.forEach((row, below) => {
    row.forEach((_, across) => {
      const own = isAbove(below, across);
      if (isEdge(own, isAbove(below, across + 1))) {
        ctx.moveTo(...corner(across + 1, below));
        ctx.lineTo(...corner(across + 1, below + 1));
      }
      if (isEdge(own, isAbove(below + 1, across))) {
        ctx.moveTo(...corner(across, below + 1));
        ctx.lineTo(...corner(across + 1, below + 1));
      }
    });
  });
  ctx.stroke();
}

type Color = readonly [red: number, green: number, blue: number];

function colorAt(share: number, { heat }: Palette): Color {
  const place = Math.max(0, Math.min(1, share)) * (heat.length - 1);
  const index = Math.min(heat.length - 2, Math.floor(place));
  const [from, to] = [heat[index]!, heat[index + 1]!];
  const mix = (a: number, b: number) => Math.round(a + (place - index) * (b - a));
  return [mix(from[0], to[0]), mix(from[1], to[1]), mix(from[2], to[2])];
}

function css([red, green, blue]: Color): string {
  return `rgb(${red}, ${green}, ${blue})`;
}

/** The ink with the better contrast (relative luminance of WCAG 2, with its threshold of 0.179). */
function inkOn(color: Color): string {
  const [red, green, blue] = color.map((one) => {
    const share = one / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000000' : '#ffffff';
}
