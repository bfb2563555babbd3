// The requests sent through every rule.
import { families } from '../../core/limiter/products/families.js';
import { comparing } from './controls.js';

export const TRAFFIC = comparing(
  `question: What does each rule do with the same requests?
seed: 4
cycle_ms: 500
duration: 40s
limiter: { threshold: 100, within: 10s }
arrivals:
  - { model: poisson, rate: 6/s }
  - { model: burst, burst_rate: 30/s, at: 12s, for: 5s }
`,
  Object.keys(families),
);
