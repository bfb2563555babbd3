// A check of the self-test: a published result, its measurement, and the rule for their agreement.
//
//   replication     1     2     3    ...    n            each a pure function of (seed, replication), on any core
//   figures       [...] [...] [...]  ... [...]           one per row
//                 mean and standard error s / sqrt(n)    held when |mean - expected| <= 3.3 sqrt(error^2 + published error^2)
//
// With 3.3 standard errors a correct simulator fails one row in a thousand. With few replications, Student's distribution gives the
// factor of the same probability, because the standard error is itself uncertain.
import { meanOf, studentQuantile, variance } from '../math/interval.js';
import { assert, unreachable } from '../schema/failure.js';

export interface PublishedRow {
  readonly name: string;
  readonly expected: number;
  /** Standard error of a published figure that was measured or rounded; 0 for a closed form. */
  readonly error?: number | undefined;
  /** Default 'equal'. 'below': the mean is below `expected` by more than the tolerance. */
  readonly holds?: 'equal' | 'below' | undefined;
  readonly unit: string;
}

export interface PublishedCheck {
  readonly id: string;
  readonly title: string;
  readonly source: string;
  readonly tolerance?: string | undefined;
  readonly mechanism?: string | undefined;
  readonly rows: readonly PublishedRow[];
  /**
   * One figure per row. Pure: depends only on its arguments. `replication` counts from 0.
   * @param without disables the mechanism; the model must then not reproduce the result
   */
  replicate(seed: number, replication: number, without?: boolean): readonly number[];
}

interface MeasuredRow extends PublishedRow {
  readonly mean: number;
  readonly standardError: number;
  readonly held: boolean;
}

export interface CheckResult extends Pick<PublishedCheck, 'id' | 'title' | 'source' | 'tolerance'> {
  readonly replications: number;
  readonly rows: readonly MeasuredRow[];
  readonly held: boolean;
}

const WITHIN = 3.3;

/** @param samples figures by replication; at least two */
export function judgeSamples(
  { id, title, source, tolerance, rows }: PublishedCheck,
  samples: readonly (readonly number[])[],
): CheckResult {
  assert(samples.length >= 2, 'a standard error needs two replications');
  const measured = rows.map((row, index) => {
    const values = samples.map((figures) => figures[index]!);
    const mean = meanOf(values);
    const standardError = Math.sqrt(variance(values) / values.length);
    return { ...row, mean, standardError, held: holds(row, mean, standardError, samples.length) };
  });
  const held = measured.every((row) => row.held);
  return { id, title, source, tolerance, replications: samples.length, rows: measured, held };
}

function holds(
  { expected, error = 0, holds: how = 'equal' }: PublishedRow,
  mean: number,
  standardError: number,
  n: number,
): boolean {
  const tolerance = Math.hypot(errorsAllowed(n) * standardError, WITHIN * error);
  switch (how) {
    case 'equal':
      return Math.abs(mean - expected) <= tolerance;
    case 'below':
      return mean + tolerance < expected;
    default:
      return unreachable(how);
  }
}

/** Standard errors allowed for n replications at constant probability: 3.3 from 100 on, 4.8 for 10. */
function errorsAllowed(n: number): number {
  return n >= 100 ? WITHIN : studentQuantile(WITHIN, n - 1);
}
