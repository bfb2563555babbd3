// The page of a document: one self-contained file that runs only its own scripts; that of a run has a table of its transitions, which
// the script fills.
import { bundled } from '../../core/files/bundled.js';
import type { Outcome } from '../../harness/outcome/outcome-schema.js';
import { chartsIn, type ReportDocument } from '../block.js';
import { palettes } from '../chart-specs/palette.js';
import type { Reported } from '../reported.js';
import { runDocument } from '../run-document.js';
import { capital, contractWord, counted, number, plain } from '../words.js';
import { blocksHtml, codeHtml, heightStyle } from './blocks.js';
import { type Html, hashed, html, htmlDocument, scriptJson, unbroken } from './html.js';
import type { TransitionRows } from './report-data.js';

interface PageParts {
  readonly files?: readonly string[];
  readonly before?: Html | string;
  readonly after?: Html | string;
  readonly data?: object;
  readonly script?: 'report.js' | 'sweep.js' | 'recommend.js';
}

export function pageHtml(reported: Reported, files: readonly string[] = []): string {
  const { outcome } = reported;
  const transitions = transitionRows(outcome);
  const { cycle_ms, first_cycle } = outcome;
  return documentPage(runDocument(reported, 'documents'), {
    files,
    after: transitionsSection(outcome, transitions),
    data: { transitions, firstCycle: first_cycle ?? 0, cycleMs: cycle_ms },
  });
}

/** Limits the size of the page; outcome.json has all. */
const MOST_ROWS = 20_000;

function transitionRows({ by_contract, first_cycle }: Outcome): TransitionRows {
  const start = first_cycle ?? 0;
  const states = [...new Set(by_contract.flatMap(({ transitions }) => transitions.map(({ to }) => to)))];
  const rows = by_contract.flatMap(({ rule, transitions }, contract) =>
    transitions.map(({ cycle, to, count }, index) => {
      const next = transitions[index + 1];
      return [
        contract,
        cycle - start,
        states.indexOf(to),
        rule === undefined ? count : null,
        next === undefined ? null : next.cycle - cycle,
      ] as const;
    }),
  );
  rows.sort((a, b) => a[1] - b[1] || a[0] - b[0]);
  return { contracts: by_contract.map(({ id }) => plain(id)), states, rows: rows.slice(0, MOST_ROWS) };
}

function transitionsSection(outcome: Outcome, { states, rows }: TransitionRows): Html {
  const all = outcome.by_contract.reduce((sum, { transitions }) => sum + transitions.length, 0);
  if (rows.length === 0) return html`<h2>Transitions</h2><p>No ${contractWord(outcome)} changed its state.</p>`;
  const cut =
    rows.length < all
      ? `The first ${number(rows.length)} of ${number(all)}; all are in outcome.json.`
      : `${counted(all, 'transition')}.`;
  const columns = [contractWord(outcome), 'cycle', 'to', 'count', 'lasted'];
  const isNumber = [false, true, false, true, true];
  return html`<h2 id="transitions-title">Transitions</h2>
<p class="quiet">${cut}</p>
<form id="choice">
<label>${capital(contractWord(outcome))} or cycle <input id="filter" type="search" autocomplete="off" spellcheck="false"></label>
<label>To <select id="state"><option value="">any state</option>${states.map((state) => html`<option>${state}</option>`)}</select></label>
</form>
<div class="wide"><table id="transitions" aria-labelledby="transitions-title">
<thead><tr>${columns.map((column, index) => html`<th scope="col"${isNumber[index] ? html` class="n"` : ''}${index === 1 ? html` aria-sort="ascending"` : ''}><button type="button">${column}</button></th>`)}</tr></thead>
<tbody id="rows"></tbody></table></div>
<p class="row pager"><button type="button" id="earlier">Earlier</button><span id="shown" role="status"></span><button type="button" id="later">Later</button></p>`;
}

export function documentPage(document: ReportDocument, parts: PageParts = {}): string {
  const { title, verdict, sentence, question, facts, blocks, again } = document;
  const { files = [], before = '', after = '', data = {}, script = 'report.js' } = parts;
  const mark = verdict === undefined ? '' : html`<b class="${verdict.hue}">${verdict.sign} ${verdict.words}</b> `;
  const links = files.map((file, index) => html`${index === 0 ? '' : ', '}<a href="${file}">${file}</a>`);
  const body = html`<header><h1>${title}</h1>
<button type="button" id="theme">Light / dark</button></header>
<main><p class="verdict" id="verdict">${mark}${sentence}</p>
${question === undefined ? '' : html`<p class="question">${question}</p>`}
${facts === undefined ? '' : html`<p class="quiet">${unbroken(facts)}</p>`}
${before}${blocksHtml(blocks)}${after}
${again === undefined ? '' : html`<h2>Run it again</h2>${codeHtml({ text: again.command, language: 'sh', below: again.facts })}`}
${files.length === 0 ? '' : html`<p class="quiet">Beside this page: ${links}</p>`}</main>`;
  const library = bundled('chart.umd.js');
  const code = bundled(script);
  const style = `${heightStyle}${bundled('weir.css')}`;
  const policy = `default-src 'none'; script-src ${hashed(library)} ${hashed(code)}; style-src ${hashed(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
  const heading = verdict === undefined ? title : `${verdict.words}: ${title}`;
  return htmlDocument(heading, policy, style, [
    body.text,
    '<footer>Written by Weir. Charts drawn with Chart.js (MIT licence).</footer></div>',
    `<script type="application/json" id="data">${scriptJson({ charts: chartsIn(document), palettes, ...data })}</script>`,
    `<script>${library}</script>`,
    `<script>${code}</script>`,
    '</body></html>\n',
  ]);
}
