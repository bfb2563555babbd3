import Value from 'typebox/value';
import { expect, it } from 'vitest';
import { RandomStream } from '../../../src/core/math/random.js';
import { PopularitySpec, planPopularity } from '../../../src/harness/traffic/popularity.js';

const stream = (purpose = 'popularity') => new RandomStream(7, purpose);
const laws: PopularitySpec[] = [
  { law: 'even' },
  { law: 'uniform' },
  { law: 'zipf', exponent: 1.1 },
  { law: 'weights', weights: [5, 0, 1, 1, 3] },
];

it.each([
  [1, '0 0 0 0'],
  [3, '0 1 2 0 1 2 0'],
])('even gives %i contracts their requests in turn: %s', (contracts, picks) => {
  const popularity = planPopularity({ law: 'even' }, contracts).make(stream());
  expect(picks.split(' ').map(() => popularity())).toEqual(picks.split(' ').map(Number));
});

it.each<[PopularitySpec, expected: number[]]>([
  [{ law: 'uniform' }, [0.25, 0.25, 0.25, 0.25]],
  [{ law: 'zipf', exponent: 0 }, [0.25, 0.25, 0.25, 0.25]],
  [{ law: 'zipf', exponent: 1 }, [12, 6, 4, 3].map((parts) => parts / 25)],
  [{ law: 'zipf', exponent: 2 }, [144, 36, 16, 9].map((parts) => parts / 205)],
  [{ law: 'weights', weights: [3, 0, 1, 0] }, [0.75, 0, 0.25, 0]],
])('%j gives each contract its share', (spec, expected) => {
  const n = 100_000;
  const seen = new Float64Array(4);
  const popularity = planPopularity(spec, 4).make(stream());
  for (let k = 0; k < n; k += 1) seen[popularity()]! += 1;
  const off = expected.map((share, k) => {
    const error = Math.sqrt((share * (1 - share)) / n);
    return Math.abs(seen[k]! / n - share) <= 3.3 * error ? share : seen[k]! / n;
  });
  expect(off).toEqual(expected);
});

it.each<[weights: number[], message: string]>([
  [[1, 2], 'must be one a contract: there are 2 weights and 3 contracts'],
  [[0, 0, 0], 'must not all be 0'],
])('weights %j are refused for three contracts', (weights, message) => {
  expect(() => planPopularity({ law: 'weights', weights }, 3)).toThrow(message);
});

it('the schema of a popularity knows its laws and no others', () => {
  const fits = (input: unknown): boolean => Value.Check(PopularitySpec, input);
  const others = [
    {},
    { law: 'pareto' },
    { law: 'zipf' },
    { law: 'even', exponent: 1 },
    { law: 'weights', weights: [] },
  ];
  expect([laws.every(fits), others.some(fits)]).toEqual([true, false]);
});
