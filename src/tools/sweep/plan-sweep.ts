// The plan of a sweep: scenario, cells and seeds, checked before the first run.

import { ExpressionError, parseCondition } from '../../core/limiter/expression/condition.js';
import type { Seed } from '../../core/math/seed.js';
import { digestOf } from '../../core/schema/canonical.js';
import { readDocument } from '../../core/schema/document.js';
import { Failure } from '../../core/schema/failure.js';
import { wholeFigures } from '../../harness/outcome/figure-names.js';
import { readSource } from '../../harness/scenario/file-source.js';
import {
  type Axis,
  axesOf,
  type Cell,
  cellsOf,
  type Grid,
  withFields,
  wrongSweep,
} from '../../harness/scenario/grid.js';
import { parseScenario, type ScenarioObject } from '../../harness/scenario/load-scenario.js';
import type { LoadedScenario } from '../../harness/scenario/loaded-scenario.js';

export interface SweepPlan {
  readonly name: string;
  readonly path: string;
  readonly scenario: unknown;
  readonly axes: readonly Axis[];
  readonly cells: readonly Cell[];
  readonly seed: Seed;
  readonly replications: number;
  readonly notes: readonly string[];
  /** SHA-256 of all that determines the runs, except the content of logs. */
  readonly id: string;
}

export interface SweepOptions {
  readonly seed?: Seed | undefined;
  /** Runs per cell, a whole number from 1. Default: 1. */
  readonly replications?: number | undefined;
}

/** With more cells, only the values of each axis are checked in advance. */
const MOST_CHECKED = 5_000;
const MOST_REPLICATIONS = 100_000;

/** @throws Failure `wrong_usage`, or those of `loadScenario` with the refused cell */
export async function planSweep(
  source: string | ScenarioObject,
  grid: Grid,
  { seed, replications = 1 }: SweepOptions = {},
): Promise<SweepPlan> {
  if (!(Number.isInteger(replications) && replications >= 1 && replications <= MOST_REPLICATIONS))
    throw wrongSweep(
      `Replications are a whole number from 1 to ${MOST_REPLICATIONS}.`,
      'For example --replications 20.',
    );
  const path = typeof source === 'string' ? source : 'scenario.yaml';
  const scenario = typeof source === 'string' ? readDocument(await readSource(source), source).value : source;
  const base = parseScenario(scenario as ScenarioObject, path);
  const axes = axesOf(grid);
  if (seed !== undefined && axes.some((axis) => axis.path === 'seed'))
    throw wrongSweep('The seed is given twice: for all cells, and as an axis.', 'Leave one of them out.');
  const first = seed ?? base.seed;
  const cells = cellsOf(axes);
  const checked = cells.length <= MOST_CHECKED ? cells.map(({ set }) => set) : cornersOf(axes);
  const notes = new Set(checked.flatMap((set) => scenarioOf({ scenario, path }, set).notes));
  const determined = { scenario: described(scenario), seed: String(first), replications, cells };
  return {
    name: base.name,
    path,
    scenario,
    axes,
    cells,
    seed: first,
    replications,
    notes: [...notes],
    id: digestOf(determined),
  };
}

function cornersOf(axes: readonly Axis[]): Cell['set'][] {
  const first = Object.fromEntries(axes.map(({ path, values }) => [path, values[0]!]));
  return axes.flatMap(({ path, values }) => values.map((value) => ({ ...first, [path]: value })));
}

function described(value: unknown): unknown {
  if (typeof value === 'function') return String(value);
  if (Array.isArray(value)) return value.map(described);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (one === undefined ? [] : [[name, described(one)]])),
  );
}

export function scenarioOf({ scenario, path }: Pick<SweepPlan, 'scenario' | 'path'>, set: Cell['set']): LoadedScenario {
  try {
    return parseScenario(withFields(scenario, set) as ScenarioObject, path);
  } catch (error) {
    throw error instanceof Failure ? ofCell(error, set) : error;
  }
}

function ofCell({ code, what, why = what, fix, faults }: Failure, set: Cell['set']): Failure {
  return new Failure(code, {
    what: `The scenario with ${setWords(set)} was refused.`,
    why,
    fix: fix ?? 'Give values that the scenario takes.',
    faults,
  });
}

/** `limiter.threshold=50, clients.0.backoff.policy=none` */
export function setWords(set: Cell['set']): string {
  return Object.entries(set)
    .map(([path, value]) => `${path}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

/** On the figures of runs: `limited < 1%`, `clients.succeeded < clients.jobs / 2`. */
export interface FigureCondition {
  readonly names: readonly string[];
  /** @throws Failure `wrong_usage` for a missing figure */
  holds(figures: Readonly<Record<string, number>>): boolean;
}

/** A percentage is of all requests. @param set fields of a cell: clients may be named. @throws Failure `wrong_usage` */
export function readFigureCondition(text: string, plan: SweepPlan, set: Cell['set']): FigureCondition {
  const { clients } = scenarioOf(plan, { ...plan.cells[0]?.set, ...set });
  const written = text.replace(/(\d+(?:\.\d+)?)\s*%/g, '($1 / 100 * requests)');
  const kinds = clients.map(({ name }) => name);
  const condition = parsed(text, written, kinds);
  const names = [...condition.names];
  if (names.length === 0) throw wrongSweep(`"${text}" names no figure.`, SHOWN);
  return {
    names,
    holds(figures) {
      const missing = names.find((name) => !Object.hasOwn(figures, name));
      if (missing === undefined) return condition.holds((name) => figures[name]);
      throw wrongSweep(
        `"${text}" names ${missing}, which not every run has.`,
        `There are ${Object.keys(figures).join(', ')}.`,
      );
    },
  };
}

function parsed(text: string, written: string, kinds: readonly string[]) {
  try {
    return parseCondition(written, wholeFigures(kinds));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw wrongSweep(`The condition "${text}" cannot be read: ${error.message}.`, SHOWN);
  }
}

const SHOWN = "For example 'limited < 1%' or 'clients.succeeded < clients.jobs / 2'.";
