// Runs as text for a terminal: a single run with verdict, question, expectations, window and figures; several runs as a table.
import type { Outcome } from '../outcome/outcome-schema.js';
import { figures, figureText, meanText, meanTitle } from './figures.js';
import { limitingIntervals, limitingStates, type Reported } from './reported.js';
import { alignedTable, asciiOnly, type Hue, hued, shownName, type Terminal, wrapped } from './terminal-text.js';
import { windowText } from './window-text.js';
import {
  counted,
  cycleWords,
  duration,
  foundWords,
  instantOf,
  number,
  share,
  spanWords,
  verdictSentence,
  verdictView,
} from './words.js';

const MOST_DIFFERENCES = 10;
const MOST_CONTRACTS = 10;
const MOST_ENTRIES = 10;

export const plainTerminal: Terminal = { columns: 100, color: false, unicode: true };

/** Ends with a line feed. */
export function reportText(reported: Reported, terminal: Terminal = plainTerminal): string {
  const { outcome } = reported;
  const width = Math.max(40, terminal.columns);
  const blocks: string[][] = [
    head(outcome, width, terminal),
    expectationLines(outcome, terminal),
    windowText(reported, { ...terminal, columns: width }),
    figureLines(outcome, width),
    entryLines(outcome, width),
    contractLines(outcome, width),
    differenceLines(outcome, width),
    (outcome.notes ?? []).flatMap((note) => wrapped(shownName(note, 2_000), width)),
  ];
  const text = `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`;
  return terminal.unicode ? text : asciiOnly(text);
}

/** The verdict in its hue. */
export function verdictMark(outcome: Pick<Outcome, 'verdict' | 'partial'>, terminal: Terminal): string {
  const { sign, words, hue } = verdictView(outcome);
  return hued(`${sign} ${words}`, hues[hue], terminal);
}

const hues: Readonly<Record<ReturnType<typeof verdictView>['hue'], Hue>> = { good: 'good', open: 'faint', bad: 'bad' };

function head(outcome: Outcome, width: number, terminal: Terminal): string[] {
  const { scenario, seed, question, kind } = outcome;
  const seeded = kind === 'replay' ? '' : `, seed ${shownName(String(seed), 60)}`;
  return [
    `${verdictMark(outcome, terminal)}  ${hued(shownName(scenario, width), 'strong', terminal)}${seeded}`,
    ...wrapped(shownName(verdictSentence(outcome), 1_000), width),
    ...(question === undefined
      ? []
      : wrapped(shownName(question, 1_000), width).map((line) => hued(line, 'faint', terminal))),
  ];
}

function expectationLines(outcome: Outcome, terminal: Terminal): string[] {
  return outcome.expectations.map((expectation) => {
    const { name, expected, actual, held, held_in } = expectation;
    const sign = held ? hued('✔', 'good', terminal) : hued('✘', 'bad', terminal);
    const found =
      held_in !== undefined
        ? `; ${foundWords(expectation, outcome)}`
        : held
          ? ''
          : `; found ${actual === null ? 'nothing' : typeof actual === 'number' ? number(actual) : shownName(actual)}`;
    const title = name === '' ? '' : `${shownName(name)}: `;
    return `${sign} ${title}${shownName(expected)}${found}`;
  });
}

function figureLines(outcome: Outcome, width: number): string[] {
  const { replications } = outcome;
  const rows = figures.flatMap((figure) => {
    const value = figure.of(outcome);
    if (value === undefined) return [];
    const beside = figure.name === 'admitted' || figure.name === 'limited' ? `  ${share(value, outcome.requests)}` : '';
    const mean = replications === undefined ? [] : [meanText(figure, outcome) ?? ''];
    return [[figure.label, `${figureText(figure, value, outcome.cycle_ms)}${beside}`, ...mean]];
  });
  if (outcome.skipped_lines > 0)
    rows.push(['skipped lines', number(outcome.skipped_lines), ...(replications === undefined ? [] : [''])]);
  if (replications === undefined) return alignedTable([{ title: '' }, { title: '' }], rows, width).slice(1);
  return alignedTable([{ title: '' }, { title: 'this run' }, { title: meanTitle(replications) }], rows, width);
}

/** When the limiting began and how long it lasted, for runs in the time of the world. */
function entryLines(outcome: Outcome, width: number): string[] {
  const { by_contract, contracts, cycle_ms, first_cycle, last_cycle } = outcome;
  const limiting = limitingStates(outcome);
  const entries = by_contract.flatMap(({ id, rule, transitions }) =>
    limitingIntervals(transitions, limiting, last_cycle ?? 0).flatMap(([cycle, end]) => {
      const at = instantOf(cycle, outcome);
      const count = transitions.find((one) => one.cycle === cycle && limiting.has(one.to))?.count ?? 0;
      return at === undefined ? [] : [{ id, rule, cycle, at, count, cycles: end - cycle }];
    }),
  );
  if (entries.length === 0) return [];
  entries.sort((a, b) => a.cycle - b.cycle);
  // Of a rule the count only says that it refused.
  const hasCounts = entries.every(({ rule }) => rule === undefined);
  const rows = entries
    .slice(0, MOST_ENTRIES)
    .map(({ id, cycle, at, count, cycles }) => [
      at,
      number(cycle - (first_cycle ?? 0)),
      cycles === 0 ? 'less than a cycle' : spanWords(cycles, cycle_ms),
      ...(hasCounts ? [number(count)] : []),
      ...(contracts > 1 ? [id] : []),
    ]);
  const titles = [
    'limiting from',
    'cycle',
    'for',
    ...(hasCounts ? ['count'] : []),
    ...(contracts > 1 ? ['contract'] : []),
  ];
  const rest = entries.length - rows.length;
  return [
    ...alignedTable(
      titles.map((title) => ({ title, right: title === 'cycle' || title === 'count' })),
      rows,
      width,
    ),
    ...(rest > 0 ? [`and ${number(rest)} more entries into limiting`] : []),
  ];
}

/** The limited contracts, if there are several contracts. */
function contractLines({ contracts, by_contract, cycle_ms }: Outcome, width: number): string[] {
  const limited = by_contract.filter((contract) => contract.limited > 0);
  if (contracts < 2 || limited.length === 0) return [];
  const shown = limited.slice(0, MOST_CONTRACTS);
  const rows = shown.map(({ id, requests, limited: n, entries, limiting_cycles, peak_count }) => [
    id,
    number(requests),
    number(n),
    share(n, requests),
    number(entries),
    duration(limiting_cycles * cycle_ms),
    number(peak_count),
  ]);
  const titles = ['contract', 'requests', 'limited', 'share', 'entries', 'limiting', 'peak'];
  const rest = limited.length - shown.length;
  return [
    ...alignedTable(
      titles.map((title, index) => ({ title, right: index > 0 })),
      rows,
      width,
    ),
    ...(rest > 0 ? [`and ${number(rest)} more with limited requests`] : []),
  ];
}

function differenceLines(outcome: Outcome, width: number): string[] {
  const { comparison } = outcome;
  if (comparison === undefined || comparison.differences_total === 0) return [];
  const shown = comparison.differences.slice(0, MOST_DIFFERENCES);
  const rows = shown.map(({ contract, cycle, figure, predicted, observed, note }) => [
    contract,
    cycleWords(cycle, outcome),
    figure,
    String(predicted ?? 'none'),
    String(observed ?? 'none'),
    note ?? '',
  ]);
  const titles = ['contract', 'cycle', 'figure', 'predicted', 'observed', ''];
  const rest = comparison.differences_total - shown.length;
  return [
    ...alignedTable(
      titles.map((title, index) => ({ title, right: index === 1 })),
      rows,
      width,
    ),
    ...(rest > 0 ? [`and ${number(rest)} more differences`] : []),
  ];
}

/** Several runs in one table: a line for each, the verdict first. Ends with a line feed. Empty for no runs. */
export function summaryText(outcomes: readonly Outcome[], terminal: Terminal = plainTerminal): string {
  if (outcomes.length === 0) return '';
  const titles = ['verdict', 'scenario', 'requests', 'limited', 'share', 'entries', 'limiting', 'peak', 'expectations'];
  const rows = outcomes.map((outcome) => [
    `${verdictView(outcome).sign} ${verdictView(outcome).words}`,
    outcome.scenario,
    number(outcome.requests),
    number(outcome.limited),
    share(outcome.limited, outcome.requests),
    number(outcome.entries),
    duration(outcome.limiting_cycles * outcome.cycle_ms),
    number(outcome.peak_count),
    outcome.expectations.length === 0
      ? '–'
      : `${outcome.expectations.filter(({ held }) => held).length}/${outcome.expectations.length}`,
  ]);
  const [headLine = '', ...lines] = alignedTable(
    titles.map((title, index) => ({ title, right: index > 1 })),
    rows,
    Math.max(40, terminal.columns),
  );
  const broken = outcomes.filter(({ verdict }) => verdict !== 'held' && verdict !== 'nothing expected').length;
  const sentence =
    broken === 0
      ? outcomes.every((outcome) => verdictView(outcome).hue === 'good')
        ? `All of ${counted(outcomes.length, 'run')} held.`
        : 'Nothing that was expected failed.'
      : `${broken} of ${counted(outcomes.length, 'run')} did not hold.`;
  const coloured = lines.map((line, index) => hued(line, hues[verdictView(outcomes[index]!).hue], terminal));
  const text = `${[hued(headLine, 'strong', terminal), ...coloured, '', sentence].join('\n')}\n`;
  return terminal.unicode ? text : asciiOnly(text);
}
