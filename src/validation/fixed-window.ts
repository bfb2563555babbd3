// Owns check 4: what a fixed window lets through of requests that come by chance.
//
//   admitted = E min(N, 100),  N Poisson with mean 100:  100 (1 - e^-100 100^100 / 100!) = 96.0139
import { RandomStream } from '../math/random.js';
import { PoissonLaw } from '../math/random-law.js';
import type { Check } from './check.js';
import { limiters } from './limiter.js';

const THRESHOLD = 100;
const WINDOWS = 2_000;

export const fixedWindow: Check = {
  id: 'fixed-window',
  title: `Fixed window of ${THRESHOLD} on Poisson arrivals, mean ${THRESHOLD} a window`,
  source: 'closed form',
  rows: [{ name: 'admitted', expected: 96.0139, unit: 'a window' }],
  replicate(seed, replication) {
    const stream = new RandomStream(seed, `self-test/fixed-window/${replication}`);
    const law = new PoissonLaw(THRESHOLD);
    const gate = limiters(THRESHOLD, 1)();
    let admitted = 0;
    for (let window = 0; window < WINDOWS; window += 1) admitted += gate.decide(law.draw(stream), window);
    return [admitted / WINDOWS];
  },
};
