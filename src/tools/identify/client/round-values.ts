// Which round values are tried for the parameters of a law of waits. Pure.
import type { Range } from '../../../core/math/range.js';
import { roundest } from '../../../core/math/roundest.js';
import { isLonger, type WaitParameters } from './wait-law.js';

export const roundShares = [0, 0.5];
/** Shares, and extensions by shares, relative to the longest wait. */
const lessRound = [0.25, 0.6, 0.7, 0.75, 0.8, 0.9, 1 / 1.1, 1 / 1.2, 1 / 1.25, 1 / 1.3, 1 / 1.5];
/** Round factors and shares this far outside their interval are tried, too. */
const NEAR = 0.1;
export const roundFactors = [2, 1, 1.5, 3];

/** The values to try for a parameter, the one most often written first. @param name `noCap`: that there is none */
export function roundestOf(name: keyof WaitParameters | 'noCap', { least, most }: Range, value: number): number[] {
  const near = (one: number) => one >= least - NEAR && one <= most + NEAR;
  if (name === 'low') {
    const others = lessRound.filter((one) => one >= least && one <= most);
    return [
      ...roundShares.filter(near),
      ...byDistance(others, value),
      roundNear(100 * least, 100 * most, 100 * value) / 100,
    ];
  }
  if (name === 'factor') return [...roundFactors.filter(near), roundNear(100 * least, 100 * most, 100 * value) / 100];
  if (name === 'noCap') return [Infinity];
  return [roundNear(least, most, value)];
}

/** The nearest usual share of the other form: longer by 30 % for shorter by 25 %. */
export function otherShareOf(low: number): number {
  return byDistance(lessRound, low).find((one) => isLonger(one) !== isLonger(low))!;
}

function byDistance(some: readonly number[], value: number): number[] {
  return [...some].sort((a, b) => Math.abs(a - value) - Math.abs(b - value));
}

const ROUND = 0.02;

/** The roundest value within, and near `value`. */
export function roundNear(least: number, most: number, value: number): number {
  // Most timers have steps of a millisecond.
  const by = Math.max(1, ROUND * value);
  const [from, to] = [
    Math.max(Math.min(least, value - 1), value - by),
    Math.min(Math.max(most, value + 1), value + by),
  ];
  return roundest(from, to, value);
}
