import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { type Arrived, modelOf } from '../../../src/harness/live/model.js';
import { observedFold } from '../../../src/harness/live/observed.js';
import { RequestLog } from '../../../src/harness/live/request-log.js';
import type { TransitionSeen } from '../../../src/harness/outcome/outcome-schema.js';

const [firstCycle, lastCycle] = [0, 20];
const names = ['a', 'b'];
const plan = planContract(rateLimiter({ threshold: 3, within: 4 }));

/** The fold of the run that a target shows which answers as the model does. */
async function folds(arrived: readonly Arrived[], reports: boolean) {
  const model = await modelOf(arrived, { names, plan, cycleMs: 777, firstCycle, lastCycle });
  const log = new RequestLog();
  for (const { cycle, contract } of arrived)
    for (const answer of model.answers(cycle, contract)) log.decide(cycle, contract, answer, 0, 1);
  const transitions = reports ? model.transitions : undefined;
  const observed = observedFold({ names, plan, cycleMs: 777, firstCycle, lastCycle, cells: log.cells(), transitions });
  return { model: model.fold, observed };
}

const arrivals = fc
  .array(fc.record({ cycle: fc.integer({ min: 0, max: 16 }), contract: fc.nat(1), n: fc.integer({ min: 1, max: 6 }) }))
  .map((all) => [...new Map(all.map((one) => [`${one.cycle}/${one.contract}`, one])).values()]);

it('the observed figures of a target that does as the model are those of the model', async () => {
  await fc.assert(
    fc.asyncProperty(arrivals, async (arrived) => {
      const { model, observed } = await folds(arrived, true);
      const { reactions: _, ...figures } = observed.figures(lastCycle, 2);
      expect(figures).toEqual({ ...model.figures(lastCycle, 2), reactions: undefined });
    }),
    { numRuns: 100 },
  );
});

it('without reported transitions they follow from the decisions', async () => {
  //  cycle      0  1  2  3  4  5  6
  //  requests   2  3  .  .  1  1  .       threshold 3 within 4: limits in 1, admits again at the request of 5
  const arrived = [
    { cycle: 0, contract: 0, n: 2 },
    { cycle: 1, contract: 0, n: 3 },
    { cycle: 4, contract: 0, n: 1 },
    { cycle: 5, contract: 0, n: 1 },
  ];
  const { observed } = await folds(arrived, false);
  expect(observed.transitions[0]!.map(({ cycle, to }: TransitionSeen) => `${cycle} ${to}`)).toEqual([
    '1 limiting',
    '5 allowing',
  ]);
});
