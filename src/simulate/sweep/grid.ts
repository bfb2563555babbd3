// The cells of a sweep: for each the fields that it sets, and the scenario with them.
//
//   grid      every value of each axis with every value of the others, the last axis changes fastest
//   random    n cells, each axis drawn on its own
//   latin     n cells; each axis is cut into n equal parts, and each part is drawn from once
//             (Latin hypercube: McKay, Beckman, Conover, Technometrics 21, 1979)
import { RandomStream } from '../../math/random.js';
import type { Seed } from '../../math/seed.js';
import { nearest } from '../../schema/did-you-mean.js';
import { Failure } from '../../schema/failure.js';
import { type Axis, type Json, parseAxis } from './axis.js';

export interface Grid {
  /** Axes as text (see axis.ts) or as values. */
  readonly set: readonly (string | Axis)[];
  /** Draws so many cells instead of all combinations. */
  readonly samples?: number | undefined;
  /** How they are drawn. Default: latin. */
  readonly sampling?: 'latin' | 'random' | undefined;
}

export interface Cell {
  /** From 0. */
  readonly cell: number;
  /** The fields that are set, by path. */
  readonly set: Readonly<Record<string, Json>>;
}

/** The most cells of one sweep. */
const MOST_CELLS = 1_000_000;

/** @throws Failure `wrong_usage` */
export function axesOf({ set }: Grid): Axis[] {
  const axes = set.map((axis) => (typeof axis === 'string' ? parseAxis(axis) : axis));
  const twice = axes.find(({ path }, index) => axes.findIndex((other) => other.path === path) < index);
  if (twice !== undefined) throw wrong(`${twice.path} is set twice.`, 'Give all its values in one --set.');
  return axes;
}

/** @throws Failure `wrong_usage` */
export function cellsOf(axes: readonly Axis[], { samples, sampling = 'latin' }: Grid, seed: Seed): Cell[] {
  const shares = samples === undefined ? undefined : sharesOf(axes, samples, sampling, seed);
  if (shares !== undefined)
    return shares.map((row, cell) => ({ cell, set: setOf(axes, (axis, index) => axis.at(row[index]!)) }));
  const open = axes.find(({ values }) => values === undefined);
  if (open !== undefined)
    throw wrong(`${open.path} has a range without a step.`, 'Write 50..200:10, or draw from it with --samples 100.');
  const n = axes.reduce((product, { values }) => product * values!.length, 1);
  if (n > MOST_CELLS)
    throw wrong(`The grid has ${n} cells, and at most ${MOST_CELLS} are run.`, 'Draw from it with --samples 1000.');
  return Array.from({ length: n }, (_, cell) => {
    let rest = cell;
    const places = axes
      .toReversed()
      .map(({ values }) => {
        const place = rest % values!.length;
        rest = Math.floor(rest / values!.length);
        return place;
      })
      .reverse();
    return { cell, set: setOf(axes, ({ values }, index) => values![places[index]!]!) };
  });
}

function setOf(axes: readonly Axis[], value: (axis: Axis, index: number) => Json): Readonly<Record<string, Json>> {
  return Object.fromEntries(axes.map((axis, index) => [axis.path, value(axis, index)]));
}

function sharesOf(axes: readonly Axis[], n: number, sampling: 'latin' | 'random', seed: Seed): number[][] {
  if (!(Number.isInteger(n) && n >= 1 && n <= MOST_CELLS))
    throw wrong(`samples must be a whole number from 1 to ${MOST_CELLS}.`, 'For example --samples 100.');
  const columns = axes.map(({ path }) => {
    const draws = new RandomStream(seed, `sweep/${path}`);
    if (sampling === 'random') return Array.from({ length: n }, () => draws.uniform());
    const parts = Array.from({ length: n }, (_, index) => index);
    // Fisher and Yates.
    for (let last = n - 1; last > 0; last -= 1) {
      const other = draws.integer(0, last);
      [parts[last], parts[other]] = [parts[other]!, parts[last]!];
    }
    return parts.map((part) => (part + draws.uniform()) / n);
  });
  return Array.from({ length: n }, (_, cell) => columns.map((column) => column[cell]!));
}

/**
 * A scenario with some fields set. What is not on the way to them is shared with the original, which stays as it is.
 * @throws Failure `wrong_usage` if the path leads nowhere
 */
export function withFields(scenario: unknown, set: Readonly<Record<string, Json>>): unknown {
  return Object.entries(set).reduce((whole, [path, value]) => withField(whole, path.split('.'), value, path), scenario);
}

function withField(whole: unknown, [step = '', ...rest]: readonly string[], value: Json, path: string): unknown {
  const inner = (one: unknown) => (rest.length === 0 ? value : withField(one, rest, value, path));
  if (Array.isArray(whole)) {
    const index = indexIn(whole, step, path);
    return whole.map((one, at) => (at === index ? inner(one) : one));
  }
  if (whole !== undefined && (typeof whole !== 'object' || whole === null))
    throw wrong(`${path} cannot be set: ${JSON.stringify(step)} would be a field of ${JSON.stringify(whole)}.`, SHOWN);
  const fields = (whole ?? {}) as Readonly<Record<string, unknown>>;
  // A definite property, so that a field called __proto__ is refused as an unknown one.
  const present = Object.hasOwn(fields, step) ? fields[step] : undefined;
  return Object.fromEntries([...Object.entries(fields), [step, inner(present)]]);
}

/** Entries of a list are named by their place, or by their `name`. */
function indexIn(list: readonly unknown[], step: string, path: string): number {
  const names = list.map((one) => (one as { readonly name?: unknown } | null)?.name);
  const index = /^\d+$/.test(step) ? Number(step) : names.indexOf(step);
  if (index >= 0 && index < list.length) return index;
  const known = names.filter((name) => typeof name === 'string');
  const guess = nearest(step, known);
  const advice = guess === undefined ? '' : ` Did you mean "${guess}"?`;
  const range = list.length === 0 ? 'the list is empty' : `there are 0 to ${list.length - 1}`;
  const choice = known.length === 0 ? range : `${range}, or by name ${known.join(', ')}`;
  throw wrong(`${path} cannot be set: ${JSON.stringify(step)} is no entry of its list; ${choice}.${advice}`, SHOWN);
}

const SHOWN = 'For example limiter.threshold or clients.0.backoff.policy.';

function wrong(what: string, fix: string): Failure {
  return new Failure('wrong_usage', { what, fix });
}
