// Charts as PNG. The font is bundled (Inter, SIL Open Font License 1.1): on a machine without fonts, text would be missing silently.
import type { Chart } from 'chart.js';
import { packageFile } from '../../core/files/package-file.js';
import { paint } from '../chart-specs/paint.js';
import { palettes, type Theme } from '../chart-specs/palette.js';
import type { ChartSpec } from '../chart-specs/spec.js';
import { ChartJSNodeCanvas, createCanvas, GlobalFonts, loadImage } from './canvas.js';

/** CSS px; a picture has twice as many pixels, for high-density screens. */
export const PNG_WIDTH = 900;
const PIXEL_RATIO = 2;

export function chartPng(spec: ChartSpec, theme: Theme, width = PNG_WIDTH): Buffer {
  const palette = palettes[theme];
  const font = chartFont();
  const configuration = paint(spec, { palette, font, width });
  const title = {
    display: true,
    text: spec.title,
    align: 'start',
    color: palette.ink,
    padding: { top: 8, bottom: 8 },
    font: { family: font, size: width < PNG_WIDTH ? 13 : 17, weight: 600 },
  };
  const options = {
    ...configuration.options,
    layout: { padding: { top: 4, right: 18, left: 4, bottom: 2 } },
    plugins: { ...configuration.options?.plugins, title },
    devicePixelRatio: PIXEL_RATIO,
  };
  const plugins = [...(configuration.plugins ?? []), background(palette.ground)];
  return canvasOf(width, spec.height).renderToBufferSync({ ...configuration, options, plugins } as never, 'image/png');
}

export async function panelsPng(title: string, specs: readonly ChartSpec[], theme: Theme): Promise<Buffer> {
  const [only] = specs;
  if (specs.length <= 1) return only === undefined ? Buffer.of() : chartPng({ ...only, title }, theme);
  const palette = palettes[theme];
  const across = only!.leastWidth !== undefined ? 1 : specs.length > 4 ? 3 : 2;
  const width = Math.floor(PNG_WIDTH / across);
  const height = Math.max(...specs.map((spec) => Math.round((spec.height * (across === 1 ? 3 : 2)) / 3)));
  const rows = Math.ceil(specs.length / across);
  const whole = createCanvas(PNG_WIDTH * PIXEL_RATIO, (PANEL_HEAD + rows * height) * PIXEL_RATIO);
  const context = whole.getContext('2d');
  context.scale(PIXEL_RATIO, PIXEL_RATIO);
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, PNG_WIDTH, PANEL_HEAD + rows * height);
  context.fillStyle = palette.ink;
  context.font = `600 17px ${chartFont()}`;
  context.fillText(title, 10, 24);
  for (const [index, spec] of specs.entries()) {
    const image = await loadImage(chartPng({ ...spec, height }, theme, width));
    context.drawImage(image, (index % across) * width, PANEL_HEAD + Math.floor(index / across) * height, width, height);
  }
  return whole.toBuffer('image/png');
}

const PANEL_HEAD = 36;

// A new canvas reloads Chart.js, which takes longer than drawing.
const canvases = new Map<string, ChartJSNodeCanvas>();

function canvasOf(width: number, height: number): ChartJSNodeCanvas {
  const size = `${width}x${height}`;
  const canvas = canvases.get(size) ?? new ChartJSNodeCanvas({ width, height });
  canvases.set(size, canvas);
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

/** The last family is the system's, for scripts that Inter does not cover. */
function chartFont(): string {
  if (!registered) {
    for (const [family, subset] of Object.entries(subsets)) {
      for (const weight of [400, 600])
        GlobalFonts.registerFromPath(packageFile(`dist/fonts/inter-${subset}-${weight}-normal.woff2`), family);
    }
    registered = true;
  }
  return 'Weir, "Weir Ext", "Weir Greek", "Weir Cyrillic", sans-serif';
}
