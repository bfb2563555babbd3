// Owns charts as PNG pictures. The one file that names chartjs-node-canvas.
import { createRequire } from 'node:module';
import { ChartJSNodeCanvas } from 'chartjs-node-canvas';
import { chartFont, registerFonts } from './fonts.js';
import { paint } from './paint.js';
import { palettes, type Theme } from './palette.js';
import type { ChartSpec } from './spec.js';

/** Width in CSS px; a picture has twice as many pixels, for screens that show them. */
export const PNG_WIDTH = 900;
const PIXEL_RATIO = 2;

/** A chart with its title and caption, on its ground. */
export function chartPng(spec: ChartSpec, theme: Theme): Buffer {
  const { GlobalFonts } = createRequire(import.meta.url)('canvas') as {
    GlobalFonts: { registerFromPath(path: string, family: string): unknown };
  };
  registerFonts((path, family) => GlobalFonts.registerFromPath(path, family));
  const palette = palettes[theme];
  const canvas = canvasOf(spec.height, palette.ground);
  const configuration = paint(spec, { palette, font: chartFont, width: PNG_WIDTH });
  const options = configuration.options ?? {};
  const plugins = {
    ...options.plugins,
    title: {
      display: true,
      text: spec.title,
      align: 'start' as const,
      color: palette.ink,
      padding: { top: 8, bottom: 8 },
      font: { family: chartFont, size: 17, weight: 600 as const },
    },
  };
  return canvas.renderToBufferSync(
    { ...configuration, options: { ...options, plugins, devicePixelRatio: PIXEL_RATIO } } as never,
    'image/png',
  );
}

const canvases = new Map<string, ChartJSNodeCanvas>();

// Each of them loads Chart.js anew, which takes longer than drawing.
function canvasOf(height: number, ground: string): ChartJSNodeCanvas {
  const key = `${height} ${ground}`;
  const known = canvases.get(key);
  if (known !== undefined) return known;
  const canvas = new ChartJSNodeCanvas({ width: PNG_WIDTH, height, backgroundColour: ground });
  canvases.set(key, canvas);
  return canvas;
}
