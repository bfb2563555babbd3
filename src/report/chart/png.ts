// Charts as PNG pictures. The font is part of the package (Inter, SIL Open Font License 1.1): without any font on the machine the
// text would be missing silently.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Chart } from 'chart.js';
import { paint } from '../../web/chart/paint.js';
import { palettes, type Theme } from '../../web/chart/palette.js';
import type { ChartSpec } from '../../web/chart/spec.js';
import { ChartJSNodeCanvas, GlobalFonts } from './canvas.js';

/** Width in CSS px; a picture has twice as many pixels, for high-density screens. */
export const PNG_WIDTH = 900;
const PIXEL_RATIO = 2;

/** A chart with its title and caption, on its background. */
export function chartPng(spec: ChartSpec, theme: Theme): Buffer {
  const palette = palettes[theme];
  const font = chartFont();
  const configuration = paint(spec, { palette, font, width: PNG_WIDTH });
  const title = {
    display: true,
    text: spec.title,
    align: 'start',
    color: palette.ink,
    padding: { top: 8, bottom: 8 },
    font: { family: font, size: 17, weight: 600 },
  };
  const options = {
    ...configuration.options,
    plugins: { ...configuration.options?.plugins, title },
    devicePixelRatio: PIXEL_RATIO,
  };
  const plugins = [...(configuration.plugins ?? []), background(palette.ground)];
  return canvasOf(spec.height).renderToBufferSync({ ...configuration, options, plugins } as never, 'image/png');
}

// A new canvas loads Chart.js again, which takes longer than drawing.
const canvases = new Map<number, ChartJSNodeCanvas>();

function canvasOf(height: number): ChartJSNodeCanvas {
  const canvas = canvases.get(height) ?? new ChartJSNodeCanvas({ width: PNG_WIDTH, height });
  canvases.set(height, canvas);
  return canvas;
}

const background = (color: string) => ({
  id: 'background',
  beforeDraw: ({ ctx, width, height }: Chart) => {
    ctx.save();
    ctx.globalCompositeOperation = 'destination-over';
    ctx.fillStyle = color;
    ctx.fillRect(0, 0, width, height);
    ctx.restore();
  },
});

const subsets = { Weir: 'latin', 'Weir Ext': 'latin-ext', 'Weir Greek': 'greek', 'Weir Cyrillic': 'cyrillic' };
let registered = false;

/** The font families to use; the last is the system's, for scripts that Inter does not cover. */
function chartFont(): string {
  if (!registered) {
    const files = join(dirname(createRequire(import.meta.url).resolve('@fontsource/inter/package.json')), 'files');
    for (const [family, subset] of Object.entries(subsets)) {
      for (const weight of [400, 600])
        GlobalFonts.registerFromPath(join(files, `inter-${subset}-${weight}-normal.woff2`), family);
    }
    registered = true;
  }
  return 'Weir, "Weir Ext", "Weir Greek", "Weir Cyrillic", sans-serif';
}
