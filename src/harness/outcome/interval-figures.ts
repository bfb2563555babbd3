// Figures of part of a run: between two cycles, or over every interval of a given length.

import type { FigureSource } from './expectation.js';
import type { StretchFigure } from './figure-names.js';
import type { TransitionSeen } from './outcome-schema.js';
import { Plateaus, type Points, Sums } from './sliding.js';
import type { Stretch } from './stretch.js';
import type { Timeline } from './timeline.js';

export interface Past {
  readonly firstCycle: number;
  readonly lastCycle: number;
  readonly names: readonly string[];
  readonly timeline: Timeline | undefined;
  readonly totals: Timeline;
  readonly transitions: readonly (readonly TransitionSeen[])[];
  readonly admits: (state: string) => boolean;
}

/** Intervals count cycles from the start of the run, and end with it at the latest. */
export class Stretches implements Pick<FigureSource, 'values'> {
  readonly #sums = new Map<string, Sums>();
  readonly #peaks = new Map<string, Plateaus>();

  readonly #past: Past;

  constructor(past: Past) {
    this.#past = past;
  }

  /** Undefined if the contract is unknown or has no timeline, or the run stopped earlier. */
  values(
    figure: StretchFigure,
    length: number,
    at: Stretch,
    contract: string | undefined,
  ): ReadonlySet<number> | undefined {
    const { firstCycle, lastCycle, names } = this.#past;
    if (contract !== undefined && !names.includes(contract)) return undefined;
    const from = firstCycle + at.from;
    const to = Math.min(firstCycle + at.to, lastCycle + 1);
    if (to <= from) return undefined;
    if (figure === 'peak_count') return this.#peaksOf(contract)?.largest(length, from, to);
    return this.#sumsOf(figure, contract)?.over(length, from, to);
  }

  #sumsOf(figure: Exclude<StretchFigure, 'peak_count'>, contract: string | undefined): Sums | undefined {
    const key = `${figure}/${contract ?? ''}`;
    const known = this.#sums.get(key);
    if (known !== undefined) return known;
    const points = this.#pointsOf(figure, contract);
    if (points === undefined) return undefined;
    const sums = new Sums(points);
    this.#sums.set(key, sums);
    return sums;
  }

  #pointsOf(figure: Exclude<StretchFigure, 'peak_count'>, contract: string | undefined): Points | undefined {
    switch (figure) {
      case 'requests':
      case 'admitted':
      case 'limited':
        return this.#counts(figure, contract);
      case 'entries':
        return onePerCycle(this.#limitingStretches(contract).map(([entry]) => entry));
      case 'restores':
        return onePerCycle(this.#limitingStretches(contract).flatMap(([, restore]) => restore ?? []));
      case 'limiting_cycles':
        return limitingPerCycle(
          this.#limitingStretches(contract).map(([entry, restore]) => [entry, restore ?? this.#past.lastCycle]),
        );
    }
  }

  #counts(figure: 'requests' | 'admitted' | 'limited', contract: string | undefined): Points | undefined {
    const { names, timeline, totals } = this.#past;
    // With a single contract its figures are the totals.
    if (contract === undefined || names.length === 1) return pointsIn(totals, figure, undefined);
    return timeline === undefined ? undefined : pointsIn(timeline, figure, contract);
  }

  /** [entry, restore) of every interval without admission; the last may lack a restore. */
  #limitingStretches(contract: string | undefined): [entry: number, restore: number | undefined][] {
    const { names, transitions, admits } = this.#past;
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

  #peaksOf(contract: string | undefined): Plateaus | undefined {
    const { timeline } = this.#past;
    if (timeline === undefined) return undefined;
    const key = contract ?? '';
    const known = this.#peaks.get(key);
    if (known !== undefined) return known;
    const levels = new Plateaus(largestCounts(timeline, contract));
    this.#peaks.set(key, levels);
    return levels;
  }
}

function* pointsIn(
  timeline: Timeline,
  figure: 'requests' | 'admitted' | 'limited',
  contract: string | undefined,
): Generator<readonly [number, number]> {
  for (const row of timeline.rows()) {
    if ((contract === undefined || row.contract === contract) && row[figure] > 0) yield [row.cycle, row[figure]];
  }
}

function onePerCycle(cycles: readonly number[]): Points {
  return cycles.toSorted((a, b) => a - b).map((cycle) => [cycle, 1] as const);
}

function* limitingPerCycle(
  stretches: readonly (readonly [entry: number, restore: number])[],
): Generator<readonly [number, number]> {
  const moves = stretches
    .flatMap(([entry, restore]) => [[entry, 1] as const, [restore, -1] as const])
    .sort(([a], [b]) => a - b);
  let limiting = 0;
  let cycle = 0;
  for (const [at, move] of moves) {
    if (limiting > 0) for (; cycle < at; cycle += 1) yield [cycle, limiting];
    limiting += move;
    cycle = at;
  }
}

function* largestCounts(timeline: Timeline, contract: string | undefined): Generator<readonly [number, number]> {
  const counts = new Map<string, number>();
  let cycle: number | undefined;
  for (const row of timeline.sorted().rows()) {
    if (contract !== undefined && row.contract !== contract) continue;
    if (cycle !== undefined && row.cycle !== cycle) yield [cycle, largestIn(counts)];
    cycle = row.cycle;
    counts.set(row.contract, row.count);
  }
  if (cycle !== undefined) yield [cycle, largestIn(counts)];
}

function largestIn(counts: ReadonlyMap<string, number>): number {
  let largest = 0;
  for (const count of counts.values()) if (count > largest) largest = count;
  return largest;
}
