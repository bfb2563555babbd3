import { createCanvas, loadImage } from '@napi-rs/canvas';
import { expect, it } from 'vitest';
import { chartsOf } from '../../src/report/chart/charts.js';
import { chartPng, PNG_WIDTH } from '../../src/report/chart/png.js';
import { palettes, type Theme } from '../../src/report/chart-specs/palette.js';
import type { ChartSpec } from '../../src/report/chart-specs/spec.js';
import { emptyRun, fleetRun, liveRun, longRun, replicatedRun, sampleRun, shortRun } from './sample.js';

interface Picture {
  readonly width: number;
  readonly height: number;
  /** RGB at a share of width and height. */
  at(x: number, y: number): readonly number[];
  /** How many pixels have a color, each channel within 3. */
  count(color: readonly number[]): number;
}

async function look(png: Buffer): Promise<Picture> {
  const image = await loadImage(png);
  const { width, height } = image;
  const context = createCanvas(width, height).getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const pixel = (index: number) => [data[4 * index]!, data[4 * index + 1]!, data[4 * index + 2]!];
  return {
    width,
    height,
    at: (x, y) => pixel(Math.floor(y * height) * width + Math.floor(x * width)),
    count: (color) => {
      let n = 0;
      const [red, green, blue] = color as [number, number, number];
      for (let at = 0; at < data.length; at += 4)
        if (
          Math.abs(data[at]! - red) <= 3 &&
          Math.abs(data[at + 1]! - green) <= 3 &&
          Math.abs(data[at + 2]! - blue) <= 3
        )
          n += 1;
      return n;
    },
  };
}

const rgb = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

it.each(['light', 'dark'] as const)('a chart shows both arms where one lies over the other: %s', async (theme) => {
  const run = sampleRun({ threshold: 40 });
  const spec = chartsOf({ ...run, predicted: run.timeline! }).find(({ id }) => id === 'comparison')!;
  const picture = await look(chartPng({ ...spec, lines: spec.lines.slice(0, 2) }, theme));
  const { predicted, observed } = palettes[theme].tones;
  const pixels = [predicted, observed].map(({ color }) => picture.count(rgb(color)));
  expect(pixels.map((n) => n > 3_000)).toEqual([true, true]);
});

it.each(
  Object.entries({ sampleRun, liveRun, fleetRun, replicatedRun, shortRun, emptyRun }).flatMap(([name, make]) =>
    chartsOf(make()).flatMap((spec) =>
      (name === 'liveRun' || name === 'fleetRun' ? (['light', 'dark'] as const) : (['light'] as const)).map(
        (theme) => [name, spec.id, theme, spec] as const,
      ),
    ),
  ),
)(
  'a chart as PNG has its size, its ground and words on it: %s, %s, %s',
  async (_name, _id, theme: Theme, spec: ChartSpec) => {
    const picture = await look(chartPng(spec, theme));
    const { ground, muted } = palettes[theme];
    expect([picture.width, picture.height]).toEqual([2 * PNG_WIDTH, 2 * spec.height]);
    const share = picture.count(rgb(ground)) / (picture.width * picture.height);
    expect(share).toBeGreaterThan(0.3);
    expect(share).toBeLessThan(0.995);
    expect(picture.count(rgb(muted))).toBeGreaterThan(100);
  },
);

const [spec] = chartsOf(sampleRun());

it('the chart of the window is shaded where the run limited, and only there', async () => {
  const picture = await look(chartPng(spec!, 'light'));
  const ground = rgb(palettes.light.ground);
  // The plot reaches from about 5 % to 97 % of the width; it limited in the cycles 21 .. 31 of 60.
  const x = (cycle: number) => 0.055 + (0.975 - 0.055) * (cycle / 60);
  const shaded = [15.2, 18.3, 22.4, 25.3, 28.4, 35.3, 40.4].map((cycle) =>
    picture.at(x(cycle), 0.3).some((c, i) => Math.abs(c - ground[i]!) > 5),
  );
  expect(shaded).toEqual([false, false, true, true, true, false, false]);
});

it('the chart of the window has its line, its threshold and its strip in their colours', async () => {
  const picture = await look(chartPng(spec!, 'dark'));
  const { count, limited, threshold } = palettes.dark.tones;
  for (const { color } of [count, limited, threshold]) expect(picture.count(rgb(color))).toBeGreaterThan(300);
});

it('a chart shows every limiting interval of a long run, those narrower than a pixel too', async () => {
  // 200 intervals of 5 cycles, 100 cycles apart: 0.45 px each in a plot of 1,700 px, so each is drawn one pixel wide.
  const run = longRun(20_000, 200);
  const [spec] = chartsOf(run);
  expect(spec?.shades).toHaveLength(200);
  const image = await loadImage(chartPng(spec!, 'light'));
  const context = createCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  const strip = rgb(palettes.light.tones.limited.color);
  let most = 0;
  for (let y = 0; y < image.height; y += 1) {
    const { data } = context.getImageData(0, y, image.width, 1);
    let runs = 0;
    let wasStrip = false;
    for (let x = 0; x < image.width; x += 1) {
      // Edges between pixels are blended with the ground: what is nearer to the strip than to white belongs to it.
      const isStrip =
        strip.every((channel, place) => Math.abs(data[4 * x + place]! - channel) < 110) && data[4 * x + 2]! < 200;
      if (isStrip && !wasStrip) runs += 1;
      wasStrip = isStrip;
    }
    most = Math.max(most, runs);
  }
  expect(most).toBeGreaterThanOrEqual(200);
});
