// `limit-rps: "5"` of an Ingress, as three gateways take it: what two clients with 100 requests each get through at once.
//
//   ingress-nginx                  5r/s, burst = 5 x 5, nodelay     26 of each client
//   Traefik, average 5, burst 25   a bucket of 25                   25 of each client
//   Envoy Gateway, 5 a Second      a bucket of 5 for the route       5 of both together
import { createLimiter, type LimiterOptions } from '../../src/core/limiter/create-limiter.js';
import type { PublishedCheck } from './published-check.js';

const [RATE, MULTIPLIER, CLIENTS, SENT, NOW_MS] = [5, 5, 2, 100, 1_700_000_000_000];

const gateways = [
  { name: 'ingress-nginx', isShared: false, expected: CLIENTS * 26 },
  { name: 'Traefik', isShared: false, expected: CLIENTS * 25 },
  { name: 'Envoy Gateway', isShared: true, expected: 5 },
] as const;

function limiterOf(name: (typeof gateways)[number]['name'], burst: number): LimiterOptions {
  if (name === 'ingress-nginx') return { like: 'nginx', rate: `${RATE}r/s`, burst, nodelay: true };
  if (name === 'Traefik') return { like: 'traefik', average: RATE, burst };
  return { like: 'envoy', max_tokens: RATE, tokens_per_fill: RATE, fill_interval: '1s' };
}

export const oneAnnotation: PublishedCheck = {
  title: 'One annotation, limit-rps: 5, at three gateways: what two clients get through at once',
  source:
    'ingress-nginx, annotations (burst: limit x 5); Traefik, RateLimit (burst); Envoy Gateway, local rate limit (a bucket per route)',
  mechanism: 'the multiplier of the burst',
  rows: gateways.map(({ name, expected }) => ({ name, expected, unit: 'requests' })),
  replicate: (_seed, _replication, without = false) =>
    gateways.map(({ name, isShared }) => {
      const options = limiterOf(name, RATE * (without ? 1 : MULTIPLIER));
      const limiters = Array.from({ length: isShared ? 1 : CLIENTS }, () => createLimiter(options));
      let admitted = 0;
      for (let n = 0; n < CLIENTS * SENT; n += 1) admitted += limiters[n % limiters.length]!.decide(NOW_MS).admitted;
      return admitted;
    }),
};
