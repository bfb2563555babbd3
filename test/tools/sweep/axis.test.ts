import { expect, it } from 'vitest';
import { Failure } from '../../../src/core/schema/failure.js';
import { parseAxis } from '../../../src/harness/scenario/grid.js';

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
