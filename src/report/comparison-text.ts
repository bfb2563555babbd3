// A comparison of runs as text, CSV, JSON, Markdown and JUnit.
import { csvField } from '../outcome/timeline-file.js';
import type { Cell, Change, ComparedRow, RunComparison } from './compare-runs.js';
import { figureText } from './figures.js';
import { xmlText } from './junit.js';
import { markdownCell, markdownTable } from './markdown.js';
import { alignedTable, asciiOnly, hued, shownName, type Terminal } from './terminal-text.js';
import { plainTerminal, verdictMark } from './text.js';
import { counted, number } from './words.js';

const signs: Readonly<Record<Change['verdict'], string>> = {
  same: '=',
  better: '↑ better',
  worse: '↓ worse',
  other: '≠',
};

/** Ends with a line feed. */
export function comparisonText(comparison: RunComparison, terminal: Terminal = plainTerminal): string {
  const { runs, rows } = comparison;
  const heads = runs.map(({ outcome, name }) => `${verdictMark(outcome, terminal)}  ${shownName(name)}`);
  const tables = tablesFor(comparison, Math.max(40, terminal.columns)).flatMap(([head = '', ...body]) => [
    '',
    hued(head, 'strong', terminal),
    ...body.map((line, index) => (rows[index]!.cells.some(isWorse) ? hued(line, 'bad', terminal) : line)),
  ]);
  const text = `${[...heads, ...tables, '', conclusion(comparison)].join('\n')}\n`;
  return terminal.unicode ? text : asciiOnly(text.replaceAll('↑ ', '').replaceAll('↓ ', ''));
}

/** One table of all runs if it fits the width; otherwise several tables, each with the baseline and as many runs as fit. */
function tablesFor(comparison: RunComparison, width: number): string[][] {
  const { runs, baseline } = comparison;
  const others = runs.map((_, index) => index).filter((index) => index !== baseline);
  const first = baseline === undefined ? [] : [baseline];
  for (let most = others.length; most > 1; most -= 1) {
    const tables = chunked(others, most).map((some) =>
      tableOf(comparison, [...first, ...some], Number.POSITIVE_INFINITY),
    );
    if (tables.every((lines) => lines.every((line) => [...line].length <= width))) return tables;
  }
  return others.map((one) => tableOf(comparison, [...first, one], width));
}

function tableOf(comparison: RunComparison, shown: readonly number[], width: number): string[] {
  const { runs, baseline, rows } = comparison;
  const titles = shown.flatMap((index) => {
    const name = shownName(runs[index]!.name, 28);
    return baseline === undefined || index === baseline ? [name] : [name, '', ''];
  });
  return alignedTable(
    ['figure', ...titles].map((title, index) => ({ title, right: index > 0 })),
    rows.map((row) => [row.label, ...shown.flatMap((index) => textCells(comparison, row, row.cells[index]!, index))]),
    width,
  );
}

function chunked<T>(all: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, index) =>
    all.slice(index * most, (index + 1) * most),
  );
}

/** The result of the comparison as a sentence. */
export function conclusion({ runs, baseline, tolerance, worse }: RunComparison): string {
  if (baseline === undefined) return `${counted(runs.length, 'run')} side by side, without a baseline.`;
  const { share, floor } = tolerance;
  const tolerated = `Tolerated: ${number(share * 100)} %${floor > 0 ? `, at least ${number(floor)}` : ''}.`;
  const name = shownName(runs[baseline]!.name, 60);
  return worse.length === 0
    ? `Nothing is worse than ${name}. ${tolerated}`
    : `${counted(worse.length, 'figure')} ${worse.length === 1 ? 'is' : 'are'} worse than ${name}. ${tolerated}`;
}

export function comparisonJson({ runs, baseline, tolerance, rows, worse }: RunComparison): string {
  const shown = {
    runs: runs.map(({ name, outcome }) => ({
      name,
      scenario: outcome.scenario,
      seed: outcome.seed,
      verdict: outcome.verdict,
      digest: outcome.digest,
    })),
    baseline: baseline === undefined ? null : runs[baseline]!.name,
    tolerance,
    figures: rows.map(({ name, unit, cells }) => ({
      name,
      unit,
      values: cells.map(({ value }) => value ?? null),
      changes: cells.map(({ change }) => change ?? null),
    })),
    worse,
  };
  return `${JSON.stringify(shown, undefined, 2)}\n`;
}

/** One line for each figure and run (RFC 4180, with LF), to be filtered in a spreadsheet. */
export function comparisonCsv({ runs, rows }: RunComparison): string {
  const lines = rows.flatMap(({ name, unit, cells }) =>
    cells.map(({ value, change }, index) =>
      [
        name,
        unit,
        csvField(runs[index]!.name),
        value ?? '',
        change?.delta ?? '',
        change?.share ?? '',
        change?.verdict ?? '',
      ].join(','),
    ),
  );
  return `${['figure,unit,run,value,delta,share,verdict', ...lines].join('\n')}\n`;
}

export function comparisonMarkdown(comparison: RunComparison): string {
  const { runs, baseline, rows } = comparison;
  const titles = [
    'Figure',
    ...runs.map(({ name }, index) => `${markdownCell(name)}${index === baseline ? ' (baseline)' : ''}`),
  ];
  const cells = rows.map((row) => [
    row.label,
    ...row.cells.map((cell, index) => {
      const [value = '', delta = '', verdict = ''] = textCells(comparison, row, cell, index);
      const beside = delta === '' ? '' : ` (${delta})`;
      return isWorse(cell) ? `**${value}${beside} ${verdict}**` : `${value}${beside}`;
    }),
  ]);
  const mark = comparison.worse.length > 0 ? '❌' : baseline === undefined ? 'ℹ️' : '✅';
  return `### ${mark} ${markdownCell(conclusion(comparison))}\n\n${markdownTable(titles, cells)}\n`;
}

/** A suite for each run, a case for each figure. */
export function comparisonJunit({ runs, baseline, rows }: RunComparison): string {
  const suites = runs.flatMap(({ name }, index) => {
    if (index === baseline) return [];
    const judged = rows.filter(({ cells }) => baseline === undefined || cells[index]!.change !== undefined);
    const failures = judged.filter(({ cells }) => isWorse(cells[index]!)).length;
    const cases = judged.flatMap(({ name: figure, cells }) => {
      const { value, change } = cells[index]!;
      const open = `    <testcase classname="weir.${xmlText(name)}" name="${xmlText(figure)}"`;
      if (change?.verdict !== 'worse') return [`${open}/>`];
      const message = `${value ?? 0} is worse than ${change.baseline} of the baseline`;
      return [`${open}>`, `      <failure type="worse" message="${xmlText(message)}"/>`, '    </testcase>'];
    });
    return [
      {
        failures,
        tests: judged.length,
        lines: [
          `  <testsuite name="${xmlText(name)}" tests="${judged.length}" failures="${failures}">`,
          ...cases,
          '  </testsuite>',
        ],
      },
    ];
  });
  const sum = (pick: (suite: (typeof suites)[number]) => number) =>
    suites.reduce((total, suite) => total + pick(suite), 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="weir" tests="${sum(({ tests }) => tests)}" failures="${sum(({ failures }) => failures)}">`,
    ...suites.flatMap(({ lines }) => lines),
    '</testsuites>',
    '',
  ].join('\n');
}

/** The value; for every run but the baseline also the change and its verdict. */
export function textCells(
  { runs, baseline }: RunComparison,
  { unit }: ComparedRow,
  { value, change }: Cell,
  index: number,
): string[] {
  const shown = figureText({ unit }, value, runs[index]!.outcome.cycle_ms);
  if (baseline === undefined || index === baseline) return [shown];
  if (change === undefined) return [shown, '', ''];
  return [shown, deltaText(change), signs[change.verdict]];
}

function deltaText({ delta, share }: Change): string {
  if (delta === 0) return '';
  const sign = delta > 0 ? '+' : '';
  if (share === undefined) return `${sign}${number(delta)}`;
  const percent = Number((share * 100).toFixed(1));
  return `${sign}${Math.abs(percent) >= 1000 ? number(Math.round(percent)) : percent} %`;
}

function isWorse({ change }: Cell): boolean {
  return change?.verdict === 'worse';
}
