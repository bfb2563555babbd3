// Owns what a scenario demands of its outcome: conditions on figures, over the run, a phase, or every stretch of so many cycles.
//
//   limited == 0            the figure over the whole run
//   ... from 0 to 120       over the cycles 0 .. 119
//   ... in_any 60           |---60---|          the largest and the smallest value over every stretch of 60 cycles
//                             |---60---|        have to hold
import { holds, namesIn } from '../core/expression/evaluate.js';
import { ExpressionError, type Node, parseCondition } from '../core/expression/parse.js';
import { Failure } from '../core/failure.js';
import { nearest } from '../core/nearest.js';
import type { ExpectationOutcome } from '../outcome/schema.js';
import type { Stretch } from './load.js';
import type { ExpectationSpec } from './schema.js';

/** Figures that can be taken over part of a run and for one contract. */
export const stretchFigures = [
  'requests',
  'admitted',
  'limited',
  'entries',
  'restores',
  'limiting_cycles',
  'peak_count',
] as const;
export type StretchFigure = (typeof stretchFigures)[number];

/** Figures of the whole run beside those; and, under `clients.`, `service.`, `live.`, the figures of those parts. */
const runFigures = [
  'contracts',
  'contracts_limited',
  'peak_cycle',
  'reaction_cycles',
  'recovery_cycles',
  'first_entry',
  'last_restore',
  'skipped_lines',
];
const partPrefixes = ['clients.', 'service.', 'live.'];

export interface Expectation {
  readonly name: string;
  readonly text: string;
  readonly condition: Node;
  /** Cycles from the start of the run; undefined for the whole run. */
  readonly at: Stretch | undefined;
  /** Length of the stretches, of which every one is looked at. */
  readonly inAny: number | undefined;
  readonly contract: string | undefined;
}

/** What an outcome says of a figure. */
export interface FigureSource {
  /** A figure of the whole run; undefined where there is none. */
  whole(name: string): number | undefined;
  /** A figure over part of the run, of one contract or all. */
  over(name: StretchFigure, at: Stretch, contract: string | undefined): number | undefined;
  /** The smallest and largest value of a figure over every stretch of `length` cycles within `at`. */
  extremes(
    name: StretchFigure,
    length: number,
    at: Stretch,
    contract: string | undefined,
  ): { readonly min: number; readonly max: number };
}

interface Reading {
  readonly time: (value: number | string, place: string, least?: number) => number;
  readonly phases: Readonly<Record<string, Stretch>>;
}

/** @throws Failure `invalid_input` with the place of what cannot be understood */
export function parseExpectation(spec: ExpectationSpec, place: string, { time, phases }: Reading): Expectation {
  const given = typeof spec === 'string' ? { that: spec } : spec;
  const at = stretchOf(given, place, time, phases);
  const inAny = given.in_any === undefined ? undefined : time(given.in_any, `${place}/in_any`, 1);
  const partial = at !== undefined || inAny !== undefined || given.contract !== undefined;
  const vocabulary = partial
    ? { names: [...stretchFigures] }
    : { names: [...stretchFigures, ...runFigures], prefixes: partPrefixes };
  const path = typeof spec === 'string' ? place : `${place}/that`;
  let condition: Node;
  try {
    condition = parseCondition(given.that, vocabulary);
  } catch (error) {
    if (error instanceof ExpressionError) throw refused(path, `cannot be read: ${error.message}`);
    throw error;
  }
  if (namesIn(condition).size === 0) throw refused(path, 'names no figure of the outcome, for example `limited == 0`');
  if (inAny !== undefined && namesIn(condition).size > 1) throw refused(path, 'may name one figure only beside in_any');
  return { name: given.name ?? wordsFor(given), text: wordsFor(given), condition, at, inAny, contract: given.contract };
}

/** Whether an expectation holds, and the value found: of a condition with one figure that figure, else all of them as text. */
export function judge(
  { name, text, condition, at, inAny, contract }: Expectation,
  source: FigureSource,
): ExpectationOutcome {
  const whole: Stretch = { from: 0, to: Number.POSITIVE_INFINITY };
  const names = [...namesIn(condition)];
  if (inAny !== undefined) {
    const { min, max } = source.extremes(names[0] as StretchFigure, inAny, at ?? whole, contract);
    const failing = [max, min].find((value) => !holds(condition, () => value));
    return { name, expected: text, actual: failing ?? max, held: failing === undefined };
  }
  const value = (figure: string) =>
    at === undefined && contract === undefined
      ? source.whole(figure)
      : source.over(figure as StretchFigure, at ?? whole, contract);
  const values = names.map((figure) => value(figure));
  const actual =
    names.length === 1
      ? (values[0] ?? null)
      : names.map((figure, index) => `${figure} ${values[index] ?? 'none'}`).join(', ');
  return { name, expected: text, actual, held: holds(condition, value) };
}

function stretchOf(
  { phase, from, to }: { phase?: string; from?: number | string; to?: number | string },
  place: string,
  time: Reading['time'],
  phases: Reading['phases'],
): Stretch | undefined {
  if (phase !== undefined) {
    if (from !== undefined || to !== undefined) throw refused(`${place}/phase`, 'cannot be combined with from or to');
    const found = phases[phase];
    if (found !== undefined) return found;
    const guess = nearest(phase, Object.keys(phases));
    throw refused(
      `${place}/phase`,
      `is no phase of the scenario${guess === undefined ? '' : `; did you mean "${guess}"?`}`,
    );
  }
  if (from === undefined && to === undefined) return undefined;
  const at = {
    from: time(from ?? 0, `${place}/from`),
    to: to === undefined ? Number.POSITIVE_INFINITY : time(to, `${place}/to`),
  };
  if (at.to <= at.from) throw refused(`${place}/to`, 'must lie after `from`');
  return at;
}

function wordsFor(given: Exclude<ExpectationSpec, string> | { that: string }): string {
  const { phase, from, to, in_any, contract } = given as Exclude<ExpectationSpec, string>;
  return [
    given.that,
    ...(in_any === undefined ? [] : [`in any ${typeof in_any === 'number' ? `${in_any} cycles` : in_any}`]),
    ...(phase === undefined ? [] : [`in phase ${phase}`]),
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(to === undefined ? [] : [`to ${to}`]),
    ...(contract === undefined ? [] : [`for contract ${contract}`]),
  ].join(' ');
}

function refused(path: string, message: string): Failure {
  return new Failure('invalid_input', { what: 'The expectation cannot be understood.', faults: [{ path, message }] });
}
