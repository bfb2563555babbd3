// A page: the answers, request by request, with the model over them. One file, no scripts. Pure.
//
//   dots     admitted above, limited below, at the time of sending
//   line     how many requests the model would still admit
import { uncheckedRule } from '../limiter/rule/rule-definition.js';
import type { Answer } from './answer.js';
import { answerText } from './answer-text.js';
import type { Seen } from './evidence.js';
import type { Investigated } from './explanations.js';
import { BASE_MS, violationOf } from './violation.js';

const WIDTH = 1_100;
const HEIGHT = 170;
const LEFT = 60;
/** A pause longer than this is where one panel ends, as a part of all. */
const PANEL_REQUESTS = 60;

export function evidencePage(target: string, found: Investigated, answer: Answer): string {
  const panels = panelsOf(found.evidence.seen).map((seen) => panel(seen, found));
  const rows = found.evidence.seen.map((one, k) => row(one, k, found.evidence.seen[0]!.sentMs));
  const style =
    'body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1a1a1a;background:#fff}' +
    'pre{white-space:pre-wrap;background:#f4f4f4;padding:1rem}svg{width:100%;height:auto}table{border-collapse:collapse}' +
    'td,th{padding:.1rem .8rem;text-align:right}@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}pre{background:#222}}';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>What limits ${escaped(target)}</title><style>${style}</style></head><body><main>
<h1>What limits ${escaped(target)}</h1>
<pre>${escaped(answerText(answer))}</pre>
<h2>The answers, with the model over them</h2>
<p>Dots: requests by the time they were sent, admitted above, limited below. Line: how many the model would still admit.</p>
${panels.join('\n')}
<h2>Request by request</h2>
<details><summary>${rows.length} requests</summary><table><thead><tr><th>request</th><th>key</th><th>sent (s)</th><th>took (ms)</th><th>answer</th></tr></thead>
<tbody>${rows.join('')}</tbody></table></details>
</main></body></html>
`;
}

/** Requests that belong together: a panel ends at a pause once it has enough. */
function panelsOf(seen: readonly Seen[]): Seen[][] {
  const panels: Seen[][] = [];
  for (const one of [...seen].sort((a, b) => a.sentMs - b.sentMs)) {
    const last = panels.at(-1);
    const gapMs = last === undefined ? 0 : one.sentMs - last.at(-1)!.sentMs;
    const spanMs = last === undefined ? 0 : last.at(-1)!.sentMs - last[0]!.sentMs;
    if (last === undefined || (last.length >= PANEL_REQUESTS && gapMs > spanMs / 10)) panels.push([one]);
    else last.push(one);
  }
  return panels;
}

function panel(seen: readonly Seen[], found: Investigated): string {
  const fromMs = seen[0]!.sentMs;
  const toMs = Math.max(seen.at(-1)!.sentMs, fromMs + 1);
  const x = (ms: number) => (LEFT + ((ms - fromMs) / (toMs - fromMs)) * (WIDTH - LEFT - 20)).toFixed(1);
  const dots = seen.map((one, k) => {
    const isAdmitted = one.decision === 'admitted';
    const y = (isAdmitted ? 18 : 44) + (k % 5) * 3;
    return `<circle cx="${x(one.sentMs)}" cy="${y}" r="2.5" fill="${isAdmitted ? '#1b7f3b' : '#c62828'}"/>`;
  });
  const origin = found.evidence.seen[0]!.sentMs;
  const label = (y: number, text: string) => `<text x="4" y="${y}" font-size="11" fill="currentColor">${text}</text>`;
  const axis = `<text x="${LEFT}" y="${HEIGHT - 2}" font-size="11" fill="currentColor">${((fromMs - origin) / 1000).toFixed(3)} s</text><text x="${WIDTH - 20}" y="${HEIGHT - 2}" font-size="11" text-anchor="end" fill="currentColor">${((toMs - origin) / 1000).toFixed(3)} s</text>`;
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${seen.length} requests from ${((fromMs - origin) / 1000).toFixed(1)} s">${label(26, 'admitted')}${label(52, 'limited')}${dots.join('')}${modelLine(fromMs, toMs, x, found)}${axis}</svg>`;
}

/** What the model would still admit, after each request that it counted. */
function modelLine(fromMs: number, toMs: number, x: (ms: number) => string, found: Investigated): string {
  const best = found.alive[0]?.best;
  if (best === undefined) return '';
  const rule = uncheckedRule(best.structure.definition(best.parameters));
  const shiftMs = BASE_MS + best.parameters.shiftMs;
  const points: (readonly [number, number])[] = [];
  let most = 1;
  const onCounted = (tMs: number, _: boolean, state: unknown) => {
    if (tMs < fromMs || tMs > toMs) return;
    const left = rule.remaining(state, tMs + shiftMs);
    if (!Number.isFinite(left)) return;
    most = Math.max(most, left);
    points.push([tMs, left]);
  };
  violationOf(best, found.evidence, { onCounted });
  const y = (left: number) => (HEIGHT - 18 - (left / most) * (HEIGHT - 90)).toFixed(1);
  const line = points.map(([ms, left]) => `${x(ms)},${y(left)}`).join(' ');
  return `<polyline points="${line}" fill="none" stroke="#3367d6" stroke-width="1.2"/><text x="4" y="${HEIGHT - 18}" font-size="11" fill="currentColor">left 0</text><text x="4" y="78" font-size="11" fill="currentColor">left ${most}</text>`;
}

function row({ key, sentMs, answeredMs, decision }: Seen, k: number, fromMs: number): string {
  const took = Number.isFinite(answeredMs) ? (answeredMs - sentMs).toFixed(1) : 'no answer';
  return `<tr><td>${k + 1}</td><td>${escaped(key)}</td><td>${((sentMs - fromMs) / 1000).toFixed(4)}</td><td>${took}</td><td>${decision}</td></tr>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
