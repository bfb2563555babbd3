// A chart that moves, drawn by Chart.js at most twice a second. Only charts in sight are drawn, a few per frame, so that no frame is late.
import { paint } from '../report/chart-specs/paint.js';
import { palettes } from '../report/chart-specs/palette.js';
import type { ChartSpec } from '../report/chart-specs/spec.js';
import { Chart } from './chart.js';

export interface LiveChart {
  show(spec: ChartSpec): void;
  close(): void;
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const printed = matchMedia('print');

export function liveChart(canvas: HTMLCanvasElement): LiveChart {
  let spec: ChartSpec | undefined;
  let chart: Chart<'line', { x: number; y: number | null }[]> | undefined;
  let isInSight = false;
  const draw = () => {
    if (spec === undefined) return;
    const palette = palettes[dark.matches && !printed.matches ? 'dark' : 'light'];
    const font = getComputedStyle(canvas).fontFamily;
    const { plugins, data, options } = paint(spec, { palette, font, width: canvas.parentElement!.clientWidth });
    if (chart === undefined) {
      chart = new Chart(canvas, { type: 'line', data, options: options!, plugins: plugins! });
      return;
    }
    // A new chart would lose its tooltip.
    Object.assign(chart.config.plugins![0]!, plugins![0]);
    chart.data = data;
    chart.options = options!;
    chart.update('none');
  };

  const seen = new IntersectionObserver(
    (entries) => {
      isInSight = entries.at(-1)!.isIntersecting;
      if (isInSight) queue(draw);
    },
    { rootMargin: '100px' },
  );
  seen.observe(canvas);
  for (const query of [dark, printed]) query.addEventListener('change', draw);
  return {
    show(next) {
      spec = next;
      if (isInSight) queue(draw);
    },
    close() {
      waiting.delete(draw);
      seen.disconnect();
      for (const query of [dark, printed]) query.removeEventListener('change', draw);
      chart?.destroy();
    },
  };
}

const waiting = new Set<() => void>();
/** A chart takes some ms, a frame 16. */
const AT_ONCE = 2;
const BETWEEN_MS = 500;
const drawnAt = new WeakMap<() => void, number>();

function queue(draw: () => void): void {
  if (waiting.size === 0) requestAnimationFrame(drawSome);
  waiting.add(draw);
}

function drawSome(nowMs: number): void {
  const due = [...waiting].filter((draw) => nowMs - (drawnAt.get(draw) ?? -BETWEEN_MS) >= BETWEEN_MS);
  for (const draw of due.slice(0, AT_ONCE)) {
    waiting.delete(draw);
    drawnAt.set(draw, nowMs);
    draw();
  }
  if (waiting.size > 0) requestAnimationFrame(drawSome);
}
