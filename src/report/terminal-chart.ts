// The first line of a chart over cycles as text; empty for other charts, or if nothing was counted:
//
//   180 ┤             ▄████▄
//   100 ┼┄┄┄┄┄┄┄┄┄┄┄┄┄██████┄┄┄┄┄┄┄┄┄  threshold
//     0 ┤▁▂▃▄▄▄▄▄▄▄▄▄▄██████▄▄▄▄▄▃▂▁
//         limiting    ▀▀▀▀▀▀
//        0                   3.9 min (300 cycles)
import { instantOn } from './chart-specs/axis-text.js';
import type { ChartSpec, CycleAxis, Line } from './chart-specs/spec.js';
import { shownName, type Terminal } from './terminal-text.js';
import { duration, number, spanWords } from './words.js';

const HEIGHT = 8;
const MOST_COLUMNS = 160;
const BLOCKS = ' ▁▂▃▄▅▆▇█';
const ASCII_BLOCKS = '  ..::###';

export function chartLines(
  { x: axis, title, lines: [line, ...others], states, shades }: ChartSpec,
  terminal: Terminal,
): string[] {
  if (axis.kind !== 'cycles' || line === undefined || !line.ys.some(Boolean)) return [];
  const level = others.find(({ tone }) => tone === 'threshold');
  const threshold = level?.ys[0] ?? undefined;
  const top = Math.max(1, threshold ?? 0, ...line.ys.map((y) => y ?? 0));
  const margin = number(top).length + 2;
  const indent = ' '.repeat(margin);
  const width = Math.max(8, Math.min(Math.max(axis.to, 24), terminal.columns - margin - 12, MOST_COLUMNS));
  const columnOf = (x: number) => Math.min(width - 1, Math.floor((x / axis.to) * width));
  const blocks = terminal.unicode ? BLOCKS : ASCII_BLOCKS;
  const levels = peaksOf(line, width, columnOf).map((peak) =>
    peak === 0 ? 0 : Math.max(1, Math.round((peak / top) * HEIGHT * 8)),
  );
  const thresholdRow = threshold === undefined ? -1 : Math.min(HEIGHT - 1, Math.floor((threshold / top) * HEIGHT));
  const rows = Array.from({ length: HEIGHT }, (_, below) => {
    const row = HEIGHT - 1 - below;
    const isThreshold = row === thresholdRow;
    const label = row === HEIGHT - 1 ? number(top) : isThreshold ? number(threshold ?? 0) : row === 0 ? '0' : '';
    const drawn = levels.map((height) => {
      const filled = Math.max(0, Math.min(8, height - row * 8));
      return filled === 0 && isThreshold ? (terminal.unicode ? '┄' : '-') : blocks[filled]!;
    });
    const edge = terminal.unicode ? '┤' : '|';
    return `${label.padStart(margin - 1)}${edge}${drawn.join('')}${isThreshold ? ` ${level!.label}` : ''}`.trimEnd();
  });
  const strips = (states ?? [{ name: 'limiting', intervals: shades }]).flatMap(({ name, intervals }) => {
    const within = new Array<boolean>(width).fill(false);
    for (const [from, to] of intervals)
      within.fill(true, columnOf(from), Math.max(columnOf(from) + 1, Math.ceil((to / axis.to) * width)));
    const drawn = within
      .map((is) => (is ? (terminal.unicode ? '▀' : '^') : ' '))
      .join('')
      .trimEnd();
    return drawn === '' ? [] : [`${indent}${drawn} ${shownName(name, width)}`];
  });
  return [`${indent}${shownName(title, width)}`, ...rows, ...strips, `${indent}${axisText(axis, width)}`];
}

function peaksOf({ xs, ys }: Line, width: number, columnOf: (x: number) => number): number[] {
  const peaks = new Array<number>(width).fill(0);
  xs.forEach((x, index) => {
    const next = xs[index + 1];
    const first = columnOf(x);
    const last = next === undefined ? width - 1 : Math.max(first, columnOf(next - 1), columnOf(next) - 1);
    for (let at = first; at <= last; at += 1) peaks[at] = Math.max(peaks[at]!, ys[index] ?? 0);
  });
  return peaks;
}

function axisText(axis: CycleAxis, width: number): string {
  const start = instantOn(axis, 0);
  const left = start === undefined ? '0' : `0 = ${start}`;
  const right = start === undefined ? spanWords(axis.to, axis.cycleMs) : duration(axis.to * axis.cycleMs);
  return `${left}${' '.repeat(Math.max(2, width - left.length - right.length))}${right}`;
}
