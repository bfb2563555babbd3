import { expect, it } from 'vitest';
import { durationIn } from '../../../src/report/command/options.js';
import { failureOf } from '../../failures.js';

it('a duration on the command line is a time in cycles, and one that is refused has the name of the option', () => {
  expect([durationIn('within', '60', 777, 1), durationIn('within', '47s', 500, 1)]).toEqual([60, 94]);
  for (const text of ['47 parsecs', '', '0'])
    expect(failureOf(() => durationIn('within', text, 777, 1))).toMatchObject({
      ...{ code: 'wrong_usage', what: `--within takes a duration, not "${text}".` },
      ...{ why: expect.any(String), fix: expect.any(String) },
    });
});
