// The page of rules side by side: when each of them refuses, as a heat map; the table; who is newly refused.
import type { LogComparison } from '../../sizing/compare-logs.js';
import { palettes } from '../../web/chart/palette.js';
import type { ChartSpec } from '../../web/chart/spec.js';
import type { ReportData } from '../../web/report-data.js';
import {
  changedHeads,
  changedRows,
  changesSentence,
  type PolicyChanges,
  ruleHeads,
  ruleLegend,
  ruleRows,
} from '../rules-text.js';
import { counted, duration } from '../words.js';
import { type Html, html } from './html.js';
import { chartFigure, pageDocument } from './page.js';

export interface ComparedReport extends LogComparison {
  /** Of the log. */
  readonly name: string;
  /** Where the rules are policies: what the second changes. */
  readonly changes: PolicyChanges | undefined;
  readonly command: string;
}

/** The share that each rule refuses, by time: a row for each rule. */
export function refusalsChart({ rules, timeline }: Pick<LogComparison, 'rules' | 'timeline'>): ChartSpec {
  const { startMs, partMs, requests, refused } = timeline;
  const values = refused.map((ofRule) =>
    ofRule.map((n, part) => (requests[part] === 0 ? null : Math.round((1000 * n) / requests[part]!) / 10)),
  );
  const isLong = partMs * requests.length > 86_400_000;
  const at = (part: number) => new Date(startMs + part * partMs).toISOString().replace('T', ' ');
  const names = requests.map((_, part) => (isLong ? at(part).slice(5, 16) : at(part).slice(11, 19)));
  const high = Math.max(1, ...values.flat().map((value) => value ?? 0));
  return {
    id: 'panel-0',
    title: 'Requests refused, in %',
    about: `Each column is ${duration(partMs)} of the log; empty where nothing came. Times in UTC.`,
    x: { kind: 'values', title: 'from', from: -0.5, to: names.length - 0.5, names },
    yTitle: 'rule',
    lines: [],
    shades: [],
    marks: [],
    heat: { names: rules.map(({ name }) => name), values, low: 0, high },
    height: Math.min(560, 130 + 34 * rules.length),
  };
}

/** @param files names of the files beside the page */
export function comparedHtml(report: ComparedReport, files: readonly string[]): string {
  const { rules, keys, name, changes, command } = report;
  const chart = refusalsChart(report);
  const body = html`<header><p class="verdict open"><b>${rules.length} rules</b> on ${counted(rules[0]!.requests, 'request')} of ${counted(keys, 'key')}</p>
<button type="button" id="theme" aria-label="Switch between light and dark">Light / dark</button></header>
<h1>Rules side by side on ${name}</h1>
<main>${chartFigure(chart)}
<h2>Rules</h2>${tableOf(ruleHeads, ruleRows(rules), 1)}<p class="facts">${ruleLegend}</p>
${changes === undefined ? '' : html`<h2>What changes</h2><p>${changesSentence(changes)}</p>${tableOf(changedHeads, changedRows(changes), 1)}`}
<h2>Run it again</h2><pre tabindex="0">${command}</pre>
<p class="facts">Beside this page: ${files.map((file, index) => html`${index === 0 ? '' : ', '}<a href="${file}">${file}</a>`)}</p></main>`;
  const transitions = { contracts: [], states: [], rows: [] };
  const data: ReportData = { charts: [chart], palettes, transitions, firstCycle: 0, cycleMs: 1 };
  return pageDocument(`Rules side by side on ${name}`, body, data);
}

/** @param from the first column of numbers */
function tableOf(heads: readonly string[], rows: readonly (readonly (string | number)[])[], from: number): Html {
  const cell = (text: string | number, index: number) =>
    html`<td${index >= from ? html` class="n"` : ''} data-title="${heads[index]!}">${text}</td>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${heads.map((head, index) => html`<th scope="col"${index >= from ? html` class="n"` : ''}>${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map(cell)}</tr>`)}</tbody></table></div>`;
}
