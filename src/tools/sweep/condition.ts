// Conditions on the figures of runs: `limited < 1%`, `clients.succeeded < clients.jobs / 2`.
import { ExpressionError, parseCondition } from '../../core/limiter/expression/condition.js';
import { wholeFigures } from '../../harness/outcome/figure-names.js';
import { type Cell, wrongSweep } from '../../harness/scenario/grid.js';
import { type SweepPlan, scenarioOf } from './plan-sweep.js';

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
