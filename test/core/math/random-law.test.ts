// Owns the promises of prepared laws: Poisson counts exact for every mean, one draw of the stream from a table, fair choices.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RandomStream } from '../../../src/core/math/random.js';
import { drawPoisson, logProbability, PoissonLaw, weightedDraw } from '../../../src/core/math/random-law.js';
import { Bug } from '../../../src/core/schema/failure.js';
import { forAll } from '../../draws.js';
import { chiSquareDeviate, histogram, meanDeviate } from '../limiter/statistics.js';

const N = 1e5;

// Worked out with 300 bits.
it.each([
  [0, 0.5, -0.5],
  [3, 2.5, -1.5428872736055899],
  [15, 10, -3.3604949889302063],
  [16, 10, -3.830498618175942],
  [16, 200, -145.8987822413121],
  [150, 200, -10.272500867218183],
  [200, 200, -3.568513882798138],
  [1000, 1000, -4.372899506026297],
  [1100, 1000, -9.26174480492892],
  [999999, 1000000, -7.826693895520143],
  [1000000000, 1000000000, -11.280571451761212],
  [1000100000, 1000000000, -16.280454790927536],
  [999850000, 1000000000, -22.531058988326958],
  [999500000, 1000000000, -136.3011599324701],
])('the probability of %d where %d are expected is e^%d', (k, mean, expected) => {
  expect(Math.abs(logProbability(k, mean) - expected)).toBeLessThan(1e-13 * Math.max(1, Math.abs(expected)));
});

it('the probabilities of Poisson counts sum up to 1', () => {
  for (const mean of [0.1, 5, 30, 200]) {
    const total = Array.from({ length: 600 }, (_, k) => Math.exp(logProbability(k, mean))).reduce((a, b) => a + b);
    expect(total).toBeCloseTo(1, 12);
  }
});

describe.each([
  [
    'PoissonLaw',
    (mean: number, stream: RandomStream) => {
      const law = new PoissonLaw(mean);
      return () => law.draw(stream);
    },
  ],
  ['drawPoisson', (mean: number, stream: RandomStream) => () => drawPoisson(mean, stream)],
])('%s', (name, drawing) => {
  it.each([0.01, 0.5, 1, 3, 9.99, 10, 11.5, 40, 100, 199, 200, 201, 1000])('Poisson counts fit the mean %d', (mean) => {
    const draw = drawing(mean, new RandomStream(1, `${name} ${mean}`));
    const cells = Math.ceil(mean + 10 * Math.sqrt(mean) + 10);
    const expected = Array.from({ length: cells }, (_, k) => N * Math.exp(logProbability(k, mean)));
    expect(Math.abs(chiSquareDeviate(histogram(cells, N, draw), expected))).toBeLessThan(4);
  });

  it.each([1e4, 1e6, 1e9])('Poisson counts have mean and variance %d', (mean) => {
    const draw = drawing(mean, new RandomStream(1, `${name} ${mean}`));
    const z = Array.from({ length: N }, () => (draw() - mean) / Math.sqrt(mean));
    // Fourth central moment: 3 m^2 + m.
    const spread = Math.sqrt(2 + 1 / mean);
    expect(Math.abs(meanDeviate(z, 0, 1))).toBeLessThan(4);
    const squares = z.map((x) => x * x);
    expect(Math.abs(meanDeviate(squares, 1, spread))).toBeLessThan(4);
  });

  it.each([0, 1e-300])('a Poisson count of mean %d, below the last bit of 1, is 0 as good as always', (mean) => {
    const draw = drawing(mean, new RandomStream(1, name));
    expect(histogram(2, 100, draw)).toEqual([100, 0]);
  });

  it.each([-1, NaN, Infinity, 1.1e9])('a Poisson count of mean %d is a bug', (mean) => {
    expect(() => drawing(mean, new RandomStream(1, name))()).toThrow(Bug);
  });

  it('Poisson counts are whole numbers from 0 on for any mean', () => {
    forAll([fc.double({ min: 0, max: 1e9, noNaN: true }), fc.integer()], (mean, seed) => {
      const draw = drawing(mean, new RandomStream(seed, name));
      const sample = Array.from({ length: 10 }, draw);
      expect(sample.filter((k) => !Number.isSafeInteger(k) || k < 0)).toEqual([]);
    });
  });
});

it.each([0, 0.3, 5, 100, 200])('a Poisson law of mean %d with a table takes one uniform draw a count', (mean) => {
  const law = new PoissonLaw(mean);
  const [stream, other] = [new RandomStream(1, 'one draw'), new RandomStream(1, 'one draw')];
  for (let i = 0; i < 1000; i += 1) {
    law.draw(stream);
    other.uniform();
  }
  expect(stream.uint32()).toBe(other.uint32());
});

it.each([0.3, 5, 100, 200])(
  'a Poisson table of mean %d takes all of [0, 1), and gives no less for a larger u',
  (mean) => {
    const law = new PoissonLaw(mean);
    const edges = [0, 2 ** -53, 0.5 - 2 ** -53, 0.5, 1 - 2 ** -52, 1 - 2 ** -53];
    const us = [...edges, ...Array.from({ length: 5000 }, (_, i) => i / 5000)].sort((a, b) => a - b);
    const counts = us.map((u) => law.draw({ uniform: () => u } as RandomStream));
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts[0]).toBe(0);
    expect(counts.at(-1)).toBeLessThan(mean + 10 * Math.sqrt(mean) + 15);
  },
);

it('a Poisson law with a table gives what counting up gives, for the same draws', () => {
  const [stream, other] = [new RandomStream(1, 'same'), new RandomStream(1, 'same')];
  const law = new PoissonLaw(7.5);
  const [fromTable, countedUp] = [stream, other].map((s, i) =>
    Array.from({ length: 10_000 }, () => (i === 0 ? law.draw(s) : drawPoisson(7.5, s))),
  );
  expect(fromTable).toEqual(countedUp);
});

it.each([
  ['one', [3]],
  ['two alike', [1, 1]],
  ['a rare one', [1, 999]],
  ['some impossible', [0, 1, 0, 3, 0]],
  ['many by Zipf', Array.from({ length: 1000 }, (_, rank) => 1 / (rank + 1))],
  ['tiny weights', [1e-300, 3e-300]],
  ['huge weights', [1e300, 3e300]],
])('a choice by weight takes each as often as its weight says: %s', (name, weights) => {
  const draw = weightedDraw(weights);
  const stream = new RandomStream(1, `alias ${name}`);
  const sum = weights.reduce((a, b) => a + b);
  const counts = histogram(weights.length, N, () => draw(stream));
  expect(counts.filter((count, i) => count > 0 && weights[i] === 0)).toEqual([]);
  if (weights.length > 1) {
    const expected = weights.map((weight) => (weight / sum) * N);
    expect(Math.abs(chiSquareDeviate(counts, expected))).toBeLessThan(4);
  }
});

it('a choice by weight is right for any weights: every share of [0, 1) is as wide as the weight', () => {
  const weight = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e6, noNaN: true }), fc.integer({ min: 0, max: 3 }));
  forAll([fc.array(weight, { minLength: 1, maxLength: 40 })], (weights) => {
    const sum = weights.reduce((a, b) => a + b);
    fc.pre(sum > 0);
    const draw = weightedDraw(weights);
    const steps = 1 << 14;
    let step = 0;
    const even = { uniform: () => (step++ + 0.5) / steps } as RandomStream;
    const counts = histogram(weights.length, steps, () => draw(even));
    // Each of the n columns is cut in two, and each cut may fall within a step.
    const wrong = counts.filter((count, i) => Math.abs(count - (weights[i]! / sum) * steps) > 2 * weights.length);
    expect(wrong).toEqual([]);
    expect(counts.filter((count, i) => count > 0 && weights[i] === 0)).toEqual([]);
  });
});

it.each([
  ['none', []],
  ['nothing but zeros', [0, 0]],
  ['a negative one', [1, -1, 2]],
  ['NaN', [1, NaN]],
  ['an infinite one', [1, Infinity]],
  ['a sum beyond the doubles', [1e308, 1e308]],
])('a choice by such weights is a bug: %s', (_name, weights) => {
  expect(() => weightedDraw(weights)).toThrow(Bug);
});
