import { expect, it } from 'vitest';
import { compareRuns } from '../../src/cli/compare-runs.js';
import type { Outcome } from '../../src/harness/outcome/outcome-schema.js';
import { sampleRun } from '../report/sample.js';

const { outcome } = sampleRun();
const named = (name: string, more: Partial<Outcome>) => ({ name, outcome: { ...outcome, ...more } });

function verdictOf(figure: string, base: Partial<Outcome>, other: Partial<Outcome>) {
  const { rows } = compareRuns([named('base', base), named('other', other)], true);
  return rows.find(({ name }) => name === figure)?.cells[1]?.change?.verdict;
}

it.each([
  ['limited', { limited: 10 }, { limited: 11 }, 'worse'],
  ['limited', { limited: 10 }, { limited: 9 }, 'better'],
  ['limited', { limited: 10 }, { limited: 10 }, 'same'],
  ['admitted', { admitted: 10 }, { admitted: 9 }, 'worse'],
  ['admitted', { admitted: 10 }, { admitted: 11 }, 'better'],
  ['requests', { requests: 10 }, { requests: 11 }, 'other'],
  ['limited', { limited: 0 }, { limited: 1 }, 'worse'],
  ['limited', { limited: 100 }, { limited: 105 }, 'same'],
  ['limited', { limited: 100 }, { limited: 106 }, 'worse'],
  ['limited', { limited: 100 }, { limited: 95 }, 'same'],
  ['limited', { limited: 100 }, { limited: 94 }, 'better'],
] as const)('a change of %s from %j to %j is %s', (figure, base, other, verdict) => {
  expect(verdictOf(figure, base, other)).toBe(verdict);
});

it('a comparison lists what is worse than the first run, with both values', () => {
  const runs = [named('b', { limited: 10 }), named('a', { limited: 12 }), named('c', { limited: 10, entries: 5 })];
  expect(compareRuns(runs, true).worse).toEqual([
    { run: 'a', figure: 'limited', baseline: 10, value: 12 },
    { run: 'c', figure: 'entries', baseline: outcome.entries, value: 5 },
  ]);
});

it('a comparison judges no figure that only one of the runs has', () => {
  const { rows } = compareRuns([named('a', {}), named('b', { contracts: 2, contracts_limited: 2 })], true);
  expect(rows.find(({ name }) => name === 'contracts_limited')?.cells).toEqual([{ value: undefined }, { value: 2 }]);
});

it('a comparison counts expectations that broke', () => {
  const broke = named('b', { expectations: [{ name: '', expected: 'x', actual: 1, held: false }] });
  expect(compareRuns([named('a', {}), broke], true).worse).toEqual([
    { run: 'b', figure: 'expectations_broken', baseline: 0, value: 1 },
  ]);
});

it('a comparison judges nothing without a baseline', () => {
  const { rows, worse } = compareRuns([named('a', { limited: 1 }), named('b', { limited: 100 })], false);
  expect([worse, rows.flatMap(({ cells }) => cells.filter(({ change }) => change !== undefined))]).toEqual([[], []]);
});
