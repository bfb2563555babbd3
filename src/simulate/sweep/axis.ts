// The axes of a sweep: which field of a scenario takes which values.
//
//   limiter.threshold=50..200:10              a range with its step: 50, 60, … 200
//   limiter.threshold=1..1000:log7            7 values with equal ratios, both ends included
//   clients.0.backoff.policy=none,full        a list
//   arrivals.0.rate=10/s..50/s:10/s           a range with a unit
//   limiter=[{threshold: 10}, {like: nginx}]  a list in YAML, for values with commas
//   limiter.threshold=50..200                 a range without a step, for samples; also 1..1000:log
import { readDocument } from '../../scenario/document.js';
import { Failure } from '../../schema/failure.js';

/** What a field of a scenario may hold, as JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

export interface Axis {
  /** The field, with points between its steps: `clients.0.backoff.policy`. */
  readonly path: string;
  /** In order; undefined for a range without a step, which only samples can use. */
  readonly values: readonly Json[] | undefined;
  /** The value at a share of the way from the first to the last, 0 <= share < 1. */
  readonly at: (share: number) => Json;
}

/** The most values of one axis. */
const MOST_VALUES = 100_000;

const NUMBER = '[+-]?\\d+(?:\\.\\d+)?';
const RANGE = new RegExp(`^(${NUMBER})([^.:]*)\\.\\.(${NUMBER})([^.:]*)(?::(.+))?$`);
const STEP = new RegExp(`^(${NUMBER})(.*)$`);
const LOG = /^log(\d*)$/;

/**
 * Reads `path=values`.
 * @throws Failure `wrong_usage`
 */
export function parseAxis(text: string): Axis {
  const [, path = '', written = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (path.trim() === '' || written.trim() === '') throw refused(text, 'it is not path=values');
  return { ...valuesOf(text, written.trim()), path: path.trim() };
}

/**
 * An axis of values that are known.
 * @throws Failure `wrong_usage` if there are none
 */
function listAxis(path: string, values: readonly Json[]): Axis {
  if (values.length === 0) throw refused(path, 'it has no values');
  if (values.length > MOST_VALUES) throw refused(path, `it has more than ${MOST_VALUES} values`);
  return { path, values, at: (share) => values[Math.floor(share * values.length)]! };
}

function valuesOf(text: string, written: string): Omit<Axis, 'path'> {
  const range = RANGE.exec(written);
  if (range !== null) return rangeOf(text, range);
  if (!written.startsWith('[')) return listAxis(text, written.split(',').map(scalar));
  try {
    return listAxis(text, readDocument(written, text).value as Json[]);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'invalid_yaml') throw error;
    throw refused(text, `its list cannot be read: ${error.why?.replace(/\.$/, '')}`);
  }
}

const WORDS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

/** As in a scenario: `20` is a number, `20s` a text, `true` a truth value. */
function scalar(word: string): Json {
  const trimmed = word.trim();
  if (trimmed !== '' && new RegExp(`^${NUMBER}$`).test(trimmed)) return Number(trimmed);
  return Object.hasOwn(WORDS, trimmed) ? WORDS[trimmed]! : trimmed;
}

function rangeOf(text: string, [, from = '', unit = '', to = '', toUnit = '', step]: RegExpExecArray) {
  if (unit.trim() !== toUnit.trim()) throw refused(text, `its ends have different units, "${unit}" and "${toUnit}"`);
  const [low, high] = [Number(from), Number(to)];
  if (!(low < high)) throw refused(text, `its range ends at ${to}, which is not above ${from}`);
  const decimals = Math.max(decimalsOf(from), decimalsOf(to));
  const asValue = (value: number): Json => (unit === '' ? value : `${value}${unit}`);
  const log = step === undefined ? null : LOG.exec(step);
  if (log !== null && low <= 0) throw refused(text, 'a logarithmic range begins above 0');
  const isWhole = decimals === 0;
  const rounded = (value: number) => (isWhole ? Math.round(value) : Number(value.toPrecision(6)));
  const ratioAt = (share: number) => rounded(low * (high / low) ** share);
  const at = (share: number) => {
    if (log !== null) return asValue(ratioAt(share));
    return asValue(isWhole ? low + Math.floor(share * (high - low + 1)) : rounded(low + share * (high - low)));
  };
  if (step === undefined || log?.[1] === '') return { values: undefined, at };
  if (log !== null) {
    const n = Number(log[1]);
    if (n < 2 || n > MOST_VALUES) throw refused(text, `log takes a number of values from 2 to ${MOST_VALUES}`);
    const values = new Set(Array.from({ length: n }, (_, index) => ratioAt(index / (n - 1))));
    return { values: [...values].map(asValue), at };
  }
  return { values: steps(text, { low, high, decimals, unit, step }).map(asValue), at };
}

interface SteppedRange {
  readonly low: number;
  readonly high: number;
  readonly decimals: number;
  readonly unit: string;
  readonly step: string;
}

/** In whole numbers of the last decimal, so that 0.1, 0.2, … are exact. */
function steps(text: string, { low, high, decimals, unit, step }: SteppedRange): number[] {
  const [, size = '', stepUnit = ''] = STEP.exec(step) ?? [];
  if (size === '' || Number(size) <= 0) throw refused(text, `"${step}" is no step: write 50..200:10 or 1..1000:log7`);
  if (stepUnit.trim() !== '' && stepUnit.trim() !== unit.trim())
    throw refused(text, `its step has the unit "${stepUnit}" and its ends "${unit}"`);
  const places = Math.max(decimals, decimalsOf(size));
  const scale = 10 ** places;
  const [first, last, by] = [low, high, Number(size)].map((value) => Math.round(value * scale)) as [
    number,
    number,
    number,
  ];
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
