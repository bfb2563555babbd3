// An outcome as Markdown for a pull request: verdict, expectations, figures, and the rest in collapsed sections.
import type { Outcome } from '../outcome/outcome-schema.js';
import type { ChartSpec } from '../web/chart/spec.js';
import { figures, figureText, meanText, meanTitle } from './figures.js';
import { commandOf, type Reported } from './reported.js';
import { cycleWords, foundWords, number, readSentences, verdictSentence, verdictView } from './words.js';

const MOST_ROWS = 20;
const emoji = { held: '✅', 'nothing expected': '➖', 'not held': '❌', differs: '⚠️', invalid: '🚫' } as const;

/** @param charts pictures in the folder `charts/` beside the file */
export function markdownText(reported: Reported, charts: readonly ChartSpec[] = []): string {
  const { outcome } = reported;
  const { verdict, scenario, question, notes = [] } = outcome;
  const { words, hue } = verdictView(outcome);
  const blocks = [
    `### ${verdict === 'held' && hue === 'open' ? '➖' : emoji[verdict]} ${markdownCell(scenario)}: ${words}`,
    markdownCell(verdictSentence(outcome)),
    ...(question === undefined ? [] : [`> ${markdownCell(question)}`]),
    ...expectationTable(outcome),
    figureTable(outcome),
    ...differenceTable(outcome),
    ...notes.map(markdownCell),
    ...(outcome.read === undefined ? [] : [readSentences(outcome).map(markdownCell).join(' ')]),
    ...charts.map(({ id, title, about }) => `![${markdownCell(title)}: ${markdownCell(about)}](charts/${id}.png)`),
    ...contractTable(outcome),
    again(reported),
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** Escapes foreign text for a line or a table cell: it can neither end them nor contain markup. */
export function markdownCell(text: string): string {
  return text
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\\`*_[\]<>|#~!]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('@', '@\u200b');
}

/** Foreign text as code in a table cell: the fence is longer than any run of backticks in it, and bars are escaped. */
function codeCell(text: string): string {
  const plain = text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').replaceAll('|', '\\|');
  const fence = '`'.repeat(longestFence(plain) + 1);
  return plain.includes('`') ? `${fence} ${plain} ${fence}` : `${fence}${plain}${fence}`;
}

function longestFence(text: string): number {
  return [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 0);
}

export function markdownTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  textColumns = 1,
): string {
  const rule = titles.map((_, index) => (index < textColumns ? '---' : '---:'));
  return [titles, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function expectationTable(outcome: Outcome): string[] {
  if (outcome.expectations.length === 0) return [];
  const rows = outcome.expectations.map((one) => [
    one.held ? '✅' : '❌',
    markdownCell(one.name),
    codeCell(one.expected),
    one.held_in !== undefined
      ? foundWords(one, outcome)
      : one.actual === null
        ? '–'
        : typeof one.actual === 'number'
          ? number(one.actual)
          : markdownCell(one.actual),
  ]);
  return [markdownTable(['', 'Expectation', 'Condition', 'Found'], rows, 3)];
}

function figureTable(outcome: Outcome): string {
  const { replications } = outcome;
  const rows = figures.flatMap((figure) => {
    const value = figure.of(outcome);
    if (value === undefined) return [];
    const mean = replications === undefined ? [] : [meanText(figure, outcome) ?? ''];
    return [[figure.label, figureText(figure, value, outcome.cycle_ms), ...mean]];
  });
  return markdownTable(['Figure', 'Value', ...(replications === undefined ? [] : [meanTitle(replications)])], rows);
}

function differenceTable(outcome: Outcome): string[] {
  const { comparison } = outcome;
  if (comparison === undefined || comparison.differences_total === 0) return [];
  const rows = comparison.differences
    .slice(0, MOST_ROWS)
    .map(({ cycle, contract, figure, predicted, observed }) => [
      markdownCell(contract),
      markdownCell(figure),
      cycleWords(cycle, outcome),
      markdownCell(String(predicted ?? '–')),
      markdownCell(String(observed ?? '–')),
    ]);
  const rest = comparison.differences_total - rows.length;
  return [
    markdownTable(['Contract', 'Figure', 'Cycle', 'Predicted', 'Observed'], rows, 2),
    ...(rest > 0 ? [`and ${number(rest)} more differences`] : []),
  ];
}

function contractTable({ contracts, by_contract }: Outcome): string[] {
  const limited = by_contract.filter((contract) => contract.limited > 0).slice(0, MOST_ROWS);
  if (contracts < 2 || limited.length === 0) return [];
  const rows = limited.map((one) => [
    markdownCell(one.id),
    ...[one.requests, one.limited, one.entries, one.limiting_cycles, one.peak_count].map(number),
  ]);
  const table = markdownTable(['Contract', 'Requests', 'Limited', 'Entries', 'Limiting cycles', 'Peak'], rows);
  return [`<details><summary>Contracts with most limited requests</summary>\n\n${table}\n\n</details>`];
}

/** The fence is longer than any run of backticks in the command, so the command cannot end it. */
function again(reported: Reported): string {
  const { weir, digest, seed } = reported.outcome;
  const command = commandOf(reported).replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ');
  const fence = '`'.repeat(Math.max(3, longestFence(command) + 1));
  const facts = `weir ${markdownCell(weir)}, seed ${markdownCell(String(seed))}, digest \`${digest.slice(0, 23)}\``;
  return `<details><summary>Run it again</summary>\n\n${fence}sh\n${command}\n${fence}\n\n${facts}\n\n</details>`;
}
