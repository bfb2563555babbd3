// Draws the charts of a page in its theme, and again when theme or width change: the switch of the page, the system, a narrower window,
// paper, which is always light.
import type { Theme } from './chart/palette.js';
import { element } from './page-element.js';

/**
 * @param narrow width in px; when the window becomes narrower or wider than it, the charts are drawn again
 * @param draw draws all charts of the page
 * @returns draws them now, in the theme of the page
 */
export function drawOnScreen(narrow: number, draw: (theme: Theme) => void): () => void {
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
    if (innerWidth < narrow !== drawnWidth < narrow) redraw();
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
