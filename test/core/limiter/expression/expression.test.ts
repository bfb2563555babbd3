import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseCondition } from '../../../../src/core/limiter/expression/condition.js';
import {
  complement,
  has,
  type IntegerSet,
  intersection,
  union,
} from '../../../../src/core/limiter/expression/integer-set.js';
import { forAll } from '../../../draws.js';

const COUNT = { names: ['count'] };
const COUNT_AND_INPUT = { names: ['count'], prefixes: ['input.'] };

it.each([
  ['100 < count', '101..'],
  ['count >= 5 && count < 10', '5..9'],
  ['count < 5 or count > 10', '0..4 11..'],
  ['count / 4 >= 2.5', '10..'],
  ['count - 10 > count / 2', '21..'],
  ['count > 2.5 && count <= 2.9', ''],
  ['count + 1 > count', '0..'],
  ['true and count>=1e3', '1000..'],
  ['!false', '0..'],
  ['count < 3 || count >= 3', '0..'],
  ['count == 1.5', ''],
])('%s holds for %s', (text, expected) => {
  const set = parseCondition(text, COUNT).counts();
  expect(set.map(({ lo, hi }) => (hi === Number.POSITIVE_INFINITY ? `${lo}..` : `${lo}..${hi}`)).join(' ')).toBe(
    expected,
  );
});

const condition: fc.Arbitrary<string> = fc.letrec<{ truth: string }>((tie) => ({
  truth: fc.oneof(
    { maxDepth: 3 },
    fc
      .tuple(
        fc.constantFrom('<', '<=', '>', '>=', '==', '!='),
        fc.integer({ min: -3, max: 40 }),
        fc.constantFrom('count', '2 * count', '-count', 'count / 2', 'count + 3'),
      )
      .map(([op, bound, left]) => `${left} ${op} ${bound}`),
    fc.tuple(tie('truth'), fc.constantFrom('and', 'or'), tie('truth')).map(([a, op, b]) => `(${a}) ${op} (${b})`),
    tie('truth').map((inner) => `not (${inner})`),
  ),
})).truth;

it('the counts of a condition are exactly those for which it is true', () => {
  forAll([condition], (text) => {
    const condition = parseCondition(text, COUNT);
    const set = condition.counts();
    const counts = Array.from({ length: 100 }, (_, count) => count);
    expect(counts.filter((count) => has(set, count))).toEqual(counts.filter((count) => condition.holds(() => count)));
  });
});

const set: fc.Arbitrary<IntegerSet> = fc
  .array(fc.tuple(fc.nat(30), fc.nat(5)), { maxLength: 4 })
  .map((ranges) => ranges.reduce<IntegerSet>((all, [lo, length]) => union(all, [{ lo, hi: lo + length }]), []));

it('union, intersection and complement of sets of counts are those of their members', () => {
  const members = (a: IntegerSet) => Array.from({ length: 50 }, (_, n) => has(a, n));
  forAll([set, set], (a, b) => {
    const [inA, inB] = [members(a), members(b)];
    expect(members(union(a, b))).toEqual(inA.map((is, n) => is || inB[n]));
    expect(members(intersection(a, b))).toEqual(inA.map((is, n) => is && inB[n]));
    expect(members(complement(a))).toEqual(inA.map((is) => !is));
    expect(complement(complement(a))).toEqual(a);
  });
});

it.each([
  ['input.level >= 3', { level: 3 }, true],
  ['input.level >= 3', {}, false],
  ['input.level != 3', {}, false],
  ['not (input.level != 3)', {}, true],
  ['input.a + input.b * 2 == 7', { a: 1, b: 3 }, true],
  ['input.a / input.b > 0', { a: 0, b: 0 }, false],
  ['count > input.most || input.force == 1', { most: 9, force: 0 }, true],
  ['(1 + 2) * 3 == 9 && -(-1) == 1', {}, true],
] as [string, Record<string, number>, boolean][])('%s with %j is %s', (text, input, expected) => {
  const condition = parseCondition(text, COUNT_AND_INPUT);
  expect(condition.holds((name) => (name === 'count' ? 10 : input[name.slice(6)]))).toBe(expected);
});

it('a condition says which names it asks for', () => {
  expect([...parseCondition('count > 1 and not (input.a < -input.b)', COUNT_AND_INPUT).names]).toEqual([
    'count',
    'input.a',
    'input.b',
  ]);
});

it('the first of hundreds of known names are listed', () => {
  const names = Array.from({ length: 200 }, (_, k) => `figure_${k}`);
  const parse = () => parseCondition('it > 1', { names });
  expect(parse).toThrow(/known here: figure_0, .*, figure_23, and 176 more\)$/);
});

it.each([
  ['', 'column 1: a number, a name or "(" was expected, but the condition ends here'],
  ['count >', 'column 8: a number, a name or "(" was expected, but the condition ends here'],
  ['count', 'column 1: a condition was expected here, but this is a number: compare it, for example count > 100'],
  ['cuont > 1', 'column 1: the name "cuont" is not known (did you mean "count"?)'],
  ['count > limit', 'column 9: the name "limit" is not known (known here: count)'],
  ['count = 3', 'column 7: "=" has no meaning here (equality is written ==)'],
  ['count > 1 & count < 2', 'column 11: "&" has no meaning here (and is written &&)'],
  ['count % 2 == 0', 'column 7: "%" has no meaning here'],
  ['1 < count < 3', 'column 11: comparisons cannot be chained: write a < b && b < c'],
  ['(count > 1', 'column 11: the "(" of column 1 is not closed'],
  ['count > 1)', 'column 10: ")" was not expected after a whole condition'],
  ['count > 1 2', 'column 11: "2" was not expected after a whole condition'],
  ['count > (count > 1)', 'column 10: a number was expected here, but this is a condition'],
  [
    'count && true',
    'column 1: a condition was expected here, but this is a number: compare it, for example count > 100',
  ],
  ['count > 1e999', 'column 9: the number 1e999 is too large'],
  ['process.exit(1)', 'column 1: the name "process.exit" is not known (known here: count)'],
  ['count > "1"', 'column 9: """ has no meaning here'],
  ['constructor > 1', 'column 1: the name "constructor" is not known (known here: count)'],
  [`${'('.repeat(80)}count > 1${')'.repeat(80)}`, 'column 65: the condition is nested deeper than 64'],
  [`count > ${'1'.repeat(600)}`, 'column 501: the condition is longer than 500 characters'],
])('a condition that cannot be read is refused with its column and reason: %s', (text, message) => {
  expect(() => parseCondition(text, COUNT)).toThrow(message);
});

it.each([
  ['count * count > 4', 'column 1: count cannot be multiplied by itself'],
  ['100 / count > 4', 'column 1: nothing can be divided by count'],
  ['count / 0 > 1', 'column 1: a division by zero'],
])('%s is not linear in the count', (text, message) => {
  expect(() => parseCondition(text, COUNT).counts()).toThrow(message);
});
