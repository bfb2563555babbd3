// The cells of a sweep: every combination of values; the last axis changes fastest.
import { readLimit } from '../../core/limiter/products/limit-text.js';
import { nearest } from '../../core/schema/did-you-mean.js';
import { readDocument } from '../../core/schema/document.js';
import { Failure } from '../../core/schema/failure.js';

export interface Grid {
  readonly set: readonly (string | Axis)[];
}

export interface Cell {
  readonly cell: number;
  readonly set: Readonly<Record<string, Json>>;
}

const MOST_CELLS = 1_000_000;

/** @throws Failure `wrong_usage` */
export function axesOf({ set }: Grid): Axis[] {
  const axes = set.map((axis) => (typeof axis === 'string' ? parseAxis(axis) : axis));
  const twice = axes.find(({ path }, index) => axes.findIndex((other) => other.path === path) < index);
  if (twice !== undefined) throw wrongSweep(`${twice.path} is set twice.`, 'Give all its values in one --set.');
  return axes;
}

/** @throws Failure `wrong_usage` */
export function cellsOf(axes: readonly Axis[]): Cell[] {
  const n = axes.reduce((product, { values }) => product * values.length, 1);
  if (n > MOST_CELLS)
    throw wrongSweep(
      `The grid has ${n} cells, and at most ${MOST_CELLS} are run.`,
      'Take larger steps, or fewer axes.',
    );
  const sets = axes.reduce<Cell['set'][]>(
    (all, { path, values, sets }) =>
      all.flatMap((set) => values.map((value) => ({ ...set, [path]: value, ...sets?.[values.indexOf(value)] }))),
    [{}],
  );
  return sets.map((set, cell) => ({ cell, set }));
}

/** The copy shares unchanged parts with the original. @throws Failure `wrong_usage` if a path leads nowhere */
export function withFields(scenario: unknown, set: Readonly<Record<string, Json>>): unknown {
  const { limiter } = (scenario ?? {}) as { readonly limiter?: unknown };
  const isRead = typeof limiter === 'string' && Object.keys(set).some((path) => path.startsWith('limiter.'));
  // Fields of a limiter where there is none make a window.
  const read = isRead && limiter.trim() !== 'none' ? readLimit(limiter) : {};
  const start = isRead ? { ...(scenario as object), limiter: read } : scenario;
  return Object.entries(set).reduce((whole, [path, value]) => withField(whole, path.split('.'), value, path), start);
}

function withField(whole: unknown, [step = '', ...rest]: readonly string[], value: Json, path: string): unknown {
  const inner = (one: unknown) => (rest.length === 0 ? value : withField(one, rest, value, path));
  if (Array.isArray(whole)) {
    const index = indexIn(whole, step, path);
    return whole.map((one, at) => (at === index ? inner(one) : one));
  }
  if (whole !== undefined && (typeof whole !== 'object' || whole === null))
    throw wrongSweep(
      `${path} cannot be set: ${JSON.stringify(step)} would be a field of ${JSON.stringify(whole)}.`,
      SHOWN,
    );
  const fields = (whole ?? {}) as Readonly<Record<string, unknown>>;
  // As a property, so that a field called __proto__ is refused as unknown.
  const present = Object.hasOwn(fields, step) ? fields[step] : undefined;
  return Object.fromEntries([...Object.entries(fields), [step, inner(present)]]);
}

function indexIn(list: readonly unknown[], step: string, path: string): number {
  const names = list.map((one) => (one as { readonly name?: unknown } | null)?.name);
  const index = /^\d+$/.test(step) ? Number(step) : names.indexOf(step);
  if (index >= 0 && index < list.length) return index;
  const known = names.filter((name) => typeof name === 'string');
  const guess = nearest(step, known);
  const advice = guess === undefined ? '' : ` Did you mean "${guess}"?`;
  const range = list.length === 0 ? 'the list is empty' : `there are 0 to ${list.length - 1}`;
  const choice = known.length === 0 ? range : `${range}, or by name ${known.join(', ')}`;
  throw wrongSweep(
    `${path} cannot be set: ${JSON.stringify(step)} is no entry of its list; ${choice}.${advice}`,
    SHOWN,
  );
}

const SHOWN = 'For example limiter.threshold or clients.0.backoff.policy.';

export function wrongSweep(what: string, fix: string): Failure {
  return new Failure('wrong_usage', { what, fix });
}

// Axes: a field of a scenario and its values.
//
//   limiter.threshold=50..200:10              a range with its step: 50, 60, … 200
//   limiter.threshold=1..1000:log7            7 values with equal ratios, both ends included
//   clients.0.backoff.policy=none,full        a list
//   arrivals.0.rate=10/s..50/s:10/s           a range with a unit
//   limiter=[{threshold: 10}, {like: nginx}]  a list in YAML, for values with commas

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

export interface Axis {
  readonly path: string;
  /** In order. */
  readonly values: readonly Json[];
  readonly unit: string | undefined;
  /** Of a range that names it, in its unit. */
  readonly step?: number | undefined;
  /** Display names of the values of a list. Default: the values. */
  readonly names?: readonly string[] | undefined;
  readonly sets?: readonly Readonly<Record<string, Json>>[] | undefined;
}

const MOST_VALUES = 100_000;

const NUMBER = '[+-]?\\d+(?:\\.\\d+)?';
const RANGE = new RegExp(`^(${NUMBER})([^.:]*)\\.\\.(${NUMBER})([^.:]*)(?::(.+))?$`);
const STEP = new RegExp(`^(${NUMBER})(.*)$`);
const LOG = /^log(\d+)$/;

/** Reads `path=values`. @param isSearched a range without a step has that of its last decimal @throws Failure `wrong_usage` */
export function parseAxis(text: string, isSearched = false): Axis {
  const [, path = '', written = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (path.trim() === '' || written.trim() === '') throw refused(text, 'it is not path=values');
  return { ...valuesOf(text, written.trim(), isSearched), path: path.trim() };
}

/** @throws Failure `wrong_usage` if there are none, or too many */
export function listAxis(path: string, values: readonly Json[], more: Pick<Axis, 'names' | 'sets'> = {}): Axis {
  if (values.length === 0) throw refused(path, 'it has no values');
  if (values.length > MOST_VALUES) throw refused(path, `it has more than ${MOST_VALUES} values`);
  return { path, values, unit: undefined, ...more };
}

export function valueName({ path, values, names }: Axis, set: Cell['set']): string | number {
  const value = set[path];
  const text = JSON.stringify(value);
  const name = names?.[values.findIndex((one) => JSON.stringify(one) === text)];
  if (name !== undefined || value === undefined) return name ?? '';
  return typeof value === 'number' || typeof value === 'string' ? value : text;
}

function valuesOf(text: string, written: string, isSearched: boolean): Omit<Axis, 'path'> {
  const range = RANGE.exec(written);
  if (range !== null) return rangeOf(text, isSearched, range);
  if (!written.startsWith('[')) return listAxis(text, written.split(',').map(scalar));
  try {
    return listAxis(text, readDocument(written, text).value as Json[]);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'invalid_yaml') throw error;
    throw refused(text, `its list cannot be read: ${error.why?.replace(/\.$/, '')}`);
  }
}

const WORDS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

function scalar(word: string): Json {
  const trimmed = word.trim();
  if (trimmed !== '' && new RegExp(`^${NUMBER}$`).test(trimmed)) return Number(trimmed);
  return Object.hasOwn(WORDS, trimmed) ? WORDS[trimmed]! : trimmed;
}

function rangeOf(
  text: string,
  isSearched: boolean,
  [, from = '', unit = '', to = '', toUnit = '', given]: RegExpExecArray,
): Omit<Axis, 'path'> {
  if (unit.trim() !== toUnit.trim()) throw refused(text, `its ends have different units, "${unit}" and "${toUnit}"`);
  const [low, high] = [Number(from), Number(to)];
  if (!(low < high)) throw refused(text, `its range ends at ${to}, which is not above ${from}`);
  const decimals = Math.max(decimalsOf(from), decimalsOf(to));
  const least = (10 ** -decimals).toFixed(decimals);
  const step = given ?? (isSearched ? least : undefined);
  if (step === undefined)
    throw wrongSweep(`${text} has a range without a step.`, `Write for example ${text}:${least}.`);
  const log = LOG.exec(step);
  if (log === null) {
    const values = steps(text, { low, high, decimals, unit, step }).map((value) => withUnit(value, unit));
    return { values, unit, step: given === undefined ? undefined : Number.parseFloat(given) };
  }
  if (low <= 0) throw refused(text, 'a logarithmic range begins above 0');
  const n = Number(log[1]);
  if (n < 2 || n > MOST_VALUES) throw refused(text, `log takes a number of values from 2 to ${MOST_VALUES}`);
  const rounded = (value: number) => (decimals === 0 ? Math.round(value) : Number(value.toPrecision(6)));
  const values = new Set(Array.from({ length: n }, (_, index) => rounded(low * (high / low) ** (index / (n - 1)))));
  return { values: [...values].map((value) => withUnit(value, unit)), unit };
}

export function withUnit(value: number, unit: string): Json {
  return unit === '' ? value : `${value}${unit}`;
}

interface SteppedRange {
  readonly low: number;
  readonly high: number;
  readonly decimals: number;
  readonly unit: string;
  readonly step: string;
}

/** In integers of the last decimal: 0.1, 0.2, … are exact. */
function steps(text: string, { low, high, decimals, unit, step }: SteppedRange): number[] {
  const [, size = '', stepUnit = ''] = STEP.exec(step) ?? [];
  if (size === '' || Number(size) <= 0) throw refused(text, `"${step}" is no step: write 50..200:10 or 1..1000:log7`);
  if (stepUnit.trim() !== '' && stepUnit.trim() !== unit.trim())
    throw refused(text, `its step has the unit "${stepUnit}" and its ends "${unit}"`);
  const places = Math.max(decimals, decimalsOf(size));
  const scale = 10 ** places;
  const scaled = (value: number) => Math.round(value * scale);
  const [first, last, by] = [scaled(low), scaled(high), scaled(Number(size))];
  const n = Math.floor((last - first) / by) + 1;
  if (n > MOST_VALUES) throw refused(text, `it has more than ${MOST_VALUES} values`);
  return Array.from({ length: n }, (_, index) => (first + index * by) / scale);
}

function decimalsOf(text: string): number {
  return text.split('.')[1]?.length ?? 0;
}

function refused(text: string, why: string): Failure {
  return new Failure('wrong_usage', {
    what: `"${text}" is no axis of a sweep.`,
    why: `${why.charAt(0).toUpperCase()}${why.slice(1)}.`,
    fix: 'Write for example limiter.threshold=50..200:10, limiter.within=30,60,120 or limiter.threshold=1..1000:log7.',
  });
}
