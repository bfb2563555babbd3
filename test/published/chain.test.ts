import { expect, it } from 'vitest';
import { meanTimes, type Rates, stationary } from './chain.js';

/** M/M/1 with room for `most`. */
const queue =
  (lambda: number, mu: number, most: number): Rates =>
  (state, to) => {
    if (state < most) to(state + 1, lambda);
    if (state > 0) to(state - 1, mu);
  };

it.each([0.3, 0.95, 3])('a solved chain has the geometric law of M/M/1/K, rho %d', (rho) => {
  const share = stationary(41, queue(rho, 1, 40));
  const norm = (1 - rho) / (1 - rho ** 41);
  const ratios = [...share].map((one, n) => one / (norm * rho ** n));
  expect(ratios).toEqual(ratios.map(() => expect.closeTo(1, 12)));
});

// From n to n - 1:  t(n) = (1 + lambda t(n + 1)) / mu.
it.each([0.5, 0.99, 2])('a solved chain has the mean times of M/M/1/K to empty, rho %d', (rho) => {
  const most = 60;
  const times = meanTimes(most + 1, queue(rho, 1, most), 1);
  const down = Array.from({ length: most }, () => 1);
  for (let n = most - 2; n >= 0; n -= 1) down[n] = 1 + rho * down[n + 1]!;
  let sum = 0;
  const ratios = down.map((one, n) => {
    sum += one;
    return times[n + 1]! / sum;
  });
  expect(ratios).toEqual(ratios.map(() => expect.closeTo(1, 12)));
});

it('a solved chain keeps all digits where the numbers are 1e40 apart', () => {
  const share = stationary(61, queue(1, 1e-4, 60));
  expect([share[60], share[50]! / 1e-40]).toEqual([expect.closeTo(0.9999, 10), expect.closeTo(0.9999, 10)]);
});

it('a solved chain reaches the nearest of several targets', () => {
  const ring: Rates = (state, to) => {
    for (const step of [1, 5]) to((state + step) % 6, 1);
  };
  // 0 and 1 are reached; from 3 and 4 it takes the longest.
  expect([...meanTimes(6, ring, 2)]).toEqual([0, 0, 2, 3, 3, 2]);
});
