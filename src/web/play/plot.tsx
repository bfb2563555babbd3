// A chart that is drawn again in every frame, by uPlot: lines and areas over cycles, stretches shaded, the values under the pointer.
import { useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { palettes, type Theme } from '../chart/palette.js';

export interface PlotLine {
  readonly label: string;
  readonly color: string;
  readonly ys: readonly (number | null)[];
  readonly dash?: readonly number[];
  /** Opacity of the area below, 0 .. 1. Default: none. */
  readonly area?: number;
  readonly width?: number;
  /** What is shown for a value, if it is not `ys`. */
  readonly shown?: readonly (number | null)[];
}

interface PlotProps {
  readonly id: string;
  readonly title: string;
  /** For people who do not see it, and below the title. */
  readonly about: string;
  readonly theme: Theme;
  readonly xs: readonly number[];
  readonly lines: readonly PlotLine[];
  readonly shades?: readonly (readonly [from: number, to: number])[] | undefined;
  readonly xTitle?: string | undefined;
  readonly height: number;
}

/** A line through all charts of the page at the cycle that is played. */
export function movePlayhead(cycle: number): void {
  for (const chart of charts) {
    const left = chart.valToPos(cycle, 'x');
    const line = chart.over.querySelector<HTMLElement>('.playhead')!;
    line.style.transform = `translateX(${left}px)`;
    line.hidden = !(left >= 0 && left <= chart.over.clientWidth);
  }
}

const charts = new Set<uPlot>();

/** Charts with the same key show the same cycle under the pointer. */
const together = uPlot.sync('cycles');

export function Plot(props: PlotProps) {
  const { id, title, about, theme, xs, lines, height } = props;
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  // What uPlot takes only when it is made; values come and go without it.
  const look = JSON.stringify([theme, height, props.xTitle, lines.map(({ ys: _, shown: __, ...line }) => line)]);
  useLayoutEffect(() => {
    const inside = place.current!;
    const made = new uPlot(optionsOf(latest, inside.clientWidth), dataOf(latest.current), inside);
    chart.current = made;
    charts.add(made);
    const line = document.createElement('div');
    line.className = 'playhead';
    line.hidden = true;
    made.over.append(line);
    const observer = new ResizeObserver(() => {
      if (inside.clientWidth > 0 && inside.clientWidth !== made.width)
        made.setSize({ width: inside.clientWidth, height });
    });
    observer.observe(inside);
    return () => {
      observer.disconnect();
      charts.delete(made);
      made.destroy();
    };
  }, [look]);
  useLayoutEffect(() => chart.current?.setData(dataOf(latest.current)), [xs, lines]);
  return (
    <figure>
      <h2>{title}</h2>
      <figcaption>{about}</figcaption>
      <div class="plot" ref={place} role="img" aria-label={`${title}. ${about}`} data-plot={id} />
    </figure>
  );
}

function dataOf({ xs, lines }: PlotProps): uPlot.AlignedData {
  return [xs, ...lines.map(({ ys }) => ys)] as uPlot.AlignedData;
}

export const number = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

function optionsOf(latest: { current: PlotProps }, width: number): uPlot.Options {
  const { theme, height, lines, xTitle } = latest.current;
  const palette = palettes[theme];
  const stepped = uPlot.paths.stepped!({ align: 1 });
  const font = '12px system-ui, sans-serif';
  const axis = {
    stroke: palette.muted,
    font,
    grid: { stroke: palette.grid, width: 1 },
    ticks: { stroke: palette.grid, width: 1 },
  };
  return {
    width,
    height,
    padding: [8, 8, 0, 0],
    cursor: { sync: { key: together.key }, drag: { x: false, y: false }, points: { size: 6 } },
    legend: { live: true, markers: { width: 2 } },
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(1, most) * 1.06] } },
    axes: [
      {
        ...axis,
        size: xTitle === undefined ? 26 : 42,
        ...(xTitle === undefined ? {} : { label: xTitle, labelFont: font, labelSize: 16 }),
      },
      { ...axis, size: 52, values: (_, ticks) => ticks.map((tick) => compact(tick)) },
    ],
    series: [
      { label: 'cycle', value: (_, x) => (x === null ? '–' : number.format(x)) },
      ...lines.map(
        ({ label, color, dash, area, width: lineWidth = 1.5 }, index): uPlot.Series => ({
          label,
          stroke: color,
          width: lineWidth,
          paths: stepped,
          points: { show: false },
          ...(dash === undefined ? {} : { dash: [...dash] }),
          ...(area === undefined ? {} : { fill: withAlpha(color, area) }),
          value: (_, y, __, at) => {
            const line = latest.current.lines[index];
            const value = at === null ? y : ((line?.shown ?? line?.ys)?.[at] ?? null);
            return value === null || value === undefined ? '–' : number.format(value);
          },
        }),
      ),
    ],
    hooks: {
      drawClear: [
        ({ ctx, bbox, valToPos }) => {
          ctx.save();
          for (const [from, to] of latest.current.shades ?? []) {
            const left = Math.max(bbox.left, valToPos(from, 'x', true));
            const right = Math.min(bbox.left + bbox.width, Math.max(left + 1, valToPos(to, 'x', true)));
            ctx.fillStyle = palette.shade;
            ctx.fillRect(left, bbox.top, right - left, bbox.height);
          }
          ctx.restore();
        },
      ],
    },
  };
}

function compact(value: number): string {
  if (value >= 1_000_000) return `${number.format(value / 1_000_000)} M`;
  return value >= 10_000 ? `${number.format(value / 1_000)} k` : number.format(value);
}

function withAlpha(color: string, alpha: number): string {
  return `${color}${Math.round(alpha * 255)
    .toString(16)
    .padStart(2, '0')}`;
}
