// The report of a sweep: a picture of each figure that is shown, and the page on which axes and figure are chosen.

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import type { Seed } from '../math/seed.js';
import type { Axis, Json } from '../simulate/sweep/grid.js';
import type { SweepPlan } from '../simulate/sweep/plan-sweep.js';
import type { SweepRow } from '../simulate/sweep/sweep.js';
import { makeFolder } from '../store/make-folder.js';
import { firstView, type SweepAxis, type SweepCell, type SweepData, sweepCharts } from '../web/chart/sweep-charts.js';
import { type Block, type ReportDocument, sentence } from './block.js';
import { drawingIfInstalled } from './chart/drawing.js';
import { figures as known } from './figures.js';
import { documentMarkdown } from './markdown.js';
import { html } from './page/html.js';
import { documentPage } from './page/page.js';
import { cellTable, shortNames } from './sweep-document.js';
import { valueText } from './sweep-files.js';
import { counted } from './words.js';

interface Swept {
  readonly plan: SweepPlan;
  readonly rows: readonly SweepRow[];
  /** Names of the figures of which there is a picture and a column. */
  readonly figures: readonly string[];
  /** The border that heat maps show for the first figure. */
  readonly border?: number | undefined;
  /** What the command says beside the cells. */
  readonly says?: readonly Block[] | undefined;
  /** Whether what is said takes the place of the cells in a terminal. */
  readonly isMatrix?: boolean | undefined;
}

interface SweepReport extends Swept {
  readonly document: ReportDocument;
  /** Names of the files beside the page. */
  readonly files: readonly string[];
}

/** The page holds at most so many numbers, which keeps it under 5 MB; the files hold all. */
const MOST_NUMBERS = 240_000;
const MOST_PICTURES = 12;

/** Writes pictures and page into the folder of the sweep. Returns the page. */
export async function writeSweepReport(folder: string, report: SweepReport): Promise<string> {
  const charts = join(folder, 'charts');
  makeFolder(charts);
  for (const name of readdirSync(charts)) if (name.endsWith('.png')) rmSync(join(charts, name));
  const data = sweepData(report);
  const canvas = await drawingIfInstalled();
  const pictures = canvas === undefined ? 0 : Math.min(report.figures.length, MOST_PICTURES);
  for (let figure = 0; figure < pictures; figure += 1) {
    const name = report.figures[figure]!;
    const { charts: panels } = sweepCharts(data, firstView(data, figure));
    writeFileSync(
      join(charts, `${name.replaceAll(/[^\w.-]+/g, '-')}.png`),
      await canvas!.panelsPng(name, panels, 'light'),
    );
  }
  const page = join(folder, 'index.html');
  const { document, files } = report;
  writeFileSync(page, documentPage(document, { files, before: choice, data: { sweep: data }, script: 'sweep.js' }));
  writeFileSync(join(folder, 'summary.md'), documentMarkdown(document));
  return resolve(page);
}

/** @param most numbers */
export function sweepData({ plan, rows, figures, border }: Swept, most = MOST_NUMBERS): SweepData {
  const { axes, name, replications, cells: planned } = plan;
  // Not all combinations: the cells were drawn.
  const drawn = planned.length !== axes.reduce((product, { values }) => product * (values?.length ?? 0), 1);
  const titles = shortNames(axes.map(({ path }) => path));
  const shown = axes.map((axis, index) => sweepAxis(titles[index]!, axis));
  const present = new Set(rows.flatMap((row) => Object.keys(row.figures)));
  const further = known.map((figure) => figure.name).filter((one) => present.has(one) && !figures.includes(one));
  const room = Math.max(figures.length, Math.floor(most / (3 * rows.length)));
  const names = [...figures, ...further].slice(0, room);
  const cells = rows.map(({ set, figures: found }): SweepCell => {
    const values = names.map((one) => {
      const figure = found[one];
      return figure === undefined ? null : ([short(figure.mean), short(figure.low), short(figure.high)] as const);
    });
    return { at: axes.map((axis) => placeOf(axis, set[axis.path]!)), values };
  });
  return { name, axes: shown, figures: names, cells, drawn, runs: replications, border };
}

function sweepAxis(name: string, { values = [], names }: Axis): SweepAxis {
  if (names !== undefined) return { name, values: names, isNumeric: false };
  // `10/s` and `20/s` are numbers of one unit.
  const units = new Set(values.map((one) => /^[+-]?[\d.]+(.*)$/.exec(String(one))?.[1]));
  const [unit] = units;
  if (units.size > 1 || (values.length > 0 && unit === undefined))
    return { name, values: values.map((one) => String(valueText(one))), isNumeric: false };
  const title = unit === undefined || unit === '' ? name : `${name}, ${unit.trim()}`;
  return { name: title, values: values.map((one) => Number.parseFloat(String(one))), isNumeric: true };
}

function placeOf({ values = [] }: Axis, value: Json): number {
  const text = JSON.stringify(value);
  const index = values.findIndex((one) => JSON.stringify(one) === text);
  return index >= 0 ? index : Number.parseFloat(String(value));
}

function short<T extends number | null>(value: T): T {
  return (value === null ? null : Number(value.toPrecision(6))) as T;
}

/** The page of a sweep while it goes on: its charts, drawn again whenever cells are sent to it. */
export function liveSweepPage(plan: SweepPlan): string {
  const far = html`<progress id="share" max="1" value="0" aria-label="How far the sweep has come"></progress>
<p id="far" role="status" class="facts">Waiting for the first cell…</p>`;
  return documentPage(sweepDocument({ plan }), { after: html`${far}${choice}`, script: 'sweep.js', isLive: true });
}

/** The seeds of all replications but the first. */
function followers(seed: Seed, replications: number): string {
  return replications === 2 ? `${seed}/1` : `${seed}/1 to ${seed}/${replications - 1}`;
}

/** The cells of a sweep or a map, with what the command says of them. */
export function sweepDocument(
  { plan, rows = [], figures = [], border, says = [], isMatrix = false }: { plan: SweepPlan } & Partial<Swept>,
  again?: ReportDocument['again'],
): ReportDocument {
  const { name, axes, cells, replications, seed, notes } = plan;
  const isMap = border !== undefined;
  const seeds = replications === 1 ? '' : ` and ${followers(seed, replications)}, the same for every cell`;
  const meaning = isMap
    ? 'Shares of runs with their 95 % intervals; cells with 0 runs have the value of their neighbours.'
    : replications === 1
      ? 'The figures of one run each.'
      : 'Means with their 95 % intervals.';
  return {
    title: isMatrix ? 'Every limiter by every client' : `${isMap ? 'Map' : 'Sweep'} of ${name}`,
    sentence: `${counted(cells.length, 'cell')}, ${isMap ? 'up to ' : ''}${counted(replications, 'run')} of each`,
    facts: `${axes.map(({ path }) => path).join(', ')}; seed ${seed}${seeds}`,
    blocks: [
      ...(isMatrix ? [] : notes.map((note) => sentence(note))),
      ...says,
      ...(rows.length === 0
        ? []
        : [
            sentence(meaning, { where: 'documents' }),
            {
              ...cellTable(axes, rows, figures),
              title: 'Cells',
              folded: isMatrix,
              ...(isMap || isMatrix ? { where: 'documents' as const } : {}),
            },
          ]),
      ...(isMatrix ? matrixCode(plan) : []),
    ],
    again,
  };
}

/** The scenario, and the limiters in words. */
function matrixCode({ scenario, notes }: SweepPlan): Block[] {
  const texts = { 'The scenario': stringify(scenario), 'The limiters': notes.join('\n') };
  return Object.entries(texts).map(([title, text]) => ({
    kind: 'code',
    title,
    text,
    folded: true,
    where: 'documents',
  }));
}

const choice = html`<h2>Charts</h2>
<form id="choice" class="choice"><label>figure <select id="figure"></select></label> <label>across <select id="across"></select></label> <label>lines or rows <select id="by"></select></label> <label>as <select id="kind"><option value="lines">lines</option><option value="heat">heat map</option><option value="dots" hidden>dots</option></select></label></form>
<p id="said" role="status" class="facts"></p>
<div id="panels"></div>`;
