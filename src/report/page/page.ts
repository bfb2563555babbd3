// The page of a document: one self-contained file that runs only its own scripts.
import { bundled } from '../../web/bundled.js';
import { palettes } from '../../web/chart/palette.js';
import { chartsIn, type ReportDocument } from '../block.js';
import type { Reported } from '../reported.js';
import { runDocument } from '../run-document.js';
import { blocksHtml, codeHtml, heightStyle } from './blocks.js';
import { type Html, hashed, html, htmlDocument, scriptJson, unbroken } from './html.js';
import { transitionRows, transitionsSection } from './transitions.js';

interface PageParts {
  readonly files?: readonly string[];
  readonly before?: Html | string;
  readonly after?: Html | string;
  readonly data?: object;
  readonly script?: ScriptName;
  readonly isLive?: boolean;
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

export function documentPage(document: ReportDocument, parts: PageParts = {}): string {
  const { title, verdict, sentence, question, facts, blocks, again } = document;
  const { files = [], before = '', after = '', data = {}, script = 'report.js', isLive = false } = parts;
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
  const style = reportStyle();
  const heading = verdict === undefined ? title : `${verdict.words}: ${title}`;
  return htmlDocument(heading, policyFor([library, code], isLive), style, [
    body.text,
    '<footer>Written by Weir. Charts drawn with Chart.js (MIT licence).</footer></div>',
    `<script type="application/json" id="data">${scriptJson({ charts: chartsIn(document), palettes, ...data })}</script>`,
    `<script>${library}</script>`,
    `<script>${code}</script>`,
    '</body></html>\n',
  ]);
}

const scriptNames = ['report.js', 'sweep.js', 'recommend.js'] as const;
type ScriptName = (typeof scriptNames)[number];

function reportStyle(): string {
  return `${heightStyle}${bundled('weir.css')}`;
}

function policyFor(scripts: readonly string[], isLive: boolean): string {
  const script = [...new Set(scripts.map(hashed))].join(' ');
  return `default-src 'none'; script-src ${script}; style-src ${hashed(reportStyle())}; img-src data:; ${isLive ? "connect-src 'self'; " : ''}base-uri 'none'; form-action 'none'`;
}

/** For foreign report files: runs the scripts of this version and nothing else. */
export function reportPolicy(): string {
  return policyFor([bundled('chart.umd.js'), ...scriptNames.map((name) => bundled(name))], false);
}
