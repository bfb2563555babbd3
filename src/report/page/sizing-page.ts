// The page of a recommended limit: the curve with a slider, the clients and the times at the number chosen, lines to paste.
import type { Advice, RuleCurve } from '../../sizing/advice.js';
import type { BusyCycles, BusyRow } from '../../sizing/busy-cycles.js';
import type { PasteLines } from '../../sizing/lines-to-paste.js';
import type { LogAdvice } from '../../sizing/recommend.js';
import { worstBurst } from '../../sizing/worst-burst.js';
import { startOf } from '../../time/cycle.js';
import { palettes } from '../../web/chart/palette.js';
import type { SizedRows, SizedWindow, SizingData } from '../../web/sizing-data.js';
import {
  burstOf,
  columnWords,
  fittedHeads,
  fittedRows,
  pastedWords,
  percent,
  suspectSentences,
} from '../sizing-text.js';
import { shownName } from '../terminal-text.js';
import { counted, duration, number } from '../words.js';
import { Html, html, unbroken } from './html.js';
import { pageDocument } from './page.js';

/** Rows of all windows together, so that the page stays small. */
const MOST_ROWS = 30_000;
const MOST_ROWS_OF_WINDOW = 10_000;
const MOST_THRESHOLDS = 1000;
const MOST_SUSPECTS = 10;
const LONGEST_NAME = 100;

export interface SizingReport extends LogAdvice {
  readonly name: string;
  readonly isKeyed: boolean;
  readonly paste: readonly PasteLines[];
  /** The command that repeats it. */
  readonly command: string;
}

/** @param files names of the files beside the page */
export function sizingPageHtml(report: SizingReport, files: readonly string[] = []): string {
  const { advice, name, paste, command } = report;
  const { recommendations, cycle_ms } = advice;
  const one = recommendations[0]!;
  const body = html`<header><p class="verdict open" id="verdict"><b>${number(one.threshold)}</b> ${unbroken(`in ${windowName(one.within, cycle_ms)} limits less than ${percent(one.limited_below)} of the requests.`)}</p>
<button type="button" id="theme">Light / dark</button></header>
<main><h1>Which limit fits ${name}?</h1>
<p class="facts">${unbroken(`${counted(advice.requests, 'request')} of ${counted(advice.keys, 'key')}, ${advice.first_at ?? ''} to ${advice.last_at ?? ''}; 1 cycle = ${cycle_ms} ms`)}${advice.excluded.length === 0 ? '' : `; excluded: ${advice.excluded.map((key) => shownName(key, LONGEST_NAME)).join(', ')}`}</p>
${suspectSentences(advice).map((sentence) => html`<p class="suspects">${sentence}</p>`)}
<form id="choice" class="slide" aria-label="Choice of a limit">
<label ${advice.curves.length === 1 ? html`hidden` : ''}>Window<select id="window">${advice.curves.map(({ within }, index) => html`<option value="${index}">${windowName(within, cycle_ms)}</option>`)}</select></label>
<label for="threshold">Threshold: drag it, or use the arrow keys<input type="range" id="threshold" min="0" max="1" step="1" value="0" aria-describedby="summary"></label>
<label for="number">as a number<input type="number" id="number" min="1" step="1" value="1"></label>
<div id="wanted" role="group" aria-label="Recommended thresholds"></div>
<p id="summary"></p><p id="live" class="aside" role="status" aria-live="polite"></p></form>
${figure('curve', 'Requests limited at every threshold', 'The share of requests that would be limited; on a logarithmic scale, it ends where nothing is limited.', 8)}
<p id="unknown" class="facts" hidden>When requests are limited, and whose, is known for higher thresholds only: the page keeps the ${number(MOST_ROWS_OF_WINDOW)} busiest cycles of each window.</p>
<div id="times">${figure('timeline', 'When requests would be limited', 'From the first request to the last, in UTC, without suspects.', 4)}
${figure('hours', 'By hour of the day', 'In UTC, all days together, without suspects.', 4)}</div>
${clientsSection(report.isKeyed)}
${recommendationsTable(advice)}
${fittedTable(advice)}
${pasteSection(advice, paste)}
<h2>Run it again</h2><pre tabindex="0">${command}</pre>
${files.length === 0 ? '' : html`<p class="facts">Beside this page: ${files.map((file, index) => html`${index === 0 ? '' : ', '}<a href="${file}">${file}</a>`)}</p>`}</main>`;
  return pageDocument(`Which limit fits ${name}?`, body, dataOf(report), 'recommend.js');
}

function windowName(within: number, cycleMs: number): string {
  return `${counted(within, 'cycle')} (${duration(within * cycleMs)})`;
}

/** @param steps height in steps of 40 px */
function figure(id: string, title: string, about: string, steps: number): Html {
  return html`<figure><h3>${title}</h3><figcaption>${about}</figcaption><div class="chart h${steps}"><canvas id="chart-${id}" role="img" aria-label="${title}. ${about}"></canvas></div></figure>`;
}

function clientsSection(isKeyed: boolean): Html | string {
  if (!isKeyed) return '';
  const titles = ['key', 'limited', 'of requests', 'share', 'note'];
  return html`<h2>Who would be hit</h2><div class="scroll"><table class="stack"><thead><tr>${titles.map((title, index) => html`<th scope="col"${index > 0 && index < 4 ? html` class="n"` : ''}>${title}</th>`)}</tr></thead><tbody id="clients"></tbody></table></div><p class="facts" id="clients-shown"></p>`;
}

function recommendationsTable(advice: Advice): Html {
  const { recommendations, cycle_ms } = advice;
  const titles = ['limited below', 'window', 'threshold', 'limited', 'share', 'in 1 s', 'in 1 min', 'hold-out'];
  return html`<h2>Recommended</h2><div class="scroll"><table class="stack"><thead><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${recommendations.map((one) => {
    const { held_out } = one;
    const checked =
      held_out === null
        ? 'too few requests'
        : `${held_out.held ? '✔' : '✘'} ${percent(held_out.limited_share)} at ${number(held_out.threshold)}`;
    const cells = [
      percent(one.limited_below),
      windowName(one.within, cycle_ms),
      number(one.threshold),
      number(one.limited),
      percent(one.limited_share),
      burstOf(one.worst_burst_1s),
      burstOf(one.worst_burst_1min),
      checked,
    ];
    return html`<tr>${cells.map((cell, index) => html`<td data-title="${titles[index]!}">${cell}</td>`)}</tr>`;
  })}</tbody></table></div>
<p class="facts">${columnWords(advice)}</p>`;
}

function fittedTable(advice: Advice): Html | string {
  if (advice.fitted.length === 0) return '';
  return html`<h2>Other rules</h2><p class="facts">Each with the strictest limit that keeps the share. Limits above 40 are tried in steps of 5 %.</p><div class="scroll"><table class="stack"><thead><tr>${fittedHeads.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${fittedRows(advice).map((cells) => html`<tr>${cells.map((cell, index) => html`<td data-title="${fittedHeads[index]!}">${cell}</td>`)}</tr>`)}</tbody></table></div>`;
}

/** Control characters in foreign text become a dot; this one stays. */
const LINE_FEED = new Html('\n');

function pasteSection(advice: Advice, paste: readonly PasteLines[]): Html {
  return html`<h2>Lines to paste</h2><p class="facts">For ${pastedWords(advice)}.</p>${paste.map(
    ({ product, lines, differs }) =>
      html`<h3>${product}</h3><pre tabindex="0">${lines.map((line, index) => html`${index === 0 ? '' : LINE_FEED}${line}`)}</pre><p class="facts">${differs}</p>`,
  )}`;
}

function dataOf({ advice, sizing, names, isKeyed }: SizingReport): SizingData {
  const { counts } = sizing;
  const tuning = sizing.tuned();
  const numbers = new Map<number, number>();
  const most = Math.min(MOST_ROWS_OF_WINDOW, Math.floor(MOST_ROWS / advice.curves.length));
  const firstMs = Date.parse(advice.first_at ?? '');
  const windows = advice.curves.map((curve, window): SizedWindow => {
    const points = thinned(curve);
    const suspects = tuning.suspects[window]!;
    const rows = rowsOf(sizing.busy[window]!, suspects, most, numbers, firstMs, advice.cycle_ms);
    return {
      name: windowName(curve.within, advice.cycle_ms),
      requests: tuning.curves[window]!.requests,
      thresholds: points.map(({ threshold }) => threshold),
      limited: points.map(({ limited, suspects_limited }) => limited - suspects_limited),
      suspectsLimited: points.map(({ suspects_limited }) => suspects_limited),
      keysLimited: points.map(
        ({ threshold, keys_limited }) =>
          keys_limited - [...suspects].filter((key) => counts.peakOf(key, window) > threshold).length,
      ),
      burst1s: worstBurst(1, curve.within, advice.cycle_ms, 1000),
      burst1min: worstBurst(1, curve.within, advice.cycle_ms, 60_000),
      recommended: advice.recommendations
        .filter(({ within }) => within === curve.within)
        .map(({ limited_below, threshold }) => ({ share: percent(limited_below), threshold })),
      suspects: [...suspects]
        .sort((a, b) => counts.requestsOf(b) - counts.requestsOf(a))
        .slice(0, MOST_SUSPECTS)
        .map((key) => ({
          key: shownName(names[key]!, LONGEST_NAME),
          requests: counts.requestsOf(key),
          limited: points.map(({ threshold }) => counts.limitedOf(key, window, threshold)),
        })),
      ...(rows === undefined ? {} : { rows }),
    };
  });
  const keys = [...numbers.keys()];
  return {
    palettes,
    firstMs,
    lastMs: Date.parse(advice.last_at ?? ''),
    isKeyed,
    keys: keys.map((key) => shownName(names[key]!, LONGEST_NAME)),
    requestsOf: keys.map((key) => counts.requestsOf(key)),
    windows,
  };
}

/** Every so many of the points, with those that are recommended not necessarily among them: the slider takes the next lower one. */
function thinned({ points }: RuleCurve) {
  const step = Math.ceil(points.length / MOST_THRESHOLDS);
  return points.filter((_, index) => index % step === 0 || index === points.length - 1);
}

/** The rows that reach highest. @param numbers of the keys in the page; grows */
function rowsOf(
  busy: BusyCycles,
  suspects: ReadonlySet<number>,
  most: number,
  numbers: Map<number, number>,
  firstMs: number,
  cycleMs: number,
): SizedRows | undefined {
  if ([...busy.leftOut].some((key) => !suspects.has(key))) return undefined;
  let { floor } = busy;
  let rows: BusyRow[] = [...busy.rows()].filter(({ key }) => !suspects.has(key));
  if (rows.length > most) {
    floor = rows.map(({ to }) => to).sort((a, b) => b - a)[most]!;
    rows = rows.filter(({ to }) => to > floor);
  }
  const numberOf = (key: number) => {
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return known;
  };
  return {
    floor,
    key: rows.map(({ key }) => numberOf(key)),
    second: rows.map(({ cycle }) => Math.round((startOf(cycle, cycleMs) - firstMs) / 1000)),
    from: rows.map(({ from }) => from),
    to: rows.map(({ to }) => to),
  };
}
