// A sweep in blocks: a table of its cells, the answer of a search, and what a map says.
import { nearest } from '../schema/did-you-mean.js';
import { Failure } from '../schema/failure.js';
import type { CollapseMap } from '../simulate/sweep/collapse-map.js';
import type { Found } from '../simulate/sweep/find.js';
import { type Axis, valueName } from '../simulate/sweep/grid.js';
import { setWords } from '../simulate/sweep/plan-sweep.js';
import type { SweepRow, SweptFigure } from '../simulate/sweep/sweep.js';
import { type Block, right, sentence, type Table } from './block.js';
import { figures as known } from './figures.js';
import { valueText } from './sweep-files.js';
import { counted, number } from './words.js';

/** Cells in the table of a page, and in a terminal; the files hold all. */
const MOST_ROWS = 1_000;
const MOST_BRIEF = 60;
/** Figures that are shown if none are asked for. */
const MOST_FIGURES = 4;

/** Figures that say little beside the others. */
const SAID_BY_OTHERS = new Set(['requests', 'admitted', 'contracts_limited', 'restores', 'clients.attempts']);

/**
 * The figures to show: those asked for, else the first that are not the same in every cell.
 * @throws Failure `wrong_usage` for one that no cell has
 */
export function shownFigures(rows: readonly SweepRow[], asked: readonly string[] | undefined): readonly string[] {
  const present = new Set(rows.flatMap(({ figures }) => Object.keys(figures)));
  const missing = asked?.find((name) => !present.has(name));
  if (missing !== undefined) {
    const guess = nearest(missing, present);
    throw new Failure('wrong_usage', {
      what: `No cell has a figure ${missing}.`,
      fix: guess === undefined ? `There are ${[...present].join(', ')}.` : `Did you mean ${guess}?`,
    });
  }
  if (asked !== undefined) return asked;
  const ordered = known.map(({ name }) => name).filter((name) => present.has(name));
  const varying = ordered.filter((name) => new Set(rows.map(({ figures }) => figures[name]?.mean)).size > 1);
  const isAnswer = (name: string) => !SAID_BY_OTHERS.has(name);
  const first = [...varying.filter(isAnswer), ...varying, ...ordered];
  return [...new Set(first)].slice(0, MOST_FIGURES);
}

/** A line for each cell: what it sets, and the mean of each figure with its 95 % interval. */
export function cellTable(axes: readonly Axis[], rows: readonly SweepRow[], figures: readonly string[]): Table {
  const asks = rows.some(({ held }) => held !== null);
  const titles = shortNames(axes.map(({ path }) => path));
  return {
    kind: 'table',
    columns: [
      ...axes.map(({ path }, index) =>
        rows.every(({ set }) => typeof set[path] === 'number') ? right(titles[index]!) : titles[index]!,
      ),
      ...(asks ? [right('held')] : []),
      ...figures.map(right),
    ],
    rows: rows
      .slice(0, MOST_ROWS)
      .map(({ set, n, held, figures: found }) => [
        ...axes.map((axis) => String(valueName(axis, set))),
        ...(asks ? [n === 1 ? (held === 1 ? 'yes' : 'no') : `${held} of ${n}`] : []),
        ...figures.map((name) => figureWords(found[name])),
      ]),
    brief: MOST_BRIEF,
    total: rows.length,
    more: 'cells; sweep.csv has all',
  };
}

/** The last steps of each path, as many as are needed to tell it from the others. */
export function shortNames(paths: readonly string[]): string[] {
  return paths.map((path) => {
    const steps = path.split('.');
    const suffixes = steps.map((_, from) => steps.slice(from).join('.')).reverse();
    const isClear = (suffix: string) =>
      /^\D/.test(suffix) && paths.every((other) => other === path || !`.${other}`.endsWith(`.${suffix}`));
    return suffixes.find(isClear) ?? path;
  });
}

/** `12.5 [11.2, 13.8]` */
function figureWords(figure: SweptFigure | undefined): string {
  if (figure === undefined) return '-';
  const { mean, low, high } = figure;
  return low === null || high === null ? number(mean) : `${number(mean)} [${number(low)}, ${number(high)}]`;
}

/** The answer of a search, with what was tried. */
export function foundBlocks(found: Found, condition: string): Block[] {
  const { set, over, tried } = found;
  const where = Object.keys(set).length === 0 ? '' : `${setWords(set)}: `;
  const names = Object.keys(tried[0]?.figures ?? {});
  const rows = tried.map(({ value, holds, figures }) => [
    String(valueText(value)),
    holds ? 'holds' : '–',
    ...names.map((name) => figureWords(figures[name])),
  ]);
  const title = `${where}${answerWords(found, condition)}`;
  return [{ kind: 'table', title, columns: [right(over), 'condition', ...names.map(right)], rows }];
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

/** Of each limiter over all clients, and of each client over all limiters: the middle, and the ends. */
export function matrixBlocks(axes: readonly Axis[], rows: readonly SweepRow[], figures: readonly string[]): Block[] {
  const sides = axes.filter(({ path }) => path === 'limiter' || path === 'clients');
  const others = axes.filter((axis) => !sides.includes(axis));
  const keyOf = (of: readonly Axis[], { set }: SweepRow) => of.map((axis) => valueName(axis, set)).join(', ');
  return grouped(rows, (row) => keyOf(others, row)).flatMap(([trigger, within]) =>
    sides.map((side): Table => {
      const over = side.path === 'limiter' ? 'clients' : 'limiters';
      return {
        kind: 'table',
        title: [...(trigger === '' ? [] : [trigger]), `by ${side.path}: median over ${over} [least, most]`].join(', '),
        columns: [side.path, ...figures.map(right)],
        rows: grouped(within, (row) => keyOf([side], row)).map(([name, own]) => [
          name,
          ...figures.map((figure) => spreadWords(own.map((row) => row.figures[figure]?.mean))),
        ]),
      };
    }),
  );
}

function grouped(rows: readonly SweepRow[], keyOf: (row: SweepRow) => string): [string, SweepRow[]][] {
  const groups = new Map<string, SweepRow[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return [...groups];
}

/** `12 [3, 40], 2 without` */
function spreadWords(means: readonly (number | undefined)[]): string {
  const sorted = means.filter((one) => one !== undefined).sort((a, b) => a - b);
  const without = means.length - sorted.length;
  const missing = without === 0 ? '' : `${without} without`;
  if (sorted.length === 0) return missing;
  const spread = `${number(sorted[sorted.length >> 1]!)} [${number(sorted[0]!)}, ${number(sorted.at(-1)!)}]`;
  return missing === '' ? spread : `${spread}, ${missing}`;
}

/** What a map says: for each load its zone and the smallest trigger that leaves it stuck; then the cures. */
export function mapBlocks({ axes, columns, cures }: CollapseMap): Block[] {
  const up = axes.at(-2)!.path;
  const titles = shortNames(axes.map(({ path }) => path));
  const shown = axes.flatMap(({ path }, index) => (index === axes.length - 2 ? [] : [{ path, title: titles[index]! }]));
  const zones: Table = {
    kind: 'table',
    title: 'Zones',
    columns: [...shown.map(({ title }) => title), 'zone', right(`stuck from ${up}`)],
    rows: columns.map(({ set, zone, stuckFrom }) => [
      ...shown.map(({ path }) => String(valueText(set[path]))),
      zone,
      stuckFrom === undefined ? '–' : String(valueText(stuckFrom)),
    ]),
  };
  const tooShort = columns.flatMap(({ set, drainsUpTo, prolonged }) =>
    drainsUpTo === undefined
      ? []
      : [
          sentence(
            `${setWords(set)}: the runs are too short. With ${up}=${valueText(drainsUpTo)} the service is not back at their end, but is in runs ${prolonged} times as long.`,
          ),
        ],
  );
  const cured: Table = {
    kind: 'table',
    title: 'What cures it, the cheapest first',
    columns: ['set', right('stuck'), right('goodput in quiet times')],
    rows: cures.map(({ set, stuck, n, goodput }) => [
      setWords(set),
      `${stuck} of ${counted(n, 'run')}`,
      Number.isFinite(goodput) ? `${number(100 * goodput)} %` : '–',
    ]),
  };
  return [zones, ...tooShort, ...(cures.length === 0 ? [] : [cured])];
}
