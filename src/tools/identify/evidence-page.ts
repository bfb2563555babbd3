// The page of an identification: the answers by request, and the model. Pure.
//
//   dots     admitted above, limited below, at the time of sending
//   line     requests that the model would still admit

import { uncheckedRule } from '../../core/limiter/rule/rule-definition.js';
import type { Block } from '../../report/block.js';
import { type ChartSpec, type Line, unmarked } from '../../report/chart-specs/spec.js';
import { documentPage } from '../../report/page/page.js';
import { counted } from '../../report/words.js';
import type { Answer } from './answer.js';
import { answerDocument } from './answer-document.js';
import type { Seen } from './evidence.js';
import type { Investigated } from './explanations.js';
import { BASE_MS, violationOf } from './violation.js';

const PANEL_REQUESTS = 60;
const MOST_PANELS = 12;
const MOST_ROWS = 2_000;

export function evidencePage(target: string, found: Investigated, answer: Answer): string {
  const { seen } = found.evidence;
  const document = answerDocument(answer, target);
  const charts = panelsOf(seen)
    .slice(0, MOST_PANELS)
    .map((panel, index): Block => {
      const title = index === 0 ? 'The answers, with the model over them' : undefined;
      return { kind: 'chart', title, spec: panelChart(panel, index, found) };
    });
  const requests: Block = {
    kind: 'table',
    title: 'Request by request',
    columns: ['request', 'key', 'sent', 'took', 'answer'],
    rows: seen
      .slice(0, MOST_ROWS)
      .map(({ key, sentMs, answeredMs, decision }, index) => [
        String(index + 1),
        key,
        `${((sentMs - seen[0]!.sentMs) / 1000).toFixed(4)} s`,
        Number.isFinite(answeredMs) ? `${(answeredMs - sentMs).toFixed(1)} ms` : 'no answer',
        decision,
      ]),
    total: seen.length,
  };
  return documentPage({ ...document, blocks: [...document.blocks, ...charts, requests] });
}

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

function panelChart(seen: readonly Seen[], index: number, found: Investigated): ChartSpec {
  const [fromMs, lastMs] = [seen[0]!.sentMs, seen.at(-1)!.sentMs];
  const x = (ms: number) => (ms - fromMs) / 1000;
  const from = ((fromMs - found.evidence.seen[0]!.sentMs) / 1000).toFixed(3);
  const toMs = Math.max(lastMs, fromMs + 1);
  const model = modelPoints(fromMs, toMs, found);
  const top = model.reduce((most, [, left]) => Math.max(most, left), 1);
  const dots = (label: 'admitted' | 'limited', tone: Line['tone'], y: number): Line => {
    const own = seen.filter(({ decision }) => (decision === 'admitted') === (label === 'admitted'));
    return { label, tone, xs: own.map(({ sentMs }) => x(sentMs)), ys: own.map(() => y), stepped: false, loose: true };
  };
  return {
    id: `panel-${index}`,
    title: `${counted(seen.length, 'request')} from ${from} s on`,
    about: `Dots: requests by the time they were sent, admitted above, limited below.${model.length === 0 ? '' : ' Line: how many the model would still admit.'}`,
    x: { kind: 'values', title: `Time after ${from} s, in seconds`, from: 0, to: x(toMs) },
    yTitle: model.length === 0 ? '' : 'Requests still admitted',
    yWhole: true,
    lines: [
      dots('admitted', 'median', 1.2 * top),
      dots('limited', 'limited', 1.1 * top),
      ...(model.length === 0
        ? []
        : [
            {
              label: 'model',
              tone: 'count',
              xs: model.map(([ms]) => x(ms)),
              ys: model.map(([, left]) => left),
              stepped: true,
              width: 1.2,
            } as const,
          ]),
    ],
    ...unmarked,
    height: 280,
  };
}

function modelPoints(fromMs: number, toMs: number, found: Investigated): (readonly [ms: number, left: number])[] {
  const best = found.alive[0]?.best;
  if (best === undefined) return [];
  const rule = uncheckedRule(best.structure.definition(best.parameters));
  const shiftMs = BASE_MS + best.parameters.shiftMs;
  const points: (readonly [number, number])[] = [];
  const onCounted = (tMs: number, _: boolean, state: unknown) => {
    if (tMs < fromMs || tMs > toMs) return;
    const left = rule.remaining(state, tMs + shiftMs);
    if (Number.isFinite(left)) points.push([tMs, left]);
  };
  violationOf(best, found.evidence, { onCounted });
  return points.sort(([a], [b]) => a - b);
}
