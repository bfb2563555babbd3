// The outcomes of many lines.
//
//   line     1 … 100     101 … 5000    5001      5002 …        neighbours with the same outcome share one entry, so that the
//   outcome  admitted    limited       refused   admitted …    answer stays small however many lines there are
import type { Failure } from '../schema/failure.js';
import type { Decision } from './decision.js';

/** What became of neighbouring lines: all their events admitted, all limited, some of each (one line), or nothing counted. */
export interface BulkOutcome {
  readonly from_line: number;
  to_line: number;
  readonly outcome: 'admitted' | 'limited' | 'mixed' | 'refused';
  admitted: number;
  limited: number;
  /** Of the first of the refused lines. */
  readonly code?: string;
  readonly detail?: string;
}

/** What is said of a contract with keys: the sum over all of them. */
export interface KeyedSum {
  readonly id: string;
  readonly keys: number;
  readonly admitted: number;
  readonly limited: number;
}

/** What a contract has counted of all lines. */
export interface Sum {
  readonly kind: number;
  events: number;
  admitted: number;
  /** By a network of nodes: what was decided last. */
  last?: Decision;
}

export class BulkOutcomes {
  readonly outcomes: BulkOutcome[] = [];
  /** Lines with an event; blank ones are none. */
  lines = 0;
  counted = 0;
  refused = 0;
  /** Of the lines that were counted. An event that several contracts count is admitted if all of them admit it. */
  admitted = 0;
  limited = 0;

  /** A line of n events was counted; `least`: how many all contracts admitted. */
  protected took(number: number, n: number, least: number): void {
    this.lines += 1;
    this.counted += 1;
    this.admitted += least;
    this.limited += n - least;
    const outcome = least === n ? 'admitted' : least === 0 ? 'limited' : 'mixed';
    const last = this.outcomes.at(-1);
    if (last !== undefined && last.outcome === outcome && outcome !== 'mixed') {
      last.to_line = number;
      last.admitted += least;
      last.limited += n - least;
    } else {
      this.outcomes.push({ from_line: number, to_line: number, outcome, admitted: least, limited: n - least });
    }
  }

  protected refuseWith(number: number, { code, message: detail }: Failure): void {
    this.lines += 1;
    this.refused += 1;
    const last = this.outcomes.at(-1);
    if (last !== undefined && last.code === code) last.to_line = number;
    else {
      const place = { from_line: number, to_line: number };
      this.outcomes.push({ ...place, outcome: 'refused', admitted: 0, limited: 0, code, detail });
    }
  }
}
