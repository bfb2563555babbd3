// The figures of a contract at the end of a cycle: the columns of its history.
import { type Column, columns } from '../../api/contract-history.js';
import type { Contract } from '../host/contract.js';

export interface Sampled {
  readonly contract: Contract;
  /** In the order of `columns`; NaN if unknown. Admitted, limited, entries and restores are sums. */
  begin(figures: readonly number[]): void;
  take(cycle: number, figures: readonly number[]): void;
}

export interface Samples {
  readonly mostUnwatched: number;
  begin(sampled: Sampled): void;
  end(sampled: Sampled): void;
}

export function figuresOf(known: Partial<Record<Column, number>>): number[] {
  return columns.map((name) => known[name] ?? Number.NaN);
}
