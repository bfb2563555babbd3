import { expect, it } from 'vitest';
import { windowChart } from '../../src/report/chart/window-count.js';
import type { Reported } from '../../src/report/reported.js';
import { reportText } from '../../src/report/run-document.js';
import { chartLines } from '../../src/report/terminal-chart.js';
import { alignedTable, asciiOnly, shownName } from '../../src/report/terminal-text.js';
import { duration, number, share } from '../../src/report/words.js';
import { emptyRun, fleetRun, hostile, liveRun, longRun, replicatedRun, sampleRun, shortRun } from './sample.js';

it.each([40, 60, 80, 120, 200])('a report on a terminal of %i columns is no wider than that, or 66', (columns) => {
  const runs = [sampleRun({ more: { expectations: [] } }), fleetRun(), longRun(2_000, 20), shortRun(), emptyRun()];
  const longest = runs.map((run) =>
    reportText(run, { columns, color: false, unicode: true })
      .split('\n')
      .reduce((most, line) => Math.max(most, [...line].length), 0),
  );
  expect(longest.filter((length) => length > Math.max(columns, 66))).toEqual([]);
});

it.each([60, 80, 100])('a table leaves out figures, never a part of a name, at %i columns', (width) => {
  const names = ['2001:db8:1234:5678:9abc:def0:1234:5678', `${'long-user-name-'.repeat(5)}@shop.example`];
  const columns = [
    { title: 'client', isName: true },
    ...['requests', 'limited', 'share', 'limiting', 'peak'].map((title) => ({ title, right: true })),
    { title: 'note' },
  ];
  const lines = alignedTable(
    columns,
    names.map((name) => [name, '1', '2', '3', '4', '5', 'twenty words '.repeat(9)]),
    width,
  );
  expect(names.filter((name) => !lines.some((line) => line.startsWith(name)))).toEqual([]);
  expect(lines.slice(3).join(' ')).toMatch(/^The terminal is too narrow for: .*peak\.$/);
  const short = alignedTable(columns, [[names[0]!, '1', '2', '3', '4', '5', 'twenty words '.repeat(9)]], width);
  expect(short.filter((line) => line.length > width)).toEqual([]);
});

it('a table of texts is fitted: the widest is cut, others are left out from the right, and the first remains', () => {
  const columns = ['limiter', 'limit', 'where', 'line', 'why'].map((title) => ({ title }));
  const lines = alignedTable(columns, [['api', 'words '.repeat(20), 'location /', 'nginx.conf:12', 'no']], 40);
  expect(lines).toEqual([
    'limiter  limit                where',
    'api      words words words …  location /',
    'The terminal is too narrow for: line,',
    'why.',
  ]);
});

it('a report holds only ASCII where nothing else would show', () => {
  const text = reportText(liveRun(), { columns: 80, color: false, unicode: false });
  expect(text.match(/[^\n -~]/g)).toBeNull();
});

it('a report shows an expectation without a name once', () => {
  const expectations = [
    { name: 'quiet', expected: 'limited == 0', actual: 0, held: true },
    { name: 'entries < 1', expected: 'entries < 1', actual: 2, held: false },
  ];
  const text = reportText(sampleRun({ more: { expectations } }), { columns: 80, color: false, unicode: true });
  expect(text.split('\n').filter((line) => line.includes('→'))).toEqual([
    '✔ quiet: limited == 0 → 0',
    '✘ entries < 1 → 2',
  ]);
});

it('a report of several runs says where chance has no effect, and the unit of each mean', () => {
  const { outcome, ...run } = replicatedRun();
  const textOf = (figures: NonNullable<typeof outcome.replications>['figures']) =>
    reportText(
      { ...run, outcome: { ...outcome, replications: { ...outcome.replications!, figures } } },
      { columns: 80, color: false, unicode: true },
    );
  const { figures } = outcome.replications!;
  const equal = { mean: 73, low: 73, high: 73, min: 73, max: 73, interval: 't' as const };
  const words = 'The figures of all 20 runs are equal: chance has no effect on them.';
  expect([textOf(figures).includes(words), textOf({ requests: equal }).includes(words)]).toEqual([false, true]);
  const inCycles = { ...equal, mean: 12.5, high: 80 };
  expect(textOf({ limiting_cycles: inCycles })).toMatch(
    /^limiting for +8\.55 s \(11 cycles\) +12\.5 cycles \(73 to 80\)$/m,
  );
});

it('a report holds colours only when asked for', () => {
  const escapes = (color: boolean) =>
    reportText(sampleRun(), { columns: 80, color, unicode: true }).includes('\u001b[');
  expect([escapes(false), escapes(true)]).toEqual([false, true]);
});

it('a report lets no foreign name command the terminal', () => {
  const run = sampleRun({
    contracts: { [hostile]: [[0, 30]], b: [] },
    more: { scenario: hostile, question: hostile, notes: [hostile] },
  });
  expect(
    reportText(run, { columns: 80, color: false, unicode: true }).match(/[^\P{Cc}\n]|[\u202a-\u202e]/gu),
  ).toBeNull();
});

const chart = (run: Reported, columns: number) =>
  chartLines(windowChart(run)!, { columns, color: false, unicode: true });

it('the window in text marks every limiting interval, however short against the run', () => {
  const [, strip = ''] = chart(longRun(1_000_000, 3), 90).slice(-3);
  expect(strip.match(/▀+/g)).toHaveLength(3);
});

it('the window in text is left out where nothing was counted', () => {
  expect(chart(emptyRun(), 80)).toEqual([]);
});

it.each([
  [0, '0'],
  [1_234_567, '1,234,567'],
  [-1_234.5, '-1,235'],
  [12.34, '12.3'],
  [0.5, '0.50'],
  [0.01234, '0.0123'],
  [Number.NaN, 'NaN'],
])('the number %d is written as %s', (value, text) => {
  expect(number(value)).toBe(text);
});

it.each([
  [777, '0.78 s'],
  [93_240, '93.2 s'],
  [750_000, '12.5 min'],
  [19_080_000, '5.3 h'],
  [302_400_000, '3.5 d'],
])('a duration of %i ms is written as %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

it.each([
  [0, 0, '0 %'],
  [1, 3, '33.3 %'],
  [3, 3, '100 %'],
])('a share of %i in %i is written as %s', (part, whole, text) => {
  expect(share(part, whole)).toBe(text);
});

it('a table cuts the widest column of words, and no number', () => {
  expect(
    alignedTable(
      [{ title: 'verdict' }, { title: 'name' }, { title: 'n', right: true }],
      [['held', 'a long name of a scenario', '1,000']],
      30,
    ),
  ).toEqual(['verdict  name                n', 'held     a long name o…  1,000']);
});

it.each([
  ['plain', 'plain'],
  ['a\u001b[2Jb\u0007', 'a·[2Jb·'],
  ['x'.repeat(12), `${'x'.repeat(9)}…`],
])('a table shows the name %j as %j', (name, shown) => {
  expect(shownName(name, 10)).toBe(shown);
});

it('a text in ASCII has words for what ASCII lacks', () => {
  expect(asciiOnly('✔ ≠ – … é')).toBe('ok != - ~ ?');
});
