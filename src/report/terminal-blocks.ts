// Documents as text for a terminal.
import { type Block, briefRows, cellOf, type ReportDocument, shownIn, type Table, type TableCell } from './block.js';
import { chartLines } from './terminal-chart.js';
import { alignedTable, asciiOnly, type Hue, hued, shownName, type Terminal, wrapped } from './terminal-text.js';

export const plainTerminal: Terminal = { columns: 100, color: false, unicode: true };

const LEAST_COLUMNS = 40;
const LONGEST_SENTENCE = 2_000;
const hues: Readonly<Record<'good' | 'open' | 'bad', Hue>> = { good: 'good', open: 'faint', bad: 'bad' };

export function documentText(document: ReportDocument, terminal: Terminal = plainTerminal): string {
  const parts = [headLines(document, terminal).join('\n'), blocksText(document.blocks, terminal)];
  return `${inCharset(parts.filter((part) => part !== '').join('\n\n'), terminal)}\n`;
}

export function blocksText(blocks: readonly Block[], terminal: Terminal): string {
  const wide = { ...terminal, columns: Math.max(LEAST_COLUMNS, terminal.columns) };
  const texts = shownIn(blocks, 'terminal').flatMap((block) => {
    const lines = linesOf(block, wide);
    const head =
      block.title === undefined
        ? []
        : wrapped(shownName(block.title, LONGEST_SENTENCE), terminal.uncut === true ? LONGEST_SENTENCE : wide.columns);
    return lines.length === 0 ? [] : [[...head.map((line) => hued(line, 'strong', terminal)), ...lines].join('\n')];
  });
  return inCharset(texts.join('\n\n'), terminal);
}

function inCharset(text: string, { unicode }: Terminal): string {
  return unicode ? text : asciiOnly(text);
}

function headLines({ title, besides, verdict, sentence, question }: ReportDocument, terminal: Terminal): string[] {
  const columns = Math.max(LEAST_COLUMNS, terminal.columns);
  const mark =
    verdict === undefined ? '' : `${hued(`${verdict.sign} ${verdict.words}`, hues[verdict.hue], terminal)}  `;
  const beside = besides === undefined ? '' : `, ${shownName(besides, 60)}`;
  return [
    ...(title === '' ? [] : [`${mark}${hued(shownName(title, columns), 'strong', terminal)}${beside}`]),
    ...(sentence === '' ? [] : wrapped(shownName(sentence, LONGEST_SENTENCE), columns)),
    ...(question === undefined
      ? []
      : wrapped(shownName(question, LONGEST_SENTENCE), columns).map((line) => hued(line, 'faint', terminal))),
  ];
}

function linesOf(block: Block, terminal: Terminal): string[] {
  const { columns } = terminal;
  switch (block.kind) {
    case 'sentence': {
      const lines = wrapped(shownName(block.text, LONGEST_SENTENCE), columns);
      return block.hue === undefined ? lines : lines.map((line) => hued(line, block.hue!, terminal));
    }
    case 'figures': {
      const { rows, meanTitle } = block;
      const heads = meanTitle === undefined ? ['', ''] : ['', 'this run', meanTitle];
      const cells = rows.map(({ label, value, beside, mean }) => [
        label,
        beside === undefined ? value : `${value} (${beside})`,
        ...(meanTitle === undefined ? [] : [mean ?? '']),
      ]);
      const lines = alignedTable(heads, cells, columns);
      return meanTitle === undefined ? lines.slice(1) : lines;
    }
    case 'checks':
      return block.rows.flatMap(({ name, condition, found, result }) => {
        const sign = { passed: '✔', failed: '✘', error: '!', skipped: '–' }[result];
        const words = [name, condition].flatMap((text) => (text ? [shownName(text)] : [])).join(': ');
        const hue = result === 'passed' ? 'good' : result === 'skipped' ? 'faint' : 'bad';
        const whole = `${words}${found === undefined ? '' : ` → ${shownName(found)}`}`;
        const lines = wrapped(whole, terminal.uncut === true ? LONGEST_SENTENCE : columns - 2);
        return lines.map((line, index) => `${index === 0 ? hued(sign, hue, terminal) : ' '} ${line}`);
      });
    case 'table':
      return tableLines(block, terminal);
    case 'chart':
      return chartLines(block.spec, terminal);
    case 'code':
      return [
        ...(block.below
          ? wrapped(`# ${shownName(block.below, LONGEST_SENTENCE)}`, columns - 4).map(
              (line, index) => `  ${index === 0 ? '' : '# '}${line}`,
            )
          : []),
        ...block.text.split('\n').map((line) => `  ${shownName(line, LONGEST_SENTENCE)}`),
      ];
  }
}

function tableLines(table: Table, terminal: Terminal): string[] {
  const { shown, rest } = briefRows(table);
  const below = rest === undefined ? [] : [rest];
  const whole = aligned(table, shown, Number.POSITIVE_INFINITY, terminal);
  const fits = terminal.uncut === true || whole.every(({ width }) => width <= terminal.columns);
  if (fits || table.keep === undefined) {
    const cut = fits ? whole : aligned(table, shown, terminal.columns, terminal);
    return [...cut.map(({ text }) => text), ...below];
  }
  return [...partsOf(table, shown, terminal).flatMap((lines, part) => (part === 0 ? lines : ['', ...lines])), ...below];
}

function partsOf(
  { columns, keep = 1, ...table }: Table,
  rows: readonly (readonly TableCell[])[],
  terminal: Terminal,
): string[][] {
  const others = columns.length - keep;
  for (let most = others - 1; most >= 1; most -= 1) {
    const parts = Array.from({ length: Math.ceil(others / most) }, (_, part) => {
      const pick = <T>(all: readonly T[]) => [
        ...all.slice(0, keep),
        ...all.slice(keep + part * most, keep + (part + 1) * most),
      ];
      const width = most === 1 ? terminal.columns : Number.POSITIVE_INFINITY;
      return aligned({ ...table, columns: pick(columns) }, rows.map(pick), width, terminal);
    });
    if (most === 1 || parts.flat().every(({ width }) => width <= terminal.columns))
      return parts.map((lines) => lines.map(({ text }) => text));
  }
  return [];
}

/** Widths ignore colours. The side text of a cell has its own column. */
function aligned(
  { columns }: Pick<Table, 'columns'>,
  rows: readonly (readonly TableCell[])[],
  width: number,
  terminal: Terminal,
): { readonly text: string; readonly width: number }[] {
  const cells = rows.map((row) => row.map(cellOf));
  const besides = columns.map((_, column) =>
    Math.max(0, ...cells.map((row) => [...(row[column]?.beside ?? '')].length)),
  );
  const texts = cells.map((row) =>
    row.map(({ text, beside = '' }, column) =>
      besides[column] === 0 ? text : `${text}  ${beside.padEnd(besides[column]!)}`,
    ),
  );
  const lines = alignedTable(
    columns.map((column, index) => {
      if (typeof column === 'string') return column;
      return {
        ...column,
        title: besides[index] === 0 ? column.title : `${column.title}${' '.repeat(2 + besides[index]!)}`,
      };
    }),
    texts,
    width,
  );
  return lines.map((line, index) => {
    const isBad = index > 0 && cells[index - 1]?.some(({ hue }) => hue === 'bad') === true;
    const isGood = index > 0 && !isBad && cells[index - 1]?.some(({ hue }) => hue === 'good') === true;
    const hue = index === 0 ? 'strong' : isBad ? 'bad' : isGood ? 'good' : undefined;
    return { text: hue === undefined ? line : hued(line, hue, terminal), width: [...line].length };
  });
}
