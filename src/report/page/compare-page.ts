// The page of rules side by side: when each of them refuses, as a heat map; the table; who is newly refused.
import type { ComparedRule } from '../../outcome/compared-rules.js';
import type { LogComparison } from '../../sizing/compare-logs.js';
import { palettes } from '../../web/chart/palette.js';
import type { ReportData } from '../../web/report-data.js';
import { refusalsChart } from '../chart/rules.js';
import { changedHeads, changedRows, changesSentence, type PolicyChanges, ruleTable } from '../rules-text.js';
import { counted, number } from '../words.js';
import { type Html, html } from './html.js';
import { chartFigure, pageDocument } from './page.js';

export interface ComparedReport extends LogComparison {
  /** Of the log. */
  readonly name: string;
  /** Where the rules are policies: what the second changes. */
  readonly changes: PolicyChanges | undefined;
  readonly command: string;
}

/** @param files names of the files beside the page */
export function comparedHtml(report: ComparedReport, files: readonly string[]): string {
  const { rules, keys, name, changes, command } = report;
  const chart = refusalsChart(report);
  const body = html`<header><p class="verdict open"><b>${rules.length} rules</b> on ${counted(rules[0]!.requests, 'request')} of ${counted(keys, 'key')}</p>
<button type="button" id="theme" aria-label="Switch between light and dark">Light / dark</button></header>
<h1>Rules side by side on ${name}</h1>
<main>${chartFigure(chart)}
<h2>Rules</h2>${rulesTable(rules)}
${changes === undefined ? '' : html`<h2>What changes</h2><p>${changesSentence(changes)}</p>${tableOf(changedHeads, changedRows(changes))}`}
<h2>Run it again</h2><pre tabindex="0">${command}</pre>
<p class="facts">Beside this page: ${files.map((file, index) => html`${index === 0 ? '' : ', '}<a href="${file}">${file}</a>`)}</p></main>`;
  const transitions = { contracts: [], states: [], rows: [] };
  const data: ReportData = { charts: [chart], palettes, transitions, firstCycle: 0, cycleMs: 1 };
  return pageDocument(`Rules side by side on ${name}`, body, data);
}

/** The table of rules, with what its columns mean. */
export function rulesTable(rules: readonly ComparedRule[]): Html {
  const { heads, rows, legend } = ruleTable(rules);
  return html`${tableOf(heads, rows)}<p class="facts">${legend}</p>`;
}

/** All columns but the first are numbers. */
function tableOf(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): Html {
  const cell = (text: string | number, index: number) =>
    html`<td${index > 0 ? html` class="n"` : ''} data-title="${heads[index]!}">${typeof text === 'number' ? number(text) : text}</td>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${heads.map((head, index) => html`<th scope="col"${index > 0 ? html` class="n"` : ''}>${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map(cell)}</tr>`)}</tbody></table></div>`;
}
