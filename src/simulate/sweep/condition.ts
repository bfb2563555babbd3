// A condition on the figures of runs, as searches and maps take it: `limited < 1%`, `clients.succeeded < clients.jobs / 2`.
import { holds, namesIn } from '../../limiter/expression/evaluate.js';
import { ExpressionError, parseCondition } from '../../limiter/expression/parse.js';
import { wholeFigures } from '../../outcome/figure-names.js';
import { Failure } from '../../schema/failure.js';

export interface FigureCondition {
  /** The figures that it names. */
  readonly names: readonly string[];
  /**
   * @param figures by name
   * @throws Failure `wrong_usage` if one that it names is not among them
   */
  holds(figures: Readonly<Record<string, number>>): boolean;
}

/**
 * Reads a condition; a percentage is of all requests.
 * @param kinds names of the kinds of clients
 * @throws Failure `wrong_usage`
 */
export function readFigureCondition(text: string, kinds: readonly string[]): FigureCondition {
  const written = text.replace(/(\d+(?:\.\d+)?)\s*%/g, '($1 / 100 * requests)');
  const node = parsed(text, written, kinds);
  const names = [...namesIn(node)];
  if (names.length === 0) throw wrong(`"${text}" names no figure.`, SHOWN);
  return {
    names,
    holds(figures) {
      const missing = names.find((name) => !Object.hasOwn(figures, name));
      if (missing === undefined) return holds(node, (name) => figures[name]);
      throw wrong(
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
    throw wrong(`The condition "${text}" cannot be read: ${error.message}.`, SHOWN);
  }
}

const SHOWN = "For example 'limited < 1%' or 'clients.succeeded < clients.jobs / 2'.";

function wrong(what: string, fix: string): Failure {
  return new Failure('wrong_usage', { what, fix });
}
