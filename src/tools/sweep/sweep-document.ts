// A sweep or a map: table of cells, answer of a search, summary of a map, and an interactive page.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { makeFolder } from '../../core/files/make-folder.js';
import type { Seed } from '../../core/math/seed.js';
import { type Axis, type Json, valueName } from '../../harness/scenario/grid.js';
import { type Block, type ReportDocument, sentence, type Table } from '../../report/block.js';
import { drawingIfInstalled } from '../../report/chart/drawing.js';
import { figureTitle, figures as known } from '../../report/figures.js';
import { writeDocument } from '../../report/folder.js';
import { html } from '../../report/page/html.js';
import { documentPage } from '../../report/page/page.js';
import { column, type Interval, intervalWords, type RunColumn, rowName, runTable } from '../../report/run-table.js';
import { counted } from '../../report/words.js';
import type { CollapseMap, MapColumn } from './collapse-map.js';
import type { Found, Tried } from './find.js';
import { type SweepPlan, setWords } from './plan-sweep.js';
import type { SweepRow } from './sweep.js';
import { firstView, type SweepAxis, type SweepCell, type SweepData, sweepCharts } from './sweep-charts.js';
import { valueText } from './sweep-files.js';

/** Table rows on a page, and in a terminal; the files hold all. */
const MOST_ROWS = 1_000;
const MOST_BRIEF = 60;
const MOST_FIGURES = 4;

const SAID_BY_OTHERS = new Set(['requests', 'admitted', 'contracts_limited', 'restores', 'clients.attempts']);

/** The first figures that vary between cells. */
export function shownFigures(rows: readonly SweepRow[]): readonly string[] {
  const present = new Set(rows.flatMap(({ figures }) => Object.keys(figures)));
  const ordered = known.map(({ name }) => name).filter((name) => present.has(name));
  const varying = ordered.filter((name) => new Set(rows.map(({ figures }) => figures[name]?.mean)).size > 1);
  const isAnswer = (name: string) => !SAID_BY_OTHERS.has(name);
  const first = [...varying.filter(isAnswer), ...varying, ...ordered];
  return [...new Set(first)].slice(0, MOST_FIGURES);
}

function cellTable(axes: readonly Axis[], rows: readonly SweepRow[], figures: readonly string[]): Table {
  const titles = shortNames(axes.map(({ path }) => path));
  const columns: readonly RunColumn<SweepRow>[] = [
    ...axes.map((axis, index) => nameOf(titles[index]!, ({ set }: SweepRow) => valueName(axis, set))),
    { title: 'held', of: ({ held }) => held ?? undefined, shown: heldWords },
    ...figures.map((name) => column(name, ({ figures: found }: SweepRow) => found[name])),
  ];
  const more = { brief: MOST_BRIEF, total: rows.length, more: 'cells; sweep.csv has all' };
  return runTable(columns, rows.slice(0, MOST_ROWS), more);
}

/** What a row is of, as it was written; numbers are on the right. */
function nameOf<Row>(title: string, of: (row: Row) => string | number | undefined): RunColumn<Row> {
  return { ...column(title, of, String), isName: true };
}

function heldWords({ n, held }: SweepRow): string {
  return n === 1 ? (held === 1 ? 'yes' : 'no') : `${held} of ${n}`;
}

/** The shortest suffix of each path that no other path shares. */
function shortNames(paths: readonly string[]): string[] {
  return paths.map((path) => {
    const steps = path.split('.');
    const suffixes = steps.map((_, from) => steps.slice(from).join('.')).reverse();
    const isClear = (suffix: string) =>
      /^\D/.test(suffix) && paths.every((other) => other === path || !`.${other}`.endsWith(`.${suffix}`));
    return suffixes.find(isClear) ?? path;
  });
}

export function foundBlocks(found: Found, condition: string): Block[] {
  const { set, over, tried } = found;
  const where = Object.keys(set).length === 0 ? '' : `${setWords(set)}: `;
  const names = Object.keys(tried[0]?.figures ?? {});
  const columns = [
    nameOf(over, ({ value }: Tried) => valueText(value)),
    column('condition', ({ holds }: Tried) => (holds ? 'holds' : '–')),
    ...names.map((name) => column(name, ({ figures }: Tried) => figures[name])),
  ];
  return [runTable(columns, tried, { title: `${where}${answerWords(found, condition)}` })];
}

function answerWords({ answer, value, over, tried, next, resolution }: Found, condition: string): string {
  const ends = `${valueText(tried[0]?.value)} and at ${valueText(tried.at(-1)?.value)}`;
  switch (answer) {
    case 'smallest':
    case 'largest':
      return resolution === undefined
        ? `${over} = ${valueText(value)} is the ${answer} of the values asked for at which ${condition}; at ${valueText(next)}, the one ${answer === 'smallest' ? 'before' : 'after'}, it does not hold`
        : `${over} = ${valueText(value)} is the ${answer} value at which ${condition}, with a resolution of ${valueText(resolution)}: at ${valueText(next)} it does not hold`;
    case 'all':
      return `${condition} at ${ends}, and at every value tried between`;
    case 'none':
      return `${condition} neither at ${valueText(tried[0]?.value)} nor at ${valueText(tried.at(-1)?.value)}, nor at any value tried between`;
    case 'not monotone':
      return `no answer: along ${over} it changes more than once whether ${condition}`;
  }
}

/** Median and extremes of each limiter over all clients, and of each client over all limiters. */
export function matrixBlocks(axes: readonly Axis[], rows: readonly SweepRow[], figures: readonly string[]): Block[] {
  const sides = axes.filter(({ path }) => path === 'limiter' || path === 'clients');
  const others = axes.filter((axis) => !sides.includes(axis));
  const keyOf = (of: readonly Axis[], { set }: SweepRow) => of.map((axis) => valueName(axis, set)).join(', ');
  return grouped(rows, (row) => keyOf(others, row)).flatMap(([trigger, within]) =>
    sides.map((side): Table => {
      const over = side.path === 'limiter' ? 'clients' : 'limiters';
      const columns: readonly RunColumn<[string, SweepRow[]]>[] = [
        nameOf(side.path, ([name]) => name),
        ...figures.map((figure): RunColumn<[string, SweepRow[]]> => {
          const means = ([, own]: [string, SweepRow[]]) => own.map((row) => row.figures[figure]?.mean);
          return { title: figure, of: (row) => spreadOf(means(row)), shown: (row) => spreadWords(means(row)) };
        }),
      ];
      const title = [...(trigger === '' ? [] : [trigger]), `by ${side.path}: median over ${over} [least, most]`].join(
        ', ',
      );
      return runTable(
        columns,
        grouped(within, (row) => keyOf([side], row)),
        { title },
      );
    }),
  );
}

function grouped(rows: readonly SweepRow[], keyOf: (row: SweepRow) => string): [string, SweepRow[]][] {
  const groups = new Map<string, SweepRow[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return [...groups];
}

function spreadOf(means: readonly (number | undefined)[]): Interval | undefined {
  const sorted = means.filter((one) => one !== undefined).sort((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  return { mean: sorted[sorted.length >> 1]!, low: sorted[0]!, high: sorted.at(-1)! };
}

function spreadWords(means: readonly (number | undefined)[]): string {
  const without = means.filter((one) => one === undefined).length;
  const spread = spreadOf(means);
  return [...(spread ? [intervalWords(spread)] : []), ...(without > 0 ? [`${without} without`] : [])].join(', ');
}

function recoveryWords({ recovers }: MapColumn): string | undefined {
  return recovers && `${inSeconds(recovers.ms)} from ${valueText(recovers.from)}`;
}

function inSeconds({ mean, low, high }: Interval): string {
  const s = (ms: number) => Number((ms / 1000).toPrecision(3));
  return intervalWords({ mean: s(mean), low: low && s(low), high: high && s(high) });
}

/** For each load its zone and the smallest trigger that leaves it stuck. */
export function mapBlocks({ axes, columns }: CollapseMap): Block[] {
  const up = axes.at(-2)!.path;
  const titles = shortNames(axes.map(({ path }) => path));
  const shown = axes.flatMap(({ path }, index) => (index === axes.length - 2 ? [] : [{ path, title: titles[index]! }]));
  const zones = runTable(
    [
      ...shown.map(({ path, title }) => rowName(title, ({ set }: MapColumn) => valueText(set[path]), String)),
      column('zone', ({ zone }: MapColumn) => zone),
      {
        ...column(`stuck from ${up}`, ({ stuckFrom: from }: MapColumn) =>
          from === undefined ? from : valueText(from),
        ),
        side: 'right',
      },
      { ...column('time to recover, s', recoveryWords), side: 'right' },
    ],
    columns,
    { title: 'Zones' },
  );
  const tooShort = columns.flatMap(({ set, drainsUpTo, prolonged }) =>
    drainsUpTo === undefined
      ? []
      : [
          sentence(
            `${setWords(set)}: the runs are too short. With ${up}=${valueText(drainsUpTo)} the service is not back at their end, but is in runs ${prolonged} times as long.`,
          ),
        ],
  );
  return [zones, ...tooShort];
}

interface Swept {
  readonly plan: SweepPlan;
  readonly rows: readonly SweepRow[];
  readonly figures: readonly string[];
  readonly border?: number | undefined;
  readonly says?: readonly Block[] | undefined;
  readonly isMatrix?: boolean | undefined;
}

interface SweepReport extends Swept {
  readonly document: ReportDocument;
  readonly files: readonly string[];
}

/** Keeps the page under 5 MB; the files hold all. */
const MOST_NUMBERS = 240_000;

export async function writeSweepReport(folder: string, report: SweepReport): Promise<string> {
  const charts = join(folder, 'charts');
  makeFolder(charts);
  for (const name of readdirSync(charts)) if (name.endsWith('.png')) rmSync(join(charts, name));
  const data = sweepData(report);
  const canvas = await drawingIfInstalled();
  for (const [figure, name] of report.figures.entries()) {
    if (canvas === undefined) break;
    const { charts: panels } = sweepCharts(data, firstView(data, figure));
    writeFileSync(
      join(charts, `${name.replaceAll(/[^\w.-]+/g, '-')}.png`),
      await canvas.panelsPng(figureTitle(name), panels, 'light'),
    );
  }
  const { document, files } = report;
  const pageOf = (all: readonly string[]) =>
    documentPage(document, { files: all, before: choice, data: { sweep: data }, script: 'sweep.js' });
  return resolve(folder, (await writeDocument(folder, document, files, pageOf)).page);
}

function sweepData({ plan, rows, figures, border }: Swept): SweepData {
  const { axes, name, replications } = plan;
  const axisNames = shortNames(axes.map(({ path }) => path));
  const shown = axes.map((axis, index) => sweepAxis(axisNames[index]!, axis));
  const present = new Set(rows.flatMap((row) => Object.keys(row.figures)));
  const further = known.map((figure) => figure.name).filter((one) => present.has(one) && !figures.includes(one));
  const room = Math.max(figures.length, Math.floor(MOST_NUMBERS / (3 * rows.length)));
  const names = [...figures, ...further].slice(0, room);
  const cells = rows.map(({ set, figures: found }): SweepCell => {
    const values = names.map((one) => {
      const figure = found[one];
      return figure === undefined ? null : ([short(figure.mean), short(figure.low), short(figure.high)] as const);
    });
    return { at: axes.map((axis) => placeOf(axis, set[axis.path]!)), values };
  });
  const titles = names.map(figureTitle);
  return { name, axes: shown, figures: names, titles, cells, runs: replications, border };
}

function sweepAxis(name: string, { values, names }: Axis): SweepAxis {
  if (names !== undefined) return { name, values: names, isNumeric: false };
  const units = new Set(values.map((one) => /^[+-]?[\d.]+(.*)$/.exec(String(one))?.[1]));
  const [unit] = units;
  if (units.size > 1 || unit === undefined)
    return { name, values: values.map((one) => String(valueText(one))), isNumeric: false };
  const title = unit === '' ? name : `${name}, ${unit.trim()}`;
  return { name: title, values: values.map((one) => Number.parseFloat(String(one))), isNumeric: true };
}

function placeOf({ values }: Axis, value: Json): number {
  const text = JSON.stringify(value);
  return values.findIndex((one) => JSON.stringify(one) === text);
}

/** Figures are never negative, so interval ends are not either. */
function short<T extends number | null>(value: T): T {
  return (value === null ? null : Number(Math.max(0, value).toPrecision(6))) as T;
}

function followers(seed: Seed, replications: number): string {
  return replications === 2 ? `${seed}/1` : `${seed}/1 to ${seed}/${replications - 1}`;
}

export function sweepDocument(
  { plan, rows, figures, border, says = [], isMatrix = false }: Swept,
  again: ReportDocument['again'],
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
      sentence(meaning, { where: 'documents' }),
      {
        ...cellTable(axes, rows, figures),
        title: 'Cells',
        folded: isMatrix,
        ...(isMap || isMatrix ? { where: 'documents' as const } : {}),
      },
      ...(isMatrix ? matrixCode(plan) : []),
    ],
    again,
  };
}

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
<form id="choice"><label>figure <select id="figure"></select></label> <label>across <select id="across"></select></label> <label>lines or rows <select id="by"></select></label> <label>as <select id="kind"><option value="lines">lines</option><option value="heat">heat map</option></select></label></form>
<p id="said" role="status" class="quiet"></p>
<div id="panels"></div>`;
