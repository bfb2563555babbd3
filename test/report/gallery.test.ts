// One burst, twelve limiters: what each lets start of the same requests, as OTHER-LIMITERS.md section 6 has them at the first burst.
import { expect, it } from 'vitest';
import { galleryCharts } from '../../src/report/chart/gallery.js';
import { tablesBeside } from '../tables-beside.js';

const tables = tablesBeside(import.meta.url);

it('lets as many of the burst start at once as the products do, and draws all to one scale', () => {
  const charts = galleryCharts();
  const atOnce = charts.map(({ title, lines: [started] }) => {
    const last = started!.xs.lastIndexOf(0.5);
    return `${title.split(':')[0]} ${started!.ys[last]}`;
  });
  expect(atOnce).toEqual<string>(tables.at_once);
  expect(new Set(charts.map(({ yMax }) => yMax)).size).toBe(1);
  expect(new Set(charts.map(({ lines }) => lines[1]!.ys.at(-1))).size).toBe(1);
});
