// The table of rules side by side, on the page of a comparison and on that of a run.
import type { ComparedRule } from '../../outcome/compared-rules.js';
import { ruleTable } from '../rules-text.js';
import { number } from '../words.js';
import { type Html, html } from './html.js';

/** The table of rules, with what its columns mean. */
export function rulesTable(rules: readonly ComparedRule[]): Html {
  const { heads, rows, legend } = ruleTable(rules);
  return html`${tableOf(heads, rows)}<p class="facts">${legend}</p>`;
}

/** All columns but the first are numbers. */
export function tableOf(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): Html {
  const cell = (text: string | number, index: number) =>
    html`<td${index > 0 ? html` class="n"` : ''} data-title="${heads[index]!}">${typeof text === 'number' ? number(text) : html`<span class="whole">${text}</span>`}</td>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table class="stack"><thead><tr>${heads.map((head, index) => html`<th scope="col"${index > 0 ? html` class="n"` : ''}>${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map(cell)}</tr>`)}</tbody></table></div>`;
}
