// A published result, its measurement, and the rule for their agreement.
//
//   replication     1     2     3    ...    n            each a pure function of (seed, replication)
//   figures       [...] [...] [...]  ... [...]           one per row
//                 mean and standard error s / sqrt(n)    held when |mean - expected| <= 3.3 sqrt(error^2 + published error^2)
//
// With 3.3 standard errors a correct simulator fails one row in a thousand. With few replications, Student's distribution gives the
// factor of the same probability, because the standard error is itself uncertain.
import { meanOf, studentQuantile, variance } from '../../src/core/math/interval.js';
import { assert, unreachable } from '../../src/core/schema/failure.js';

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

const WITHIN = 3.3;

/** The rows that are not held, in words. @param samples figures by replication; at least two */
export function missedRows({ rows }: PublishedCheck, samples: readonly (readonly number[])[]): readonly string[] {
  assert(samples.length >= 2, 'a standard error needs two replications');
  return rows.flatMap((row, index) => {
    const values = samples.map((figures) => figures[index]!);
    const mean = meanOf(values);
    const standardError = Math.sqrt(variance(values) / values.length);
    if (holds(row, mean, standardError, samples.length)) return [];
    return [`${row.name}: ${mean} ± ${standardError} ${row.unit}, published ${row.expected}`];
  });
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
