// Owns what a check is: a published result, a way to measure it, and when both agree. Leaves the systems measured to the checks.
//
//   replication     1     2     3    ...    n            each a pure function of (seed, replication), on any core
//   figures       [...] [...] [...]  ... [...]           one a row
//                 mean and standard error s / sqrt(n)    held when |mean - expected| <= 3.3 sqrt(error^2 + published error^2)
//
// 3.3 standard errors: a right simulator fails one row in a thousand, for a seed not chosen to please.

import { assert, unreachable } from '../../core/failure.js';

/** What is published of one figure. */
export interface Row {
  readonly name: string;
  readonly expected: number;
  /** Standard error of the published figure, where it was itself measured; 0 for a closed form. */
  readonly error?: number | undefined;
  /** 'equal' unless told otherwise; 'below': the mean must lie clearly under what is given. */
  readonly holds?: 'equal' | 'below' | undefined;
  readonly unit: string;
}

export interface Check {
  readonly id: string;
  readonly title: string;
  /** Where the figures come from. */
  readonly source: string;
  readonly rows: readonly Row[];
  /** One figure a row, in their order. Pure: nothing but the two numbers enters. `replication` counts from 0. */
  replicate(seed: number, replication: number): readonly number[];
}

export interface MeasuredRow extends Row {
  readonly mean: number;
  /** Of the mean over the replications. */
  readonly standardError: number;
  readonly held: boolean;
}

export interface CheckResult {
  readonly id: string;
  readonly title: string;
  readonly source: string;
  readonly replications: number;
  readonly rows: readonly MeasuredRow[];
  readonly held: boolean;
}

const WITHIN = 3.3;

/** Brings replications, in any order, together. @param samples the figures of each, at least two */
export function judge({ id, title, source, rows }: Check, samples: readonly (readonly number[])[]): CheckResult {
  const measured = rows.map((row, index) => {
    const { mean, standardError } = meanOf(samples.map((figures) => figures[index]!));
    return { ...row, mean, standardError, held: holds(row, mean, standardError) };
  });
  return { id, title, source, replications: samples.length, rows: measured, held: measured.every(({ held }) => held) };
}

function holds({ expected, error = 0, holds: how = 'equal' }: Row, mean: number, standardError: number): boolean {
  const tolerance = WITHIN * Math.sqrt(standardError * standardError + error * error);
  switch (how) {
    case 'equal':
      return Math.abs(mean - expected) <= tolerance;
    case 'below':
      return mean + tolerance < expected;
    default:
      return unreachable(how);
  }
}

function meanOf(values: readonly number[]): { mean: number; standardError: number } {
  const n = values.length;
  assert(n >= 2, 'an error cannot be told from one replication');
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const squares = values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0);
  return { mean, standardError: Math.sqrt(squares / (n - 1) / n) };
}
