import Value from 'typebox/value';
import { expect, it } from 'vitest';
import { RandomStream } from '../../../src/core/math/random.js';
import { parseTimeLaw, TimeLawSpec } from '../../../src/core/math/time-law.js';

const N = 20_000;
const root = Math.sqrt(12);
it.each<[spec: TimeLawSpec, mean: number, deviation: number]>([
  ['250ms', 250, 0],
  [2, 1554, 0],
  [{ law: 'constant', time: '1s' }, 1000, 0],
  [{ law: 'exponential', mean: '100ms' }, 100, 100],
  [{ law: 'normal', mean: '100ms', deviation: '10ms' }, 100, 10],
  // Folded at 0, a normal law around 0 has the mean deviation * sqrt(2 / pi).
  [{ law: 'normal', mean: 0, deviation: '100ms' }, 100 * Math.sqrt(2 / Math.PI), 100 * Math.sqrt(1 - 2 / Math.PI)],
  [{ law: 'uniform', from: '100ms', to: '200ms' }, 150, 100 / root],
  [{ law: 'lognormal', mean: '100ms', deviation: '50ms' }, 100, 50],
  [{ law: 'lognormal', mean: '100ms', deviation: 0 }, 100, 0],
])('the draws of %j have the mean and deviation of their law', (spec, mean, deviation) => {
  const law = parseTimeLaw(spec, 777);
  const stream = new RandomStream(5, 'law');
  const drawn = Array.from({ length: N }, () => law.drawMs(stream));
  const seen = drawn.reduce((sum, ms) => sum + ms, 0) / N;
  const spread = Math.sqrt(drawn.reduce((sum, ms) => sum + (ms - seen) ** 2, 0) / (N - 1));
  expect({
    fits: Value.Check(TimeLawSpec, spec),
    negative: drawn.filter((ms) => ms < 0).length,
    mean: Math.abs(seen - mean) <= (3.3 * deviation) / Math.sqrt(N) + 1e-9,
    deviation: Math.abs(spread - deviation) <= 0.05 * deviation + 1e-9,
  }).toEqual({ fits: true, negative: 0, mean: true, deviation: true });
});

it.each<[spec: TimeLawSpec, leastMs: number, place: string]>([
  ['soon', 0, '/think'],
  ['0.5ms', 1, '/think'],
  [{ law: 'exponential', mean: '0.5ms' }, 1, '/think/mean'],
  [{ law: 'uniform', from: '2s', to: '1s' }, 0, '/think/to'],
  [{ law: 'uniform', from: 0, to: 0 }, 1, '/think/to'],
  [{ law: 'lognormal', mean: 0, deviation: '1s' }, 0, '/think/mean'],
  [{ law: 'normal', mean: '1s', deviation: '-1s' }, 0, '/think/deviation'],
])('the law %j is refused with its place where at least %d ms are needed', (spec, leastMs, place) => {
  expect(() => parseTimeLaw(spec, 777, '/think', leastMs)).toThrow(
    expect.objectContaining({ faults: [expect.objectContaining({ path: place })] }),
  );
});

it.each([{ law: 'weibull' }, { law: 'exponential' }, { law: 'constant', time: 1, mean: 1 }, null, -1])(
  'the law %j does not fit the schema',
  (spec) => {
    expect(Value.Check(TimeLawSpec, spec)).toBe(false);
  },
);
