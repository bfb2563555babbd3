// Charts as text that a person can review: axes, then each line as places and heights, a stretch of one height written once.
//
//   count [window, stepped]
//     0-39:5 40:12 41-60:none
import type { ChartSpec, Line } from '../../src/report/chart-specs/spec.js';

export function chartText(charts: readonly ChartSpec[]): string {
  return charts.map((spec) => `${linesOf(spec).join('\n')}\n`).join('\n');
}

function linesOf({ id, title, about, x, lines, lanes, ranges, shades, marks, ...rest }: ChartSpec): string[] {
  return [
    `== ${id}: ${title}`,
    ...wrapped(about.split(' ')),
    `x ${fieldsOf(x)}`,
    fieldsOf(rest),
    ...lines.flatMap(({ label, xs, ys, tooltips, ...style }) => [
      `${label} [${fieldsOf(style)}]`,
      ...wrapped(stretches(xs, ys)),
      ...(tooltips === undefined ? [] : ['  in words', ...wrapped(stretches(xs, tooltips))]),
    ]),
    ...(shades.length === 0 ? [] : ['limiting', ...wrapped(shades.map(([from, to]) => `${from}-${to}`))]),
    ...marks.flatMap(({ kind, xs }) => [kind, ...wrapped(xs.map(String))]),
    ...(lanes?.names.map(
      (name, at) =>
        `lane ${name}: ${lanes.states[at]!.map((one) => `${one.name} ${one.intervals.map(([from, to]) => `${from}-${to}`).join(' ')}`).join('; ')}`,
    ) ?? []),
    ...(ranges?.names.map((name, at) => `range ${name}: ${fieldsOf(ranges.rows[at]!)}`) ?? []),
  ];
}

/** `1-3:5` for the height 5 at three places that follow each other, `4:none` for a gap. */
function stretches(xs: readonly number[], ys: Line['ys']): string[] {
  const found: { from: number; to: number; y: number | null }[] = [];
  xs.forEach((x, at) => {
    const last = found.at(-1);
    if (last !== undefined && last.y === ys[at] && x === last.to + 1) last.to = x;
    else found.push({ from: x, to: x, y: ys[at]! });
  });
  return found.map(
    ({ from, to, y }) => `${from === to ? short(from) : `${from}-${to}`}:${y === null ? 'none' : short(y)}`,
  );
}

const short = (value: number) => String(Number(value.toPrecision(9)));

function fieldsOf(value: object): string {
  return Object.entries(value)
    .map(([name, field]) => `${name} ${typeof field === 'object' ? JSON.stringify(field) : field}`)
    .join(', ');
}

function wrapped(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < 138) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines;
}
