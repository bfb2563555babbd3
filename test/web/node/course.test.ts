import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HISTORY_CYCLES } from '../../../src/api/contract-history.js';
import { Course } from '../../../src/web/node/course.js';
import { forAll } from '../../draws.js';

const news = (from_cycle: number, ...count: number[]) => ({
  id: 'c',
  from_cycle,
  count,
  limiting: count.map((n) => n % 2),
});
const taken = (...all: ReturnType<typeof news>[]) => {
  const course = new Course();
  for (const one of all) course.take(one);
  return course;
};

it.each([
  ['nothing yet', [], 0, undefined, []],
  ['one message', [news(7, 3, 4, 5)], 7, 9, [3, 4, 5]],
  ['the next cycle', [news(7, 3), news(8, 4)], 7, 8, [3, 4]],
  ['cycles that are known are passed over', [news(7, 3, 4, 5), news(8, 4, 5, 6)], 7, 10, [3, 4, 5, 6]],
  ['the same again changes nothing', [news(7, 3, 4), news(7, 3, 4)], 7, 8, [3, 4]],
  ['cycles that nobody took are unknown', [news(7, 3), news(10, 6)], 7, 10, [3, null, null, 6]],
])('the course of a contract is what its messages say: %s', (_, messages, first, last, counts) => {
  const course = taken(...messages);
  expect([course.first, course.last, course.of('count')]).toEqual([first, last, counts]);
});

it('the course of a contract holds each cycle once, in order, and no more than are in view, whatever comes', () => {
  const message = fc.tuple(fc.nat(2_000), fc.integer({ min: 1, max: 700 }));
  forAll([fc.array(message, { minLength: 1, maxLength: 8 })], (messages) => {
    const course = new Course();
    let newest = -1;
    for (const [from, length] of messages) {
      course.take(news(from, ...Array.from({ length }, (_, index) => from + index)));
      newest = Math.max(newest, from + length - 1);
    }
    const known = course.of('count').map((value, index) => value === null || value === course.first + index);
    expect([course.last, course.length <= HISTORY_CYCLES, known.every(Boolean)]).toEqual([newest, true, true]);
  });
});

it('the course of a contract says in which stretches a column is not 0', () => {
  expect(taken(news(1, 1, 3, 2, 2, 5), news(9, 7)).stretches('limiting')).toEqual([
    [1, 2],
    [5, 5],
    [9, 9],
  ]);
});
