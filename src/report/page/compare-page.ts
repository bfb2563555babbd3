// The page of rules side by side: when each of them refuses, as a heat map; the table; who is newly refused.
import type { LogComparison } from '../../sizing/compare-logs.js';
import { palettes } from '../../web/chart/palette.js';
import type { ReportData } from '../../web/report-data.js';
import { refusalsChart } from '../chart/rules.js';
import { changedHeads, changedRows, changesSentence, type PolicyChanges } from '../rules-text.js';
import { counted } from '../words.js';
import { html } from './html.js';
import { chartFigure, pageDocument } from './page.js';
import { rulesTable, tableOf } from './rules-table.js';

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
<button type="button" id="theme">Light / dark</button></header>
<main><h1>Rules side by side on ${name}</h1>
${chartFigure(chart)}
<h2>Rules</h2>${rulesTable(rules)}
${changes === undefined ? '' : html`<h2>What changes</h2><p>${changesSentence(changes)}</p>${tableOf(changedHeads, changedRows(changes))}`}
<h2>Run it again</h2><pre tabindex="0">${command}</pre>
<p class="facts">Beside this page: ${files.map((file, index) => html`${index === 0 ? '' : ', '}<a href="${file}">${file}</a>`)}</p></main>`;
  const transitions = { contracts: [], states: [], rows: [] };
  const data: ReportData = { charts: [chart], palettes, transitions, firstCycle: 0, cycleMs: 1 };
  return pageDocument(`Rules side by side on ${name}`, body, data);
}
