// The page of a recommended limit: the curve with a slider, clients and times at the chosen threshold, lines to paste.
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { startOf } from '../../core/time/cycle.js';
import { chartFigure } from '../../report/page/blocks.js';
import { type Html, html } from '../../report/page/html.js';
import { documentPage } from '../../report/page/page.js';
import { shownName } from '../../report/terminal-text.js';
import { number, percent, windowWords } from '../../report/words.js';
import type { RuleCurve } from './advice.js';
import type { BusyCycles, BusyRow } from './busy-cycles.js';
import type { LogAdvice } from './recommend.js';
import { type AdviceParts, adviceDocument } from './sizing-document.js';
import { worstBurst } from './window-counts.js';

const MOST_ROWS = 30_000;
const MOST_ROWS_OF_WINDOW = 10_000;
const MOST_THRESHOLDS = 1000;
const MOST_SUSPECTS = 10;
const LONGEST_NAME = 100;

export function sizingPageHtml(report: LogAdvice & AdviceParts, files: readonly string[] = []): string {
  const { advice, key } = report;
  const { cycle_ms } = advice;
  const before = html`<h2>Choose a limit</h2>
<form id="choice" class="sliders" aria-label="Choice of a limit">
<label ${advice.curves.length === 1 ? html`hidden` : ''}><span>Window</span><select id="window">${advice.curves.map(({ within }, index) => html`<option value="${index}">${windowWords(within, cycle_ms)}</option>`)}</select></label>
<label for="threshold">Threshold: drag it, or use the arrow keys<input type="range" id="threshold" min="0" max="1" step="1" value="0" aria-describedby="summary"></label>
<div class="row"><label for="number">As a number<input type="number" id="number" min="1" step="1" value="1"></label>
<div id="wanted" class="row" role="group" aria-label="Recommended thresholds"></div></div>
<p id="summary"></p><p id="live" class="aside" role="status" aria-live="polite"></p></form>
${figure('curve', 'Requests limited at every threshold', 'The share of requests that would be limited; on a logarithmic scale, it ends where nothing is limited.', 320)}
<p id="unknown" class="quiet" hidden>When requests are limited, and whose, is known for higher thresholds only: the page keeps the ${number(MOST_ROWS_OF_WINDOW)} busiest cycles of each window.</p>
<div id="times">${figure('timeline', 'When requests would be limited', `From ${day(advice.first_at)} to ${day(advice.last_at)} UTC, without suspects.`, 160)}
${figure('hours', 'By hour of the day', 'All days together, without suspects.', 160)}</div>
${key === undefined ? '' : clientsSection()}`;
  return documentPage(adviceDocument(report), { files, before, data: dataOf(report), script: 'recommend.js' });
}

function day(instant: string | null): string {
  return (instant ?? '').slice(0, 16).replace('T', ' ');
}

function figure(id: string, title: string, about: string, height: number): Html {
  return chartFigure({ id, title, about, height });
}

function clientsSection(): Html {
  const titles = ['key', 'limited', 'of requests', 'share', 'note'];
  return html`<h2>Who would be hit</h2><div class="scroll" tabindex="0" role="region" aria-label="Who would be hit"><table class="stack"><thead><tr>${titles.map((title, index) => html`<th scope="col"${index > 0 && index < 4 ? html` class="n"` : ''}>${title}</th>`)}</tr></thead><tbody id="clients"></tbody></table></div><p class="quiet" id="clients-shown"></p>`;
}

function dataOf({ advice, sizing, names, key }: LogAdvice & AdviceParts): SizingData {
  const { counts } = sizing;
  const tuning = sizing.tuned();
  const numbers = new Map<number, number>();
  const most = Math.min(MOST_ROWS_OF_WINDOW, Math.floor(MOST_ROWS / advice.curves.length));
  const firstMs = Date.parse(advice.first_at ?? '');
  const windows = advice.curves.map((curve, window): SizedWindow => {
    const recommended = advice.recommendations.filter(({ within }) => within === curve.within);
    const suspects = tuning.suspects[window]!;
    const ofCurve = thinned(curve).map(({ threshold, limited, suspects_limited, keys_limited }) => ({
      threshold,
      limited: limited - suspects_limited,
      suspects_limited,
      keys_limited: keys_limited - [...suspects].filter((key) => counts.peakOf(key, window) > threshold).length,
    }));
    const points = [...new Map([...ofCurve, ...recommended].map((point) => [point.threshold, point])).values()].sort(
      (a, b) => a.threshold - b.threshold,
    );
    const secondOf = (cycle: number) => Math.round((startOf(cycle, advice.cycle_ms) - firstMs) / 1000);
    const rows = highestOf(sizing.busy[window]!, suspects, most, numbers, secondOf);
    return {
      name: windowWords(curve.within, advice.cycle_ms),
      requests: tuning.curves[window]!.requests,
      thresholds: points.map(({ threshold }) => threshold),
      limited: points.map(({ limited }) => limited),
      suspectsLimited: points.map(({ suspects_limited }) => suspects_limited),
      keysLimited: points.map(({ keys_limited }) => keys_limited),
      burst1s: worstBurst(1, curve.within, advice.cycle_ms, 1000),
      burst1min: worstBurst(1, curve.within, advice.cycle_ms, 60_000),
      recommended: recommended.map(({ limited_below, threshold }) => ({ share: percent(limited_below), threshold })),
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
    firstMs,
    lastMs: Date.parse(advice.last_at ?? ''),
    isKeyed: key !== undefined,
    ...(advice.unit === undefined ? {} : { unit: advice.unit }),
    keys: keys.map((key) => shownName(names[key]!, LONGEST_NAME)),
    requestsOf: keys.map((key) => counts.requestsOf(key)),
    windows,
  };
}

function thinned({ points }: RuleCurve) {
  const step = Math.ceil(points.length / MOST_THRESHOLDS);
  return points.filter((_, index) => index % step === 0 || index === points.length - 1);
}

/** Undefined if rows of others than suspects are not known. @param numbers of the keys on the page; grows */
function highestOf(
  busy: BusyCycles,
  suspects: ReadonlySet<number>,
  most: number,
  numbers: Map<number, number>,
  secondOf: (cycle: number) => number,
): SizedRows | undefined {
  if ([...busy.leftOut].some((key) => !suspects.has(key))) return undefined;
  let { floor } = busy;
  let rows: BusyRow[] = [...busy.rows()].filter(({ key }) => !suspects.has(key));
  if (rows.length > most) {
    floor = rows.map(({ to }) => to).sort((a, b) => b - a)[most]!;
    rows = rows.filter(({ to }) => to > floor);
  }
  const numberOf = (key: number) => getOrInsert(numbers, key, () => numbers.size);
  return {
    floor,
    key: rows.map(({ key }) => numberOf(key)),
    second: rows.map(({ cycle }) => secondOf(cycle)),
    from: rows.map(({ from }) => from),
    to: rows.map(({ to }) => to),
  };
}

/** For the script of the page. Arrays of one interface are parallel. */
export interface SizingData {
  /** Unix ms. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly isKeyed: boolean;
  /** What thresholds count, for example tokens. Absent: requests. */
  readonly unit?: string;
  readonly keys: readonly string[];
  readonly requestsOf: readonly number[];
  readonly windows: readonly SizedWindow[];
}

export interface SizedWindow {
  readonly name: string;
  /** Without suspects, as `keysLimited`. */
  readonly requests: number;
  readonly thresholds: readonly number[];
  /** Limited requests by threshold, without suspects and of suspects. */
  readonly limited: readonly number[];
  readonly suspectsLimited: readonly number[];
  readonly keysLimited: readonly number[];
  /** Most requests passed in a second, and a minute, as multiples of the threshold. */
  readonly burst1s: number;
  readonly burst1min: number;
  readonly recommended: readonly { readonly share: string; readonly threshold: number }[];
  readonly suspects: readonly {
    readonly key: string;
    readonly requests: number;
    readonly limited: readonly number[];
  }[];
  /** Rows without suspects, complete for thresholds from `floor` on; undefined if unknown. */
  readonly rows?: SizedRows;
}

interface SizedRows {
  readonly floor: number;
  readonly key: readonly number[];
  /** Seconds from the first request. */
  readonly second: readonly number[];
  readonly from: readonly number[];
  readonly to: readonly number[];
}
