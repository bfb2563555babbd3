// Owns figures over part of a run: what happened between two cycles, and the most and least that happened in any stretch.

import type { TransitionSeen } from '../outcome/schema.js';
import type { Timeline, TimelineRow } from '../outcome/timeline.js';
import type { FigureSource, StretchFigure } from '../scenario/expectation.js';
import type { Stretch } from '../scenario/load.js';

/** What is needed to look back at a run. */
export interface Past {
  /** The cycle from which stretches count. */
  readonly firstCycle: number;
  readonly lastCycle: number;
  readonly names: readonly string[];
  /** Each contract, cycle by cycle; undefined where it was not kept. */
  readonly timeline: Timeline | undefined;
  /** All contracts together. */
  readonly totals: Timeline;
  readonly transitions: readonly (readonly TransitionSeen[])[];
  /** Whether a state admits, by its name. */
  readonly admits: (state: string) => boolean;
}

/** A run cut into stretches. Cycles of a stretch count from the start of the run. */
export class Stretches implements Pick<FigureSource, 'over' | 'extremes'> {
  private readonly sums = new Map<string, Sums>();

  constructor(private readonly past: Past) {}

  over(figure: StretchFigure, at: Stretch, contract: string | undefined): number | undefined {
    const { firstCycle, lastCycle, names } = this.past;
    if (contract !== undefined && !names.includes(contract)) return undefined;
    const from = firstCycle + at.from;
    const to = Math.min(firstCycle + at.to, lastCycle + 1);
    switch (figure) {
      case 'requests':
      case 'admitted':
      case 'limited':
      case 'entries':
      case 'restores':
        return this.sumsOf(figure, contract).between(from, to);
      case 'limiting_cycles':
        return this.limitingCycles(from, to, contract);
      case 'peak_count':
        return this.peak(from, to, contract);
    }
  }

  extremes(
    figure: StretchFigure,
    length: number,
    at: Stretch,
    contract: string | undefined,
  ): { min: number; max: number } {
    const { firstCycle, lastCycle } = this.past;
    return this.sumsOf(figure, contract).extremes(
      firstCycle + at.from,
      Math.min(firstCycle + at.to, lastCycle + 1),
      length,
    );
  }

  private sumsOf(figure: StretchFigure, contract: string | undefined): Sums {
    const key = `${figure}/${contract ?? ''}`;
    const known = this.sums.get(key);
    if (known !== undefined) return known;
    const sums = new Sums(
      figure === 'entries' || figure === 'restores' ? this.moves(figure, contract) : this.counts(figure, contract),
    );
    this.sums.set(key, sums);
    return sums;
  }

  private *counts(
    figure: StretchFigure,
    contract: string | undefined,
  ): Generator<readonly [cycle: number, value: number]> {
    for (const row of this.rows(contract)) yield [row.cycle, row[figure as 'requests' | 'admitted' | 'limited']];
  }

  private *rows(contract: string | undefined): Generator<TimelineRow> {
    const { timeline, totals } = this.past;
    if (contract === undefined) yield* totals.rows();
    else for (const row of timeline?.rows() ?? []) if (row.contract === contract) yield row;
  }

  private *moves(
    figure: StretchFigure,
    contract: string | undefined,
  ): Generator<readonly [cycle: number, value: number]> {
    const cycles = this.limitingStretches(contract).map(([from, to]) => (figure === 'entries' ? from : to));
    for (const cycle of cycles.filter((one) => one !== undefined).sort((a, b) => a - b)) yield [cycle, 1];
  }

  private limitingCycles(from: number, to: number, contract: string | undefined): number {
    return this.limitingStretches(contract).reduce(
      (sum, [start, end = this.past.lastCycle]) => sum + Math.max(0, Math.min(end, to) - Math.max(start, from)),
      0,
    );
  }

  /** [entry, restore) of every stretch in which a contract did not admit; without a restore where the run ended before. */
  private limitingStretches(contract: string | undefined): [from: number, to: number | undefined][] {
    const { names, transitions, admits } = this.past;
    return transitions.flatMap((moves, index) => {
      if (contract !== undefined && names[index] !== contract) return [];
      const stretches: [number, number | undefined][] = [];
      for (const { cycle, to } of moves) {
        const open = stretches.at(-1);
        const isOpen = open !== undefined && open[1] === undefined;
        if (!admits(to) && !isOpen) stretches.push([cycle, undefined]);
        else if (admits(to) && isOpen) open[1] = cycle;
      }
      return stretches;
    });
  }

  /** The largest count of a window; that with which the stretch began counts too. Undefined where no window was taken down. */
  private peak(from: number, to: number, contract: string | undefined): number | undefined {
    const { timeline } = this.past;
    if (timeline === undefined) return undefined;
    const before = new Map<string, number>();
    let peak = 0;
    for (const row of timeline.rows()) {
      if (contract !== undefined && row.contract !== contract) continue;
      if (row.cycle < from) before.set(row.contract, row.count);
      else if (row.cycle < to) peak = Math.max(peak, row.count);
    }
    return Math.max(peak, ...before.values());
  }
}

/** Values at ascending cycles, summed up over any stretch by two look-ups. */
class Sums {
  private readonly cycles: number[] = [];
  /** `upTo[i]` is the sum of the first i values. */
  private readonly upTo: number[] = [0];

  constructor(values: Iterable<readonly [cycle: number, value: number]>) {
    let sum = 0;
    for (const [cycle, value] of values) {
      sum += value;
      this.cycles.push(cycle);
      this.upTo.push(sum);
    }
  }

  /** The sum over from .. to - 1. */
  between(from: number, to: number): number {
    return this.upTo[this.place(to)]! - this.upTo[this.place(from)]!;
  }

  /** The sum over a stretch changes only where its first or its last cycle passes a value: those places stand for all. */
  extremes(from: number, to: number, length: number): { min: number; max: number } {
    const last = Math.max(from, to - length);
    const starts = new Set([from, last]);
    for (const cycle of this.cycles) {
      for (const start of [cycle, cycle + 1, cycle - length, cycle - length + 1]) {
        if (start >= from && start <= last) starts.add(start);
      }
    }
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    for (const start of starts) {
      const sum = this.between(start, Math.min(to, start + length));
      min = Math.min(min, sum);
      max = Math.max(max, sum);
    }
    return { min, max };
  }

  /** How many values lie before `cycle`. */
  private place(cycle: number): number {
    let low = 0;
    let high = this.cycles.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.cycles[middle]! < cycle) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
