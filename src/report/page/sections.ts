// The sections of a page other than charts and transitions: verdict, expectations, figures, differences, the command, the comparison.
import type { Outcome } from '../../outcome/outcome-schema.js';
import type { RunComparison } from '../compare-runs.js';
import { conclusion, textCells } from '../comparison-text.js';
import { figures, figureText, meanText, meanTitle } from '../figures.js';
import { commandOf, type Reported } from '../reported.js';
import {
  counted,
  foundWords,
  instantOf,
  number,
  readSentences,
  share,
  spanWords,
  verdictSentence,
  verdictView,
} from '../words.js';
import { type Html, html, type Part, unbroken } from './html.js';

const MOST_DIFFERENCES = 200;

const verdictClasses = { good: 'held', open: 'open', bad: 'broken' } as const;

/** It opens the `main` of the page. */
export function headSection(outcome: Outcome): Html {
  const { scenario, question, kind, arm, seed, first_cycle, last_cycle, cycle_ms, notes = [] } = outcome;
  const { sign, words, hue } = verdictView(outcome);
  const allNotes = [...notes, ...readSentences(outcome)];
  const span = first_cycle === null || last_cycle === null ? 'no cycle' : runWords(outcome, first_cycle, last_cycle);
  return html`<header><p class="verdict ${verdictClasses[hue]}" id="verdict"><b>${sign} ${words}</b> ${verdictSentence(outcome)}</p>
<button type="button" id="theme">Light / dark</button></header>
<main><h1>${scenario}</h1>
${question === undefined ? '' : html`<p class="question">${question}</p>`}
<p class="facts">${kind}, ${arm}; ${kind === 'replay' ? '' : `seed ${seed}; `}${unbroken(`${span}; 1 cycle = ${cycle_ms} ms`)}</p>
${allNotes.length === 0 ? '' : html`<ul class="notes">${allNotes.map((note) => html`<li>${note}</li>`)}</ul>`}`;
}

function runWords(outcome: Outcome, first: number, last: number): string {
  const cycles = last - first + 1;
  const from = instantOf(first, outcome);
  const when = from === undefined ? '' : `, ${from} to ${instantOf(last, outcome) ?? ''}`;
  return `${spanWords(cycles, outcome.cycle_ms)}${when}`;
}

export function expectationsSection(outcome: Outcome): Html | string {
  const { expectations } = outcome;
  if (expectations.length === 0) return '';
  return html`<h2>Expectations</h2>
<div class="scroll"><table class="stack"><thead><tr><th scope="col">held</th><th scope="col">expectation</th><th scope="col">condition</th><th scope="col" class="n">found</th></tr></thead>
<tbody>${expectations.map(
    (one) =>
      html`<tr><td data-title="held" class="${one.held ? 'ok' : 'no'}">${one.held ? '✔ yes' : '✘ no'}</td><td data-title="expectation">${one.name}</td><td data-title="condition"><code>${one.expected}</code></td><td data-title="found" class="n">${one.held_in === undefined ? foundParts(one.actual) : foundWords(one, outcome)}</td></tr>`,
  )}</tbody></table></div>`;
}

/** The actual value; of several, each with its name on one line. */
function foundParts(actual: Outcome['expectations'][number]['actual']): Part {
  if (actual === null) return '–';
  if (typeof actual === 'number') return number(actual);
  return actual.split(', ').map((one, index) => html`${index === 0 ? '' : ', '}<span class="whole">${one}</span>`);
}

export function figuresSection(outcome: Outcome): Html {
  const shown = figures.flatMap((figure) => {
    const value = figure.of(outcome);
    if (value === undefined) return [];
    const [main = '', beside] = figureText(figure, value, outcome.cycle_ms).split(' (');
    const small =
      beside !== undefined
        ? beside.slice(0, -1)
        : figure.name === 'admitted' || figure.name === 'limited'
          ? `${share(value, outcome.requests)} of the requests`
          : undefined;
    const mean = meanText(figure, outcome);
    const means =
      mean === undefined || outcome.replications === undefined
        ? ''
        : html`<small>${meanTitle(outcome.replications)}: ${mean}</small>`;
    return [
      html`<div><dt>${figure.label}</dt><dd>${main}${small === undefined ? '' : html`<small>${small}</small>`}${means}</dd></div>`,
    ];
  });
  return html`<h2>Figures</h2><dl class="figures">${shown}</dl>`;
}

export function differencesSection({ comparison, first_cycle }: Outcome): Html | string {
  if (comparison === undefined) return '';
  const { reason, compared_cycles, compared_decisions, tolerance, differences, differences_total } = comparison;
  const summary = html`<h2>Predicted and observed</h2><p>${reason} Compared: ${counted(compared_cycles, 'cycle')}, ${counted(compared_decisions, 'decision')}; tolerance: ${tolerance}.</p>`;
  if (differences.length === 0) return summary;
  const shown = differences.slice(0, MOST_DIFFERENCES);
  const titles = ['contract', 'cycle', 'figure', 'predicted', 'observed', 'note'];
  return html`${summary}<div class="scroll"><table class="stack"><thead><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${shown.map((d) => {
    const cells = [
      d.contract,
      number(d.cycle - (first_cycle ?? 0)),
      d.figure,
      String(d.predicted ?? 'none'),
      String(d.observed ?? 'none'),
      d.note ?? '',
    ];
    return html`<tr>${cells.map((cell, index) => html`<td data-title="${titles[index]!}">${cell}</td>`)}</tr>`;
  })}</tbody></table></div>${shown.length < differences_total ? html`<p class="facts">The first ${number(shown.length)} of ${number(differences_total)}.</p>` : ''}`;
}

/** An option and its value stay on one line. */
function commandParts(command: string): Part {
  return command
    .split(/ (?=--)/)
    .map((part, index) => html`${index === 0 ? '' : ' '}<span class="whole">${part}</span>`);
}

/** @param files names of the files beside the page */
export function againSection(reported: Reported, files: readonly string[]): Html {
  const { weir, seed, digest } = reported.outcome;
  return html`<h2>Run it again</h2><pre tabindex="0">${commandParts(commandOf(reported))}</pre>
<p class="facts">weir ${weir}, seed ${seed}, digest <code>${digest}</code></p>
${files.length === 0 ? '' : html`<p class="facts">Beside this page: ${files.map((file, index) => html`${index === 0 ? '' : ', '}<a href="${file}">${file}</a>`)}</p>`}`;
}

/** It opens the `main` of the page. */
export function comparisonSection(comparison: RunComparison): Html {
  const { runs, baseline, rows, worse } = comparison;
  const mark = baseline === undefined ? 'compared' : worse.length > 0 ? '✘ worse' : '✔ not worse';
  return html`<header><p class="verdict ${worse.length === 0 ? 'held' : 'broken'}" id="verdict"><b>${mark}</b> ${conclusion(comparison)}</p>
<button type="button" id="theme">Light / dark</button></header>
<main><h1>Runs compared</h1>
<div class="scroll" tabindex="0" role="region" aria-label="Figures of the runs"><table><thead><tr><th scope="col">figure</th>${runs.map(
    ({ name, outcome }, index) =>
      html`<th scope="col" class="n">${name}${index === baseline ? ' (baseline)' : ''}<small>${verdictView(outcome).sign} ${verdictView(outcome).words}</small></th>`,
  )}</tr></thead>
<tbody>${rows.map(
    (row) =>
      html`<tr><th scope="row">${row.label}</th>${row.cells.map((cell, index) => {
        const [value = '', delta = '', verdict = ''] = textCells(comparison, row, cell, index);
        const beside = [delta, verdict].filter((text) => text !== '' && text !== '=').join(' ');
        const hue = cell.change?.verdict === 'worse' ? 'n no' : 'n';
        return html`<td class="${hue}">${value}${beside === '' ? '' : html`<small>${beside}</small>`}</td>`;
      })}</tr>`,
  )}</tbody></table></div>`;
}
