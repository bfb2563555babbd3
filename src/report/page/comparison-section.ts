// Owns the table of several runs on a page.
import type { RunComparison } from '../compare-runs.js';
import { conclusion, textCells } from '../comparison-text.js';
import { verdictSigns } from '../words.js';
import { type Html, html } from './html.js';

export function comparisonSection(comparison: RunComparison): Html {
  const { runs, baseline, rows, worse } = comparison;
  const mark = baseline === undefined ? 'compared' : worse.length > 0 ? '✘ worse' : '✔ not worse';
  return html`<header><p class="verdict ${worse.length === 0 ? 'held' : 'broken'}" id="verdict"><b>${mark}</b> ${conclusion(comparison)}</p>
<button type="button" id="theme" aria-label="Switch between light and dark">Light / dark</button></header>
<h1>Runs compared</h1>
<main><div class="scroll" tabindex="0" role="region" aria-label="Figures of the runs"><table><thead><tr><th scope="col">figure</th>${runs.map(
    ({ name, outcome }, index) =>
      html`<th scope="col" class="n">${name}${index === baseline ? ' (baseline)' : ''}<small>${verdictSigns[outcome.verdict]} ${outcome.verdict}</small></th>`,
  )}</tr></thead>
<tbody>${rows.map(
    (row) =>
      html`<tr><th scope="row">${row.label}</th>${row.cells.map((cell, index) => {
        const [value = '', delta = '', verdict = ''] = textCells(comparison, row, cell, index);
        const beside = [delta, verdict].filter((text) => text !== '' && text !== '=').join(' ');
        const hue = cell.change?.verdict === 'worse' ? 'n no' : 'n';
        return html`<td class="${hue}">${value}${beside === '' ? '' : html`<small>${beside}</small>`}</td>`;
      })}</tr>`,
  )}</tbody></table></div></main>`;
}
