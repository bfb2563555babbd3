// The transitions of a run: data for the page's script, and the empty table that it fills.
import type { Outcome } from '../../outcome/outcome-schema.js';
import type { TransitionRows } from '../../web/report-data.js';
import { capital, contractWord, counted, number, plain } from '../words.js';
import { type Html, html } from './html.js';

/** Limits the size of the page; outcome.json has all. */
const MOST_ROWS = 20_000;

export function transitionRows({ by_contract, first_cycle }: Outcome): TransitionRows {
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

export function transitionsSection(outcome: Outcome, { states, rows }: TransitionRows): Html {
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
