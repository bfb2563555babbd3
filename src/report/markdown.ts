// Documents as Markdown, for a pull request or the summary of a CI step.
import {
  type Block,
  briefRows,
  cellOf,
  chartFile,
  isRight,
  type ReportDocument,
  shownIn,
  type TableColumn,
  titleOf,
} from './block.js';

const AGAIN = 'Run it again';
const signs = { good: '✅', open: '➖', bad: '❌' } as const;
const results = { passed: '✅', failed: '❌', error: '🚫', skipped: '➖' } as const;

export function documentMarkdown(document: ReportDocument, pictures: readonly string[] = []): string {
  const { title, verdict, sentence, question, facts, blocks, again } = document;
  const sign = verdict === undefined ? '' : `${signs[verdict.hue]} `;
  const words = verdict === undefined ? '' : `: ${verdict.words}`;
  const parts = [
    `### ${sign}${markdownCell(title)}${words}`,
    ...(sentence === '' ? [] : [markdownCell(sentence)]),
    ...(question === undefined ? [] : [`> ${markdownCell(question)}`]),
    ...(facts === undefined ? [] : [markdownCell(facts)]),
    ...shownIn(blocks, 'documents')
      .filter((block) => block.kind !== 'chart' || pictures.includes(chartFile(block.spec)))
      .flatMap(blockMarkdown),
    ...(again === undefined
      ? []
      : blockMarkdown({
          kind: 'code',
          title: AGAIN,
          text: again.command,
          language: 'sh',
          below: again.facts,
          folded: true,
        })),
  ];
  return `${parts.join('\n\n')}\n`;
}

function blockMarkdown(block: Block): string[] {
  const body = bodyOf(block);
  if (body === '') return [];
  const { title, folded = false } = block;
  if (folded) return [`<details><summary>${markdownCell(title ?? 'More')}</summary>\n\n${body}\n\n</details>`];
  return title === undefined ? [body] : [`#### ${markdownCell(title)}`, body];
}

function bodyOf(block: Block): string {
  switch (block.kind) {
    case 'sentence':
      return markdownCell(block.text);
    case 'figures': {
      const { rows, meanTitle } = block;
      const cells = rows.map(({ label, value, beside, mean }) => [
        markdownCell(label),
        beside === undefined ? value : `${value} (${beside})`,
        ...(meanTitle === undefined ? [] : [mean ?? '']),
      ]);
      const means = meanTitle === undefined ? [] : [meanTitle];
      return markdownTable(
        ['Figure', ...['Value', ...means].map((head) => ({ title: head, right: true as const }))],
        cells,
      );
    }
    case 'checks':
      return markdownTable(
        ['', 'Expectation', 'Condition', { title: 'Found', right: true }],
        block.rows.map(({ name, condition, found, result }) => [
          results[result],
          markdownCell(name),
          condition === undefined ? '' : codeCell(condition),
          markdownCell(found ?? ''),
        ]),
      );
    case 'table': {
      const { shown, rest } = briefRows(block);
      const cells = shown.map((row) =>
        row.map((cell) => {
          const { text, beside, hue } = cellOf(cell);
          const words = `${markdownCell(text)}${beside ? ` (${markdownCell(beside)})` : ''}`;
          return hue === 'bad' ? `**${words}**` : words;
        }),
      );
      return [markdownTable(block.columns, cells), ...(rest === undefined ? [] : [rest])].join('\n\n');
    }
    case 'chart': {
      const { title, about } = block.spec;
      return `![${markdownCell(title)}: ${markdownCell(about)}](${chartFile(block.spec)})`;
    }
    case 'code':
      return [fenced(block.text, block.language ?? ''), ...(block.below ? [markdownCell(block.below)] : [])].join(
        '\n\n',
      );
  }
}

/** Escapes foreign text for a line or a table cell, so that it can neither end it nor contain markup. */
function markdownCell(text: string): string {
  return text
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\\`*_[\]<>|#~!]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('@', '@\u200b');
}

function markdownTable(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string {
  const titles = columns.map((column) => markdownCell(titleOf(column)));
  const rule = columns.map((column) => (isRight(column) ? '---:' : '---'));
  return [titles, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Foreign text as code in a table cell: the fence is longer than any run of backticks, and bars are escaped. */
function codeCell(text: string): string {
  const plain = text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').replaceAll('|', '\\|');
  const fence = '`'.repeat(longestFence(plain) + 1);
  return plain.includes('`') ? `${fence} ${plain} ${fence}` : `${fence}${plain}${fence}`;
}

function fenced(text: string, language: string): string {
  const lines = text.split('\n').map((line) => line.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' '));
  const fence = '`'.repeat(Math.max(3, longestFence(text) + 1));
  return `${fence}${language}\n${lines.join('\n')}\n${fence}`;
}

function longestFence(text: string): number {
  return [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 0);
}
