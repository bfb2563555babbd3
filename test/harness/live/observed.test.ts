import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { ruleLimiter } from '../../../src/core/limiter/rule-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { type Arrived, modelOf } from '../../../src/harness/live/model.js';
import { observedFold, observedLevels } from '../../../src/harness/live/observed.js';
import type { TransitionSeen } from '../../../src/harness/outcome/outcome-schema.js';
import { forAllAsync } from '../../draws.js';
import { emptyLog, log } from './logged.js';

const [firstCycle, lastCycle] = [0, 20];
const names = ['a', 'b'];
const plan = planContract(rateLimiter({ threshold: 3, within: 4 }));

/** The fold of the run that a target shows which answers as the model does. */
async function folds(arrived: readonly Arrived[], reports: boolean) {
  const options = { names, plan, cycleMs: 777, firstCycle, lastCycle };
  const model = await modelOf(arrived, options);
  const requestLog = emptyLog();
  for (const cycle of new Set(arrived.map((one) => one.cycle)))
    for (const contract of names.keys())
      for (const { decision, ...answer } of model.answers(cycle, contract))
        log(requestLog, cycle, { type: 'decided', admitted: decision === 'admitted', cycle, ...answer }, contract);
  const observed = observedFold({ ...options, requestLog, transitions: reports ? model.transitions : undefined });
  return { model: model.fold, observed };
}

const arrivals = fc.array(fc.record({ cycle: fc.nat(16), contract: fc.nat(1) }), { maxLength: 40 });

it('the observed figures of a target that does as the model are those of the model', async () => {
  await forAllAsync([arrivals], async (arrived) => {
    const { model, observed } = await folds(arrived, true);
    const { reactions: _, ...figures } = observed.figures(lastCycle, 2);
    expect(figures).toEqual({ ...model.figures(lastCycle, 2), reactions: undefined });
  });
});

it('transitions that are not reported follow from the decisions', async () => {
  //  cycle      0  1  2  3  4  5  6
  //  requests   2  3  .  .  1  1  .       threshold 3 within 4: limits in 1, admits again at the request of 5
  const arrived = [0, 0, 1, 1, 1, 4, 5].map((cycle) => ({ cycle, contract: 0 }));
  const { observed } = await folds(arrived, false);
  expect(observed.transitions[0]!.map(({ cycle, to }: TransitionSeen) => `${cycle} ${to}`)).toEqual([
    '1 limiting',
    '5 allowing',
  ]);
});

// The level of a rule as the answers of a target show it.
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
