// Draws the charts of a page, and redraws them when theme or width change: theme switch, system, narrower window, paper (always light).
import type { Chart as ChartClass } from 'chart.js';
import { paint } from '../report/chart-specs/paint.js';
import type { Palette, Theme } from '../report/chart-specs/palette.js';
import type { ChartSpec } from '../report/chart-specs/spec.js';
import { element } from './page-element.js';

declare const Chart: typeof ChartClass;

const NARROW = 560;

/** @param chartsNow current charts; each has its canvas @returns redraws them in the current theme */
export function drawOnScreen(
  palettes: Readonly<Record<Theme, Palette>>,
  chartsNow: () => readonly ChartSpec[],
): () => void {
  let drawn: { destroy(): void }[] = [];
  const draw = (theme: Theme) => {
    for (const chart of drawn) chart.destroy();
    const font = getComputedStyle(document.body).fontFamily;
    drawn = chartsNow().map((spec) => {
      const canvas = element(`chart-${spec.id}`, HTMLCanvasElement);
      const width = Math.max(spec.leastWidth ?? 0, Math.min(canvas.parentElement?.clientWidth ?? 0, innerWidth));
      return new Chart(canvas, paint(spec, { palette: palettes[theme], font, width }));
    });
    document.documentElement.dataset['drawn'] = String(drawn.length);
  };
  const root = document.documentElement;
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const themeNow = () => (root.dataset['theme'] as Theme | undefined) ?? (prefersDark.matches ? 'dark' : 'light');
  const setTheme = (theme: string | undefined) => {
    if (theme === undefined) delete root.dataset['theme'];
    else root.dataset['theme'] = theme;
  };
  let drawnWidth = 0;
  const redraw = () => {
    drawnWidth = innerWidth;
    draw(themeNow());
  };
  element('theme').addEventListener('click', () => {
    setTheme(themeNow() === 'dark' ? 'light' : 'dark');
    redraw();
  });
  prefersDark.addEventListener('change', () => {
    if (root.dataset['theme'] === undefined) redraw();
  });
  addEventListener('resize', () => {
    if (innerWidth < NARROW !== drawnWidth < NARROW) redraw();
  });
  let themeOnScreen: string | undefined;
  addEventListener('beforeprint', () => {
    themeOnScreen = root.dataset['theme'];
    setTheme('light');
    draw('light');
  });
  addEventListener('afterprint', () => {
    setTheme(themeOnScreen);
    redraw();
  });
  redraw();
  return redraw;
}
