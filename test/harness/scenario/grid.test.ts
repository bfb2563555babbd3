import { expect, it } from 'vitest';
import { Failure } from '../../../src/core/schema/failure.js';
import { axesOf, cellsOf, parseAxis, withFields } from '../../../src/harness/scenario/grid.js';

const cells = (set: string[]) => cellsOf(axesOf({ set })).map((cell) => cell.set);

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

it.each([
  ['a=1,2,3', [1, 2, 3]],
  ['a=none, full', ['none', 'full']],
  ['a=true,null,x', [true, null, 'x']],
  ['a=5', [5]],
  ['a=50..100:25', [50, 75, 100]],
  ['a=50..99:25', [50, 75]],
  ['a=0.1..0.5:0.1', [0.1, 0.2, 0.3, 0.4, 0.5]],
  ['a=-2..2:2', [-2, 0, 2]],
  ['a=10/s..30/s:10/s', ['10/s', '20/s', '30/s']],
  ['a=10s..30s:10', ['10s', '20s', '30s']],
  ['a=30 cycles..90 cycles:30 cycles', ['30 cycles', '60 cycles', '90 cycles']],
  ['a=1..1000:log4', [1, 10, 100, 1000]],
  ['a=1..3:log9', [1, 2, 3]],
  ['a=0.1..10:log3', [0.1, 1, 10]],
  ['a=[1, x, {b: 2}, [3]]', [1, 'x', { b: 2 }, [3]]],
])('the axis %s has its values', (text, values) => {
  const axis = parseAxis(text);
  expect([axis.path, axis.values]).toEqual([text.split('=')[0], values]);
});

it('an axis that is searched has steps of the last decimal, or those given', () => {
  expect([parseAxis('a=1..3', true).values, parseAxis('a=1..9:4', true).values]).toEqual([
    [1, 2, 3],
    [1, 5, 9],
  ]);
});

it.each([
  ['', 'path=values'],
  ['a', 'path=values'],
  ['a=', 'path=values'],
  ['=1', 'path=values'],
  ['a=5..5:1', 'not above'],
  ['a=9..5:1', 'not above'],
  ['a=1..5:0', 'is no step'],
  ['a=1..5:x', 'is no step'],
  ['a=1..5:-1', 'is no step'],
  ['a=0..5:log3', 'begins above 0'],
  ['a=1..5:log1', 'from 2'],
  ['a=1..5:log', 'is no step'],
  ['a=1s..5m:1s', 'different units'],
  ['a=1s..5s:1m', 'has the unit'],
  ['a=1..1000000:1', 'more than'],
  ['a=[1, 2', 'cannot be read'],
  ['a=[]', 'no values'],
])('an axis %j is refused: %s', (text, why) => {
  expect(() => parseAxis(text)).toThrow(Failure);
  expect(() => parseAxis(text)).toThrow(expect.objectContaining({ why: expect.stringContaining(why) }));
});
