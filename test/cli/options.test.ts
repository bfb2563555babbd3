import { describe, expect, it } from 'vitest';
import { durationIn } from '../../src/cli/options.js';
import { failureOf } from '../failures.js';

describe('a duration on the command line', () => {
  // What is written, at cycles of so many ms, is so many cycles.
  it.each([
    ['60', 777, 60],
    ['60 cycles', 777, 60],
    ['1 cycle', 777, 1],
    ['77.7s', 777, 100],
    ['47s', 1_000, 47],
    ['47s', 500, 94],
    ['1h30m', 60_000, 90],
    [' 5m ', 1_000, 300],
    ['777 ms', 777, 1],
    // 60.49 cycles.
    ['47s', 777, 60],
  ])('%s at %i ms: %i cycles', (text, cycleMs, cycles) => {
    expect(durationIn('within', text, cycleMs)).toBe(cycles);
  });

  it.each([
    ['soon', 777],
    ['', 777],
    ['-1', 777],
    ['47 parsecs', 777],
    ['47s extra', 777],
    ['1e400', 777],
    ['NaN', 777],
    ['0', 777],
  ])('"%s" is refused with the name of the option', (text, cycleMs) => {
    expect(failureOf(() => durationIn('within', text, cycleMs, 1))).toMatchObject({
      ...{ code: 'wrong_usage', what: `--within takes a duration, not "${text}".` },
      ...{ why: expect.any(String), fix: expect.any(String) },
    });
  });
});
