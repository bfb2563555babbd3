import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { axesOf, cellsOf, withFields } from '../../../src/harness/scenario/grid.js';

const cells = (set: string[], more = {}) => cellsOf(axesOf({ set }), { set, ...more }, 7).map((cell) => cell.set);

it('the cells of a grid are all combinations, the last axis fastest', () => {
  expect(cells(['a=1,2', 'b=x,y'])).toEqual([
    { a: 1, b: 'x' },
    { a: 1, b: 'y' },
    { a: 2, b: 'x' },
    { a: 2, b: 'y' },
  ]);
});

it('a grid of no axis has one cell', () => {
  expect(cells([])).toEqual([{}]);
});

it.each([
  [['a=1,2', 'a=3'], 'set twice'],
  [['a=1..5'], 'without a step'],
  [['a=1..2000:1', 'b=1..2000:1'], 'at most 1000000'],
])('the axes %j are refused: %s', (set, what) => {
  expect(() => cells(set)).toThrow(expect.objectContaining({ what: expect.stringContaining(what) }));
});

describe('samples', () => {
  it('of a Latin hypercube take each part of each axis once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer(), (n, seed) => {
        const set = ['a=0.0..1.0', 'b=1..100:log'];
        const drawn = cellsOf(axesOf({ set }), { set, samples: n }, seed);
        const parts = (values: number[]) => values.map((value) => Math.floor(value * n)).sort((x, y) => x - y);
        const every = Array.from({ length: n }, (_, index) => index);
        // Six digits are kept, so a value at the edge of its part may be rounded over it.
        const a = drawn.map(({ set: { a: value } }) => Math.min(0.999999, (value as number) + 1e-6));
        expect(parts(a).filter((part, index) => Math.abs(part - every[index]!) > 1)).toEqual([]);
        expect(drawn.every(({ set: { b } }) => (b as number) >= 1 && (b as number) <= 100)).toBe(true);
      }),
    );
  });

  it('are the same for the same seed, and others for another', () => {
    const of = (seed: number) => cellsOf(axesOf({ set: ['a=1..1000000'] }), { set: [], samples: 20 }, seed);
    expect(of(1)).toEqual(of(1));
    expect(of(1)).not.toEqual(of(2));
  });

  it('of two axes are drawn apart', () => {
    const set = ['a=1..1000', 'b=1..1000'];
    const drawn = cellsOf(axesOf({ set }), { set, samples: 50 }, 3);
    expect(drawn.some(({ set: { a, b } }) => a !== b)).toBe(true);
  });
});

describe('fields of a scenario', () => {
  const scenario = { limiter: { threshold: 1 }, clients: [{ name: 'device', backoff: { policy: 'none' } }] };

  it.each([
    ['limiter.threshold', 5, { ...scenario, limiter: { threshold: 5 } }],
    ['limiter.within', 9, { ...scenario, limiter: { threshold: 1, within: 9 } }],
    ['service.rate', 2, { ...scenario, service: { rate: 2 } }],
    ['clients.0.backoff.policy', 'full', { ...scenario, clients: [{ name: 'device', backoff: { policy: 'full' } }] }],
    ['clients.device.backoff', null, { ...scenario, clients: [{ name: 'device', backoff: null }] }],
    ['seed', 3, { ...scenario, seed: 3 }],
  ])('the field %s is set in a copy of the scenario', (path, value, expected) => {
    const before = structuredClone(scenario);
    expect(withFields(scenario, { [path]: value })).toEqual(expected);
    expect(scenario).toEqual(before);
  });

  it.each([
    ['clients.1.name', 'there are 0 to 0'],
    ['clients.devise.name', 'Did you mean "device"?'],
    ['clients.device.name.first', 'would be a field of "device"'],
  ])('the field %s is refused: %s', (path, what) => {
    expect(() => withFields(scenario, { [path]: 1 })).toThrow(
      expect.objectContaining({ what: expect.stringContaining(what) }),
    );
  });

  it('a hostile name is taken for what it is, a field', () => {
    const set = withFields(scenario, { '__proto__.polluted': 1 }) as object;
    expect(Object.hasOwn(set, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
