// One burst, twelve limiters: what each lets start of the same requests, as OTHER-LIMITERS.md section 6 has them at the first burst.
import { expect, it } from 'vitest';
import { galleryCharts } from '../../src/report/chart/gallery.js';

it('the gallery lets as many of the burst start at once as the products do, and draws all to one scale', () => {
  const charts = galleryCharts();
  const atOnce = charts.map(({ title, lines: [started] }) => {
    const last = started!.xs.lastIndexOf(0.5);
    return `${title.split(':')[0]} ${started!.ys[last]}`;
  });
  expect(atOnce).toEqual([
    'nginx, no burst 1',
    'nginx, burst=5 1',
    'nginx, burst=9 nodelay 10',
    'HAProxy http_req_rate 10',
    'Varnish vsthrottle 10',
    'express-rate-limit 10',
    'async-ratelimiter 10',
    '@nestjs/throttler 10',
    'Upstash, sliding window 10',
    'Go x/time/rate 10',
    'Guava RateLimiter 6',
    'Spring Gateway, capacity 20 20',
  ]);
  expect(new Set(charts.map(({ yMax }) => yMax)).size).toBe(1);
  expect(new Set(charts.map(({ lines }) => lines[1]!.ys.at(-1))).size).toBe(1);
});
