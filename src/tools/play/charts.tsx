// Charts of an animated page: the specs of reports, drawn by Chart.js, with a common playhead.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { paint } from '../../report/chart-specs/paint.js';
import { palettes, type Theme } from '../../report/chart-specs/palette.js';
import type { ChartSpec } from '../../report/chart-specs/spec.js';
import { Chart } from '../../web/chart.js';

interface ChartsProps {
  readonly charts: readonly ChartSpec[];
  readonly theme: Theme;
}

export function Charts({ charts, theme }: ChartsProps) {
  return (
    <>
      {charts.map((spec) => (
        <ChartFigure key={spec.id} spec={spec} theme={theme} />
      ))}
    </>
  );
}

export function linkName({ id }: ChartSpec): string {
  return id === 'queue' ? 'behind' : id;
}

/** Relative height beside sliders and text. */
const HEIGHT = 0.75;
const drawn = new Set<Chart>();

function ChartFigure({ spec, theme }: { readonly spec: ChartSpec; readonly theme: Theme }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { title, about, height } = spec;
  useLayoutEffect(() => {
    const element = canvas.current!;
    const font = getComputedStyle(element).fontFamily;
    const width = element.parentElement!.clientWidth;
    const { plugins = [], ...config } = paint(spec, { palette: palettes[theme], font, width });
    const chart: Chart = new Chart(element, { ...config, plugins: [...plugins, playhead] });
    drawn.add(chart);
    return () => {
      drawn.delete(chart);
      chart.destroy();
    };
  }, [spec, theme]);
  return (
    <figure>
      <h2>{title}</h2>
      <figcaption>{about}</figcaption>
      <div class="chart" data-plot={linkName(spec)} style={`height:${Math.round(HEIGHT * height)}px`}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${title}. ${about}`}
          onMouseMove={(event) => point(event)}
          onMouseLeave={(event) => point(event)}
        />
        <div class="playhead" hidden />
      </div>
    </figure>
  );
}

/** Repeats the pointer on all other charts at the same cycle, so that all show their values there. */
function point(event: MouseEvent): void {
  const own = [...drawn].find(({ canvas }) => canvas === event.currentTarget);
  if (!event.isTrusted || own === undefined) return;
  const cycle = own.scales['x']!.getValueForPixel(event.offsetX)!;
  for (const { canvas, chartArea, scales } of drawn) {
    if (canvas === own.canvas) continue;
    const { left, top } = canvas.getBoundingClientRect();
    const clientX = left + scales['x']!.getPixelForValue(cycle);
    const clientY = top + (chartArea.top + chartArea.bottom) / 2;
    canvas.dispatchEvent(new MouseEvent(event.type === 'mousemove' ? 'mousemove' : 'mouseout', { clientX, clientY }));
  }
}

let played: number | undefined;
const playhead = { id: 'playhead', afterDraw: placePlayhead };

/** The playhead is a line through all charts at the current cycle. */
export function movePlayhead(cycle: number): void {
  played = cycle;
  for (const chart of drawn) placePlayhead(chart);
}

function placePlayhead({ canvas, chartArea: { left, right, top, height }, scales }: Chart): void {
  if (played === undefined) return;
  const line = canvas.nextElementSibling as HTMLElement;
  const x = scales['x']!.getPixelForValue(played);
  line.style.transform = `translate(${x}px, ${top}px)`;
  line.style.height = `${height}px`;
  line.hidden = !(x >= left && x <= right);
}
