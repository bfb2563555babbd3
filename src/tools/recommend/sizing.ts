// Sizes Weir's rolling count: every threshold of several windows in one pass, without suspect keys, tested on held-out requests.
//
//   requests   |-------------------------- chosen from ---------------------|------- checked ------|
//                        16  20  25  31  39 …                checkpoints, each a quarter later than the one before
//
// A checkpoint copies the counts so far. At the end a limit is chosen from the copy nearest to two thirds of the requests, without
// the final suspects: both parts, and the limit for all requests, cover the same clients.
import { BusyCycles } from './busy-cycles.js';
import { Curve } from './curve.js';
import { type LadderPlan, type LimitedOfKeys, RuleLadder, rungFor } from './rule-ladder.js';
import { suspectFrom } from './suspects.js';
import { type CountedRequests, KeyWindowCounts } from './window-counts.js';

const FIRST_CHECKPOINT = 16;
const NEXT_CHECKPOINT = 1.25;
/** The most recent checkpoints; the oldest of them lies before two thirds of the requests. */
const KEPT_CHECKPOINTS = 3;
const CHOSEN_SHARE = 2 / 3;
const NO_WINDOW = 0;

export interface Tuning {
  readonly suspects: readonly ReadonlySet<number>[];
  readonly curves: readonly Curve[];
  readonly thresholds: readonly (readonly number[])[];
  readonly ladders: readonly TunedLadder[];
}

interface TunedLadder {
  readonly suspects: ReadonlySet<number>;
  readonly requests: number;
  readonly limited: Float64Array;
}

interface Checkpoint {
  readonly cycle: number;
  readonly counts: CountedRequests;
  readonly limited: readonly LimitedOfKeys[];
}

/** A limit chosen from the first part of the requests, tested on the rest; both parts exclude the same keys. */
export interface HeldOut {
  readonly chosenFrom: number;
  readonly fromCycle: number;
  readonly requests: number;
  readonly limited: number;
}

export class Sizing {
  readonly counts: KeyWindowCounts;
  readonly busy: readonly BusyCycles[];
  readonly ladders: readonly RuleLadder[];
  readonly #checkpoints: Checkpoint[] = [];
  #nextCheckpoint = FIRST_CHECKPOINT;
  #cycle = Number.NEGATIVE_INFINITY;

  /** @param windowCycles in cycles, from 1 @param shares target shares, 0 to 1 @throws Failure `invalid_definition` */
  constructor(
    windowCycles: readonly number[],
    readonly shares: readonly number[],
    plans: readonly LadderPlan[] = [],
  ) {
    this.counts = new KeyWindowCounts(windowCycles);
    this.busy = windowCycles.map((_, window) => new BusyCycles(() => this.#suspects(window)));
    this.ladders = plans.map((plan) => new RuleLadder(plan));
  }

  /** Cycles ascend. @param amount the cost; differs from `n` only if `n` is 1 */
  add(key: number, n: number, cycle: number, amount = n): void {
    const { counts, busy } = this;
    if (cycle !== this.#cycle) {
      if (counts.requests >= this.#nextCheckpoint) this.#check(cycle);
      this.#cycle = cycle;
    }
    counts.add(key, n, cycle, amount);
    for (let window = 0; window < busy.length; window += 1) {
      const to = counts.countOf(key, window);
      if (to > busy[window]!.floor) busy[window]!.add(key, cycle, to - n, to);
    }
  }

  tuned(): Tuning {
    const { counts } = this;
    const suspects = counts.windowCycles.map((_, window) => this.#suspects(window));
    const curves = suspects.map((without, window) => new Curve(counts, window, this.#keysWithout(without)));
    const thresholds = curves.map((curve) => this.shares.map((share) => curve.thresholdFor(share)));
    const ladders = this.ladders.map((ladder): TunedLadder => {
      const window = counts.windowCycles.indexOf(ladder.plan.within ?? NO_WINDOW);
      const without = suspects[window] ?? this.#suspects();
      return { suspects: without, requests: requestsWithout(counts, without), limited: ladder.limited(without) };
    });
    return { suspects, curves, thresholds, ladders };
  }

  heldOut({
    suspects,
    curves,
  }: Tuning): readonly (readonly (HeldOut & { readonly threshold: number })[])[] | undefined {
    const checkpoint = this.#checkpoint();
    if (checkpoint === undefined) return undefined;
    return curves.map((all, window) => {
      const before = new Curve(checkpoint.counts, window, this.#keysWithout(suspects[window]!));
      return this.shares.map((share) => {
        const threshold = before.thresholdFor(share);
        const limited = all.limited(threshold) - before.limited(threshold);
        return { threshold, ...this.#cut(checkpoint), requests: all.requests - before.requests, limited };
      });
    });
  }

  /** Undefined with too few requests, or if no rung keeps the share in the first part. */
  heldOutLadder({ ladders }: Tuning, ladder: number, share: number): (HeldOut & { readonly rung: number }) | undefined {
    const checkpoint = this.#checkpoint();
    if (checkpoint === undefined) return undefined;
    const { suspects, requests, limited } = ladders[ladder]!;
    const limitedBefore = this.ladders[ladder]!.limited(suspects, checkpoint.limited[ladder]);
    const requestsBefore = requestsWithout(checkpoint.counts, suspects);
    const rung = rungFor(limitedBefore, share, requestsBefore);
    if (rung === undefined) return undefined;
    const rest = { requests: requests - requestsBefore, limited: limited[rung]! - limitedBefore[rung]! };
    return { rung, ...this.#cut(checkpoint), ...rest };
  }

  #checkpoint(): Checkpoint | undefined {
    const wanted = CHOSEN_SHARE * this.counts.requests;
    const [nearest] = this.#checkpoints.toSorted(
      (a, b) => Math.abs(a.counts.requests - wanted) - Math.abs(b.counts.requests - wanted),
    );
    return nearest;
  }

  #cut({ cycle, counts }: Checkpoint): Pick<HeldOut, 'chosenFrom' | 'fromCycle'> {
    return { chosenFrom: counts.requests / this.counts.requests, fromCycle: cycle };
  }

  #keysWithout(suspects: ReadonlySet<number>): number[] {
    return Array.from({ length: this.counts.keys }, (_, key) => key).filter((key) => !suspects.has(key));
  }

  #suspects(window?: number): Set<number> {
    const { counts } = this;
    const suspects = new Set<number>();
    const take = (sizeOf: (key: number) => number) => {
      const sizes = Float64Array.from({ length: counts.keys }, (_, key) => sizeOf(key));
      const from = suspectFrom(sizes);
      if (from < Number.POSITIVE_INFINITY)
        sizes.forEach((size, key) => {
          if (size >= from) suspects.add(key);
        });
    };
    take((key) => counts.requestsOf(key));
    if (window !== undefined) take((key) => counts.peakOf(key, window));
    return suspects;
  }

  #check(cycle: number): void {
    const limited = this.ladders.map((ladder) => ladder.soFar());
    this.#checkpoints.push({ cycle, counts: this.counts.soFar(), limited });
    if (this.#checkpoints.length > KEPT_CHECKPOINTS) this.#checkpoints.shift();
    while (this.#nextCheckpoint <= this.counts.requests) this.#nextCheckpoint *= NEXT_CHECKPOINT;
  }
}

function requestsWithout(counts: CountedRequests, keys: ReadonlySet<number>): number {
  return [...keys].reduce((sum, key) => sum - counts.requestsOf(key), counts.requests);
}
