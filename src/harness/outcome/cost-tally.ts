// Costs of a run's requests, in their unit.
import { FifoQueue } from '../../core/math/fifo-queue.js';
import type { CostFigures } from './outcome-schema.js';

const MINUTE_MS = 60_000;

export type CostTally = ReturnType<typeof costTally>;

export function costTally(unit: string) {
  let requested = 0;
  let admitted = 0;
  let most = 0;
  let inMinute = 0;
  /** Admissions of the last minute. */
  const admissions = new FifoQueue<{ readonly cost: number; readonly ms: number }>();
  return {
    add(cost: number, isAdmitted: boolean, ms: number): void {
      requested += cost;
      if (!isAdmitted) return;
      admitted += cost;
      inMinute += cost;
      admissions.push({ cost, ms });
      while (admissions.first!.ms <= ms - MINUTE_MS) inMinute -= admissions.shift()!.cost;
      most = Math.max(most, inMinute);
    },
    figures(): CostFigures {
      return { unit, requested, admitted, most_in_minute: most };
    },
  };
}
