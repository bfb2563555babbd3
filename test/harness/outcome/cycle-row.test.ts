// The rows of a run, and what is made of them.
import { expect, it } from 'vitest';
import { RowBuilder, type RunShape } from '../../../src/harness/outcome/cycle-row.js';
import { RunFold } from '../../../src/harness/outcome/run-fold.js';
import { Timeline } from '../../../src/harness/outcome/timeline.js';

const [OPEN, SHUT] = [0, 1];
const run: RunShape = {
  names: ['a', 'b', 'c'],
  states: [
    { name: 'open', admits: true },
    { name: 'shut', admits: false },
  ],
  initial: OPEN,
  threshold: 3,
  within: 2,
};

/** A run of three contracts: `a` goes over its threshold in cycle 5, `c` asks once. */
function rows() {
  const builder = new RowBuilder(run);
  builder.requested(2, 1, 1);
  builder.requested(0, 2, 2);
  builder.counted(2, 1);
  builder.counted(0, 2);
  const first = builder.take(4);
  builder.moved(0, SHUT, 4);
  builder.requested(0, 3, 1);
  builder.counted(0, 5);
  const second = builder.take(5);
  builder.counted(2, 0);
  builder.counted(0, 3);
  builder.moved(0, OPEN, 3, 5);
  return [first, second, builder.take(6)];
}

it('a row has the contracts that changed side by side, ascending, whatever the order in which they did', () => {
  const drawn = rows().map(({ cycle, contracts, requests, limited, counts, states, transitions, totals }) => [
    `${cycle}: ${[...contracts].map((k, i) => `${run.names[k]} ${requests[i]}-${limited[i]} =${counts[i]} ${states[i]}`).join(', ')}`,
    transitions.map(({ contract, to, count }) => `${run.names[contract]} ${to} at ${count}`).join(),
    Object.values(totals).join(' '),
  ]);
  expect(drawn).toEqual([
    ['4: a 2-0 =2 0, c 1-0 =1 0', '', '3 3 0 0'],
    ['5: a 3-2 =5 1', 'a shut at 4', '3 1 2 1'],
    ['6: a 0-0 =3 0, c 0-0 =0 0', 'a open at 3', '0 0 0 0'],
  ]);
});

it('a row is not written to by the rows after it', () => {
  const builder = new RowBuilder(run);
  builder.requested(0, 1, 1);
  builder.counted(0, 1);
  const row = builder.take(1);
  builder.requested(0, 7, 7);
  builder.counted(0, 8);
  builder.take(2);
  expect([[...row.requests], [...row.counts]]).toEqual([[1], [1]]);
});

it('a row counts contracts that begin in a state which does not admit', () => {
  const builder = new RowBuilder({ ...run, initial: SHUT });
  builder.requested(1, 1, 0);
  expect(builder.take(1).totals.limiting).toBe(3);
});

it('a fold makes figures, transitions, reactions and both timelines of rows', () => {
  const fold = new RunFold(run);
  for (const row of rows()) fold.next(row);
  const { by_contract, reactions, ...totals } = fold.figures(9, 2);
  expect(totals).toEqual({
    contracts: 3,
    contracts_limited: 1,
    requests: 6,
    admitted: 4,
    limited: 2,
    entries: 1,
    restores: 1,
    limiting_cycles: 1,
    peak_count: 5,
    peak_cycle: 5,
    states: run.states,
  });
  expect(
    by_contract.map(({ id, requests, peak_cycle, transitions }) => [id, requests, peak_cycle, transitions]),
  ).toEqual([
    [
      'a',
      5,
      5,
      [
        { cycle: 5, to: 'shut', count: 4 },
        { cycle: 6, to: 'open', count: 3 },
      ],
    ],
    ['b', 0, null, []],
  ]);
  expect(reactions).toEqual([
    { contract: 'a', entry_cycle: 5, reaction_cycles: 0, restore_cycle: 6, recovery_cycles: 1 },
  ]);
  expect([...fold.timeline!.rows()].map(({ cycle, contract, count }) => `${cycle} ${contract} ${count}`)).toEqual([
    '4 a 2',
    '4 c 1',
    '5 a 5',
    '6 a 3',
    '6 c 0',
  ]);
  expect([...fold.totals.rows()].map(({ cycle, requests, count }) => [cycle, requests, count])).toEqual([
    [4, 3, 0],
    [5, 3, 1],
    [6, 0, 0],
  ]);
});

it('a timeline gives back what was put in, however wide the values of a column are', () => {
  const timeline = new Timeline(['a']);
  const rows = Array.from({ length: 20_000 }, (_, k) => ({
    cycle: 2_300_000_000 + k * (k > 9_000 ? 1 : 1_000_000),
    requests: k < 5_000 ? 7 : k % 300,
    count: k === 12_345 ? 2 ** 52 : k,
  })).sort((a, b) => a.cycle - b.cycle);
  for (const { cycle, requests, count } of rows) timeline.add(cycle, 0, requests, 0, count, 'open');
  expect([...timeline.rows()].map(({ cycle, requests, count }) => ({ cycle, requests, count }))).toEqual(rows);
});
