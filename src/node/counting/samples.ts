// What is known of a contract when a cycle is over: the columns of its course.
import { type Column, columns } from '../../api/course.js';
import type { Contract } from '../../host/contract.js';

export interface Sampled {
  readonly contract: Contract;
  /** Those with which it begins, in the order of `columns`; NaN for what is not known. Admitted, limited, entries and restores are sums so far. */
  begin(figures: readonly number[]): void;
  take(cycle: number, figures: readonly number[]): void;
}

export interface Samples {
  /** Contracts that are sampled although nobody watches them, at most. */
  readonly mostUnwatched: number;
  begin(sampled: Sampled): void;
  end(sampled: Sampled): void;
}

export function figuresOf(known: Partial<Record<Column, number>>): number[] {
  return columns.map((name) => known[name] ?? Number.NaN);
}
