// Blocks as HTML.
import {
  type Block,
  type CheckList,
  type Code,
  cellOf,
  type FiguresBlock,
  isRight,
  shownIn,
  type Table,
  type TableColumn,
  titleOf,
} from '../block.js';
import type { ChartSpec } from '../chart-specs/spec.js';
import { number } from '../words.js';
import { Html, type HtmlPart, html, unbroken } from './html.js';

/** Charts and code after a titled block belong to it: their titles are one level lower. */
export function blocksHtml(blocks: readonly Block[]): Html[] {
  const shown = shownIn(blocks, 'documents');
  const first = shown.findIndex(({ title }) => title !== undefined);
  return shown.flatMap((block, index) => {
    const level = first >= 0 && index > first ? 3 : 2;
    if (block.title === undefined) return [blockHtml(block, level)];
    return [heading(block.kind === 'code' ? level : 2, block.title), blockHtml(block, 3)];
  });
}

function heading(level: 2 | 3, title: string): Html {
  return level === 2 ? html`<h2>${title}</h2>\n` : html`<h3>${title}</h3>\n`;
}

function blockHtml(block: Block, level: 2 | 3): Html {
  switch (block.kind) {
    case 'sentence':
      return html`<p${block.hue === 'bad' ? html` class="warning"` : ''}>${unbroken(block.text)}</p>\n`;
    case 'figures':
      return figuresHtml(block);
    case 'checks':
      return checksHtml(block);
    case 'table':
      return tableHtml(block);
    case 'chart':
      return chartFigure(block.spec, level);
    case 'code':
      return codeHtml(block);
  }
}

function figuresHtml({ rows, meanTitle }: FiguresBlock): Html {
  return html`<dl class="figures">${rows.map(({ label, value, beside, mean }) => {
    const below = beside === undefined ? '' : html`<small>${beside}</small>`;
    const means = mean === undefined || meanTitle === undefined ? '' : html`<small>${meanTitle}: ${mean}</small>`;
    return html`<div><dt>${label}</dt><dd>${value}${below}${means}</dd></div>`;
  })}</dl>\n`;
}

function checksHtml({ rows, title = 'Expectations' }: CheckList): Html {
  const words = { passed: '✔ yes', failed: '✘ no', error: '! error', skipped: '– not yet' };
  const hues = { passed: 'good', failed: 'bad', error: 'bad', skipped: '' };
  return tableOf(
    title,
    ['held', 'expectation', 'condition', 'found'],
    rows.map(({ name, condition = '', found = '', result }) => [
      html`<td data-title="held" class="${hues[result]}">${words[result]}</td>`,
      html`<td data-title="expectation"><span>${name}</span></td>`,
      html`<td data-title="condition"><code>${condition}</code></td>`,
      html`<td data-title="found"><span>${found}</span></td>`,
    ]),
  );
}

function tableHtml({ columns, rows, keep, title = 'Table', total = rows.length }: Table): Html {
  const body = rows.map((row) =>
    row.map((cell, index) => {
      const column = columns[index]!;
      const { text, beside, hue } = cellOf(cell);
      const classes = [isRight(column) ? 'n' : '', hue ?? '', /^█+$/.test(text) ? 'tally' : ''];
      const small = beside === undefined || beside === '' ? '' : html`<small>${beside}</small>`;
      if (index === 0 && keep !== undefined) return html`<th scope="row">${text}</th>`;
      return html`<td${classOf(classes)} data-title="${titleOf(column)}"><span>${unbroken(text)}${small}</span></td>`;
    }),
  );
  const rest =
    total > rows.length ? html`<p class="quiet">The first ${number(rows.length)} of ${number(total)}.</p>` : '';
  return html`${tableOf(title, columns, body, keep === undefined)}${rest}`;
}

function tableOf(
  label: string,
  columns: readonly TableColumn[],
  rows: readonly (readonly Html[])[],
  stacks = true,
): Html {
  const heads = columns.map((column) =>
    column === ''
      ? html`<td></td>`
      : html`<th scope="col"${classOf([isRight(column) ? 'n' : ''])}>${titleOf(column)}</th>`,
  );
  return html`<div class="${stacks ? 'scroll' : 'wide'}" tabindex="0" role="region" aria-label="${label}"><table${classOf([stacks ? 'stack' : ''])}><thead><tr>${heads}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row}</tr>\n`)}</tbody></table></div>\n`;
}

function classOf(names: readonly string[]): HtmlPart {
  const given = names.filter((name) => name !== '').join(' ');
  return given === '' ? '' : html` class="${given}"`;
}

/** Foreign control characters become a dot; this one stays. */
const LINE_FEED = new Html('\n');

export function codeHtml({ text, language, below }: Pick<Code, 'text' | 'language' | 'below'>): Html {
  const lines = text.split('\n').map((line, index) => html`${index === 0 ? '' : LINE_FEED}${line}`);
  // An option and its value stay on one line.
  const parts = text
    .split(/ (?=--)/)
    .map((part, index) => html`${index === 0 ? '' : ' '}<span class="whole">${part}</span>`);
  return html`<pre tabindex="0">${language === 'sh' ? parts : lines}</pre>\n${below === undefined ? '' : html`<p class="quiet">${below}</p>\n`}`;
}

type Drawn = Pick<ChartSpec, 'title' | 'about' | 'height'> & { readonly id: string };

export function chartFigure({ id, title, about, height }: Drawn, level: 2 | 3 = 3): Html {
  // Heights are classes: the page's policy forbids inline styles.
  return html`<figure>${heading(level, title)}<figcaption>${unbroken(about)}</figcaption><div class="chart h${Math.ceil(height / HEIGHT_STEP)}"><canvas id="chart-${id}" role="img" aria-label="${title}. ${about}"></canvas></div></figure>\n`;
}

const HEIGHT_STEP = 40;
export const heightStyle = Array.from(
  { length: 27 },
  (_, index) => `.h${index + 3}{height:${(index + 3) * HEIGHT_STEP}px}`,
).join('');
