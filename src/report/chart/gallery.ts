// The same burst through twelve limiters of ten requests a second, side by side.
//
//   requests |        ______ sent                a burst of 25, then 15 a second for three seconds, then 5 a second
//            |    ___/
//            | __/  ________ started             where a line is flat, nothing gets through; a slope after the burst is a queue
//            |/____/
import { definitionOf } from '../../core/limiter/products/products.js';
import { play } from '../../core/limiter/products/profile.js';
import { LIMITED } from '../../core/limiter/rule/rule.js';
import { ruleOf } from '../../core/limiter/rule/rule-definition.js';
import { CYCLE_MS } from '../../core/time/cycle.js';
import { type ChartSpec, type Line, unmarked } from '../chart-specs/spec.js';

const limiters: readonly (readonly [title: string, limiter: object])[] = [
  ['nginx, no burst', { like: 'nginx', rate: '10r/s' }],
  ['nginx, burst=5', { like: 'nginx', rate: '10r/s', burst: 5 }],
  ['nginx, burst=9 nodelay', { like: 'nginx', rate: '10r/s', burst: 9, nodelay: true }],
  ['HAProxy http_req_rate', { like: 'haproxy-http-req-rate', period: '1s', limit: 10 }],
  ['Varnish vsthrottle', { like: 'varnish', limit: 10, period: '1s' }],
  ['express-rate-limit', { like: 'express-rate-limit', windowMs: 1000, limit: 10 }],
  ['async-ratelimiter', { like: 'async-ratelimiter', max: 10, duration: 1000 }],
  ['@nestjs/throttler', { like: 'nestjs-throttler', ttl: 1000, limit: 10 }],
  ['Upstash, sliding window', { like: 'upstash', algorithm: 'slidingWindow', tokens: 10, window: '1s' }],
  ['Go x/time/rate', { like: 'x-time', limit: 10, burst: 10 }],
  ['Guava RateLimiter', { like: 'guava', permitsPerSecond: 10 }],
  ['Spring Gateway, capacity 20', { like: 'spring', replenishRate: 10, burstCapacity: 20 }],
];

const LENGTH_MS = 6_000;
const BURST_AT_MS = 500;

function requests(): number[] {
  const times = new Array<number>(25).fill(BURST_AT_MS);
  for (let at = BURST_AT_MS; at < LENGTH_MS; ) {
    at += at < 3_500 ? 1000 / 15 : 200;
    times.push(at);
  }
  return times.filter((at) => at <= LENGTH_MS);
}

export function galleryCharts(): ChartSpec[] {
  const times = requests();
  return limiters.map(([title, limiter], index): ChartSpec => {
    const delays = play(ruleOf(definitionOf(limiter, CYCLE_MS)), times);
    const starts = times.flatMap((at, i) => (delays[i] === LIMITED ? [] : [at + delays[i]!]));
    return {
      id: `panel-${index}`,
      title: `${title}: ${starts.length} of ${times.length}`,
      about: `Requests sent to ${title}, and those that it let start.`,
      x: { kind: 'values', title: 'Seconds', from: 0, to: LENGTH_MS / 1000 },
      yTitle: 'Requests',
      yWhole: true,
      yMax: times.length,
      lines: [
        sumLine('started', 'admitted', starts, { area: 'zero', width: 2 }),
        sumLine('sent', 'planned', times, { width: 1.5 }),
      ],
      ...unmarked,
      height: 345,
    };
  });
}

function sumLine(label: string, tone: Line['tone'], times: readonly number[], looks: Partial<Line>): Line {
  const inOrder = times.filter((at) => at <= LENGTH_MS).sort((a, b) => a - b);
  return {
    label,
    tone,
    xs: [0, ...inOrder.map((at) => at / 1000), LENGTH_MS / 1000],
    ys: [0, ...inOrder.map((_, i) => i + 1), inOrder.length],
    stepped: true,
    ...looks,
  };
}
