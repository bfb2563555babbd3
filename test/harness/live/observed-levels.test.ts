// The level of a rule as the answers of a target show it.
import { expect, it } from 'vitest';
import { ruleLimiter } from '../../../src/core/limiter/rule-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { observedLevels } from '../../../src/harness/live/observed.js';

const DECISIONS = { a: 'admitted', l: 'limited' } as const;

/** One cycle of 100 ms a group, its requests 10 ms apart; `a` admitted, `l` limited. */
function levels(answers: string, burst: number): number[] {
  const plan = planContract(
    ruleLimiter({ primitive: 'nginx_limit_req', params: { rate_1000: 10_000, burst, nodelay: true } }),
  );
  const groups = answers.split(' ');
  const seen = groups.flatMap((group, cycle) =>
    [...group.replace('-', '')].map((letter, k) => {
      const sentMs = 100_000 + cycle * 100 + k * 10;
      return { sentMs, answeredMs: sentMs + 1, decision: DECISIONS[letter as 'a' | 'l'] };
    }),
  );
  const run = { firstCycle: 1000, lastCycle: 999 + groups.length, cycleMs: 100 };
  return [...observedLevels(seen, plan, run)!.values()];
}

it.each([
  ['rises with what is admitted, and falls at the rate', 'aaa - - - -', 4, [3, 2, 1, 0, 0]],
  ['stays where limited requests change nothing', 'aal - -', 1, [2, 1, 0]],
  ['lies above the rule where the target admits too much', 'aaa -', 1, [3, 1]],
])('the observed level %s', (_, answers, burst, expected) => {
  expect(levels(answers, burst)).toEqual(expected);
});
