// A world whose rows have no columns, beside one whose rows have them.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { lastInstantOf, startOf } from '../../../src/core/time/cycle.js';
import type { CycleRow } from '../../../src/harness/outcome/cycle-row.js';
import { RunFold } from '../../../src/harness/outcome/run-fold.js';
import { World } from '../../../src/harness/simulate/world.js';
import { forAll } from '../../draws.js';

/** Requests of contracts by cycle, then contract, from cycle 0 on, and empty windows in the end. */
function ran(requests: readonly (readonly number[])[], plan: ReturnType<typeof planContract>, byContract: boolean) {
  const names = ['a', 'b', 'c'];
  const rows: CycleRow[] = [];
  const onRow = (row: CycleRow) => {
    fold.next(row);
    rows.push(row);
  };
  const world = new World({ cycleMs: 10, firstCycle: 0, names, plan, byContract, onRow });
  const fold = new RunFold(world.run, false);
  const admitted = requests.map((ofContracts, cycle) => {
    world.clock.run({ untilMs: startOf(cycle, 10) });
    return ofContracts.map((n, contract) => (n === 0 ? 0 : world.request(contract, n)));
  });
  const last = requests.length + 10;
  world.clock.run({ untilMs: lastInstantOf(last, 10) });
  world.rows.end(last);
  if (!byContract) world.contracts.forEach(({ gate }, contract) => void fold.counted(contract, gate.figures));
  const totals = [...fold.totals.rows()];
  return { rows, same: { admitted, totals, transitions: fold.transitions, figures: fold.figures(last, 3) } };
}

it('without columns the decisions, totals, transitions, figures and reactions of a run are the same', () => {
  const perCycle = fc.array(fc.nat(4), { minLength: 3, maxLength: 3 });
  forAll(
    [fc.array(perCycle, { maxLength: 30 }), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 5 })],
    (requests, threshold, within) => {
      const plan = planContract(rateLimiter({ threshold, within }));
      const [whole, bare] = [ran(requests, plan, true), ran(requests, plan, false)];
      expect(bare.same).toEqual(whole.same);
      expect(bare.rows.every(({ contracts, requests: column }) => contracts.length + column.length === 0)).toBe(true);
    },
  );
});
