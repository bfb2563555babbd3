// Lists the reports of a folder: search, open, compare two. It has no script.
import type { Outcome } from '../../outcome/outcome-schema.js';
import { bundled } from '../../web/bundled.js';
import { counted, number, verdictView } from '../words.js';
import { type Html, hashed, html, htmlDocument } from './html.js';

export interface ListedReport {
  readonly path: string;
  readonly writtenAt: string;
  readonly kind?: string;
  readonly outcome?: Pick<
    Outcome,
    'scenario' | 'question' | 'kind' | 'seed' | 'verdict' | 'partial' | 'requests' | 'limited'
  >;
}

export function reportsHtml(folder: string, reports: readonly ListedReport[], query: string): string {
  const words = query.toLowerCase().split(/\s+/);
  const found = reports.filter(({ path, outcome, kind = 'report' }) => {
    const text = `${path} ${outcome?.scenario ?? ''} ${outcome?.question ?? ''} ${outcome === undefined ? '' : verdictView(outcome).words} ${outcome?.kind ?? kind}`;
    return words.every((word) => text.toLowerCase().includes(word));
  });
  const shown = found.length === reports.length ? '' : `${number(found.length)} of `;
  const body = html`<header><div><h1>Reports</h1><p class="quiet">${shown}${counted(reports.length, 'report')} in ${folder}</p></div></header>
<main><form role="search" action="/"><label>Search<input type="search" name="q" value="${query}"></label><button>Search</button></form>
${found.length === 0 ? html`<p>${reports.length === 0 ? 'There is no report yet: every run writes one.' : 'No report has these words.'}</p>` : listOf(found)}</main>`;
  const style = bundled('weir.css');
  const policy = `default-src 'none'; style-src ${hashed(style)}; base-uri 'none'; form-action 'self'`;
  return htmlDocument('Reports', policy, style, [body.text, '</div></body></html>\n']);
}

function listOf(reports: readonly ListedReport[]): Html {
  return html`<form action="/compare"><div class="scroll" tabindex="0" role="region" aria-label="Reports">
<table class="stack"><thead><tr><th>report</th><th>verdict</th><th class="n">requests</th><th class="n">limited</th><th>written</th><th>side by side</th></tr></thead>
<tbody>${reports.map(rowOf)}</tbody></table></div>
<p><button>Put the chosen ones side by side</button></p></form>`;
}

function rowOf({ path, writtenAt, outcome, kind = 'report' }: ListedReport): Html {
  const about = outcome === undefined ? kind : `${outcome.kind}, seed ${outcome.seed}`;
  const choice =
    outcome === undefined
      ? ''
      : html`<input type="checkbox" name="run" value="${path}" aria-label="${path} side by side with others">`;
  const view = outcome === undefined ? undefined : verdictView(outcome);
  return html`<tr><td data-title="report"><span><a href="/run/${path.split('/').map(encodeURIComponent).join('/')}/">${path}</a><small>${outcome?.question ?? ''} (${about})</small></span></td>
<td data-title="verdict">${view === undefined ? '' : html`<span class="${view.hue}">${view.words}</span>`}</td>
<td class="n" data-title="requests">${outcome === undefined ? '' : number(outcome.requests)}</td>
<td class="n" data-title="limited">${outcome === undefined ? '' : number(outcome.limited)}</td>
<td data-title="written">${writtenAt.slice(0, 16).replace('T', ' ')}</td>
<td data-title="side by side">${choice}</td></tr>`;
}
