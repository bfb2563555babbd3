import { describe, expect, it } from 'vitest';
import { axesOf, cellsOf, withFields } from '../../../src/harness/scenario/grid.js';

const cells = (set: string[]) => cellsOf(axesOf({ set })).map((cell) => cell.set);

describe('the cells of a grid', () => {
  it('are all combinations, the last axis fastest', () => {
    expect(cells(['a=1,2', 'b=x,y'])).toEqual([
      { a: 1, b: 'x' },
      { a: 1, b: 'y' },
      { a: 2, b: 'x' },
      { a: 2, b: 'y' },
    ]);
  });

  it('of no axis are one', () => {
    expect(cells([])).toEqual([{}]);
  });

  it.each([
    [['a=1,2', 'a=3'], 'set twice'],
    [['a=1..5'], 'without a step'],
    [['a=1..2000:1', 'b=1..2000:1'], 'at most 1000000'],
  ])('%j: %s', (set, what) => {
    expect(() => cells(set)).toThrow(expect.objectContaining({ what: expect.stringContaining(what) }));
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
  ])('%s is set', (path, value, expected) => {
    const before = structuredClone(scenario);
    expect(withFields(scenario, { [path]: value })).toEqual(expected);
    expect(scenario).toEqual(before);
  });

  it.each([
    ['clients.1.name', 'there are 0 to 0'],
    ['clients.devise.name', 'Did you mean "device"?'],
    ['clients.device.name.first', 'would be a field of "device"'],
  ])('%s: %s', (path, what) => {
    expect(() => withFields(scenario, { [path]: 1 })).toThrow(
      expect.objectContaining({ what: expect.stringContaining(what) }),
    );
  });

  it('takes hostile names for what they are, fields', () => {
    const set = withFields(scenario, { '__proto__.polluted': 1 }) as object;
    expect(Object.hasOwn(set, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
