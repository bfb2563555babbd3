import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/core/limiter/create-limiter.js';
import {
  type Counter,
  type CounterAnswer,
  ruleCounter,
  windowCounter,
} from '../../../src/tools/middleware/counters.js';
import { forAll } from '../../draws.js';

const roomy = { maxKeys: 100, overflow: 'refuse' } as const;
const hit = (counter: Counter, key: string, nowMs: number) => counter.hit(key, nowMs) as CounterAnswer;

it('the window of a process decides as the model of express-rate-limit does, whatever comes', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 60 });
  forAll([gaps, fc.integer({ min: 1, max: 5 })], (waits, limit) => {
    const counter = windowCounter(1_000, limit, roomy);
    const model = createLimiter({ like: 'express-rate-limit', windowMs: 1_000, limit });
    let nowMs = 1_000_000;
    for (const wait of waits) {
      nowMs += wait;
      const { isAdmitted, remaining } = hit(counter, 'a', nowMs);
      const { admitted, remaining: expected } = model.decide(nowMs);
      expect([isAdmitted, remaining]).toEqual([admitted === 1, expected]);
    }
  });
});

it('the window of a process counts each key for itself, and takes a request back only within its time', () => {
  const counter = windowCounter(1_000, 1, roomy);
  const first = hit(counter, 'a', 0);
  expect([hit(counter, 'b', 1), hit(counter, 'a', 2)].map(({ isAdmitted }) => isAdmitted)).toEqual([true, false]);
  first.undo?.(3);
  first.undo?.(3);
  expect([hit(counter, 'a', 4).isAdmitted, hit(counter, 'a', 5).isAdmitted]).toEqual([true, false]);
  expect(hit(counter, 'a', 1_000).used).toBe(1);
  first.undo?.(1_001);
  expect(hit(counter, 'a', 1_002).used).toBe(2);
  counter.reset?.('a');
  expect(hit(counter, 'a', 1_003).used).toBe(1);
});

describe.each([
  ['a window', (overflow: 'refuse' | 'share') => windowCounter(1_000, 2, { maxKeys: 2, overflow })],
  [
    'a rule',
    (overflow: 'refuse' | 'share') =>
      ruleCounter({ like: 'express-rate-limit', windowMs: 1_000, limit: 2 }, { maxKeys: 2, overflow }),
  ],
] as const)('the keys of %s', (_, make) => {
  it('keys are bounded: a further one is refused until one is idle', () => {
    const counter = make('refuse');
    const admitted = [
      ['a', 0],
      ['b', 500],
      ['c', 600],
      ['c', 1_000],
      ['d', 1_400],
      ['d', 1_500],
    ].map(([key, ms]) => hit(counter, String(key), Number(ms)).isAdmitted);
    expect(admitted).toEqual([true, true, false, true, false, true]);
  });

  it('keys beyond the bound share one count', () => {
    const counter = make('share');
    const admitted = ['a', 'b', 'c', 'd', 'e', 'a'].map((key, n) => hit(counter, key, n).isAdmitted);
    expect(admitted).toEqual([true, true, true, true, false, true]);
  });
});
