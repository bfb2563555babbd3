import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCondition } from '../../../../src/core/limiter/expression/condition.js';
import {
  complement,
  has,
  type IntegerSet,
  intersection,
  union,
} from '../../../../src/core/limiter/expression/integer-set.js';
import { tablesBeside } from '../../../tables-beside.js';

const tables = tablesBeside(import.meta.url);

const COUNT = { names: ['count'] };
const COUNT_AND_INPUT = { names: ['count'], prefixes: ['input.'] };

describe('conditions solved for the count', () => {
  it.each<[text: string, expected: string]>(tables.values)('%s holds for %s', (text, expected) => {
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

  it('holds exactly where the condition, worked out for each count, is true', () => {
    fc.assert(
      fc.property(condition, (text) => {
        const condition = parseCondition(text, COUNT);
        const set = condition.counts();
        const counts = Array.from({ length: 100 }, (_, count) => count);
        expect(counts.filter((count) => has(set, count))).toEqual(
          counts.filter((count) => condition.holds(() => count)),
        );
      }),
    );
  });
});

describe('sets of counts', () => {
  const set: fc.Arbitrary<IntegerSet> = fc
    .array(fc.tuple(fc.nat(30), fc.nat(5)), { maxLength: 4 })
    .map((ranges) => ranges.reduce<IntegerSet>((all, [lo, length]) => union(all, [{ lo, hi: lo + length }]), []));

  it('union, intersection and complement are those of their members', () => {
    const members = (a: IntegerSet) => Array.from({ length: 50 }, (_, n) => has(a, n));
    fc.assert(
      fc.property(set, set, (a, b) => {
        const [inA, inB] = [members(a), members(b)];
        expect(members(union(a, b))).toEqual(inA.map((is, n) => is || inB[n]));
        expect(members(intersection(a, b))).toEqual(inA.map((is, n) => is && inB[n]));
        expect(members(complement(a))).toEqual(inA.map((is) => !is));
        expect(complement(complement(a))).toEqual(a);
      }),
    );
  });
});

describe('conditions on inputs', () => {
  it.each<[text: string, input: Record<string, number>, expected: boolean]>(tables.inputs)(
    '%s with %j is %s',
    (text, input, expected) => {
      const condition = parseCondition(text, COUNT_AND_INPUT);
      expect(condition.holds((name) => (name === 'count' ? 10 : input[name.slice(6)]))).toBe(expected);
    },
  );

  it('says which names it asks for', () => {
    expect([...parseCondition('count > 1 and not (input.a < -input.b)', COUNT_AND_INPUT).names]).toEqual([
      'count',
      'input.a',
      'input.b',
    ]);
  });
});

it('of hundreds of known names the first are listed', () => {
  const names = Array.from({ length: 200 }, (_, k) => `figure_${k}`);
  const parse = () => parseCondition('it > 1', { names });
  expect(parse).toThrow(/known here: figure_0, .*, figure_23, and 176 more\)$/);
});

describe('conditions that cannot be read name the column and the reason', () => {
  it.each<[text: string, message: string]>([
    ...tables.refused,
    [`${'('.repeat(80)}count > 1${')'.repeat(80)}`, 'column 65: the condition is nested deeper than 64'],
    [`count > ${'1'.repeat(600)}`, 'column 501: the condition is longer than 500 characters'],
  ])('%s', (text, message) => {
    expect(() => parseCondition(text, COUNT)).toThrow(message);
  });

  it.each([
    ['count * count > 4', 'column 1: count cannot be multiplied by itself'],
    ['100 / count > 4', 'column 1: nothing can be divided by count'],
    ['count / 0 > 1', 'column 1: a division by zero'],
  ])('%s is not linear in the count', (text, message) => {
    expect(() => parseCondition(text, COUNT).counts()).toThrow(message);
  });
});
