// Sizes the rolling count of Weir on requests: every threshold of several windows in one pass, without the keys that lie far above all
// others, and tried on requests that the tuning had not seen.
//
//   requests   |-------------------------- tuned --------------------------|------- checked ------|
//                        16  20  25  31  39 …                checkpoints, each a quarter later than the one before
//
// At a checkpoint the limit is tuned on the requests so far. At the end the checkpoint nearest to two thirds of the requests counts.
import { BusyCycles } from './busy-cycles.js';
import { Curve } from './curve.js';
import { type LadderPlan, RuleLadder } from './rule-ladder.js';
import { suspectFrom } from './suspects.js';
import { WindowCounts } from './window-counts.js';

const FIRST_CHECKPOINT = 16;
const NEXT_CHECKPOINT = 1.25;
/** The last ones: the oldest of them lies at half of the requests or before. */
const KEPT_CHECKPOINTS = 4;
const TUNED_SHARE = 2 / 3;

export interface Tuning {
  readonly suspects: ReadonlySet<number>;
  /** By window: of all keys but the suspects. */
  readonly curves: readonly Curve[];
  /** By window and wanted share. */
  readonly thresholds: readonly (readonly number[])[];
  /** Requests of all keys but the suspects. */
  readonly requests: number;
  /** Limited of them, by ladder and rung. */
  readonly ofRungs: readonly Float64Array[];
}

interface Checkpoint extends Tuning {
  /** The first cycle after it. */
  readonly cycle: number;
  /** All requests before it, those of suspects, too. */
  readonly allRequests: number;
}

/** What a limit that was tuned on the first part of the requests did to the rest of them. */
export interface HeldOut {
  readonly threshold: number;
  /** The first cycle of the rest. */
  readonly fromCycle: number;
  /** Requests of the rest, without the suspects of the first part. */
  readonly requests: number;
  readonly limited: number;
}

export class Sizing {
  readonly counts: WindowCounts;
  /** By window. */
  readonly busy: readonly BusyCycles[];
  readonly ladders: readonly RuleLadder[];
  readonly #shares: readonly number[];
  readonly #checkpoints: Checkpoint[] = [];
  #nextCheckpoint = FIRST_CHECKPOINT;
  #cycle = Number.NEGATIVE_INFINITY;

  /**
   * @param withins lengths of windows in cycles, integers from 1
   * @param shares wanted shares of limited requests, 0 to 1
   * @param plans of other rules; they decide what is given to `decide`
   * @throws Failure `invalid_definition`
   */
  constructor(withins: readonly number[], shares: readonly number[], plans: readonly LadderPlan[] = []) {
    this.counts = new WindowCounts(withins);
    this.busy = withins.map(() => new BusyCycles(() => this.#suspects()));
    this.ladders = plans.map((plan) => new RuleLadder(plan));
    this.#shares = shares;
  }

  /** Counts `n` requests of a key. Cycles ascend. */
  add(key: number, n: number, cycle: number): void {
    const { counts, busy } = this;
    if (cycle !== this.#cycle) {
      if (counts.requests >= this.#nextCheckpoint) this.#check(cycle);
      this.#cycle = cycle;
    }
    counts.add(key, n, cycle);
    for (let window = 0; window < busy.length; window += 1) {
      const to = counts.countOf(key, window);
      if (to > busy[window]!.floor) busy[window]!.add(key, cycle, to - n, to);
    }
  }

  /** Requests of a key at an instant, unix ms, for the other rules. To be called after `add` of all requests of its cycle. */
  decide(key: number, n: number, ms: number): void {
    for (const ladder of this.ladders) ladder.add(key, n, ms);
  }

  /** The limits for the wanted shares on all requests so far. */
  tuned(): Tuning {
    const { counts } = this;
    const suspects = this.#suspects();
    const keys = this.#keysWithout(suspects);
    const curves = counts.withins.map((_, window) => new Curve(counts, window, keys));
    const thresholds = curves.map((curve) => this.#shares.map((share) => curve.thresholdFor(share)));
    const ofRungs = this.ladders.map((ladder) => ladder.limited(suspects));
    return { suspects, curves, thresholds, requests: this.requestsWithout(suspects), ofRungs };
  }

  requestsWithout(keys: ReadonlySet<number>): number {
    return [...keys].reduce((sum, key) => sum - this.counts.requestsOf(key), this.counts.requests);
  }

  /** The one nearest to two thirds of the requests; undefined if there are too few requests. */
  checkpoint(): Checkpoint | undefined {
    const wanted = TUNED_SHARE * this.counts.requests;
    const [nearest] = this.#checkpoints.toSorted(
      (a, b) => Math.abs(a.allRequests - wanted) - Math.abs(b.allRequests - wanted),
    );
    return nearest;
  }

  /** By window and share; undefined if there are too few requests. */
  heldOut(): readonly (readonly HeldOut[])[] | undefined {
    const { counts } = this;
    const checkpoint = this.checkpoint();
    if (checkpoint === undefined) return undefined;
    const { suspects, curves, thresholds, cycle } = checkpoint;
    const keys = this.#keysWithout(suspects);
    return curves.map((before, window) => {
      const after = new Curve(counts, window, keys);
      return thresholds[window]!.map((threshold) => ({
        threshold,
        fromCycle: cycle,
        requests: after.requests - before.requests,
        limited: after.limited(threshold) - before.limited(threshold),
      }));
    });
  }

  #keysWithout(suspects: ReadonlySet<number>): number[] {
    return Array.from({ length: this.counts.keys }, (_, key) => key).filter((key) => !suspects.has(key));
  }

  /** Keys that lie above all others by their requests, or by the largest count in one of the windows. */
  #suspects(): Set<number> {
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
    counts.withins.forEach((_, window) => {
      take((key) => counts.peakOf(key, window));
    });
    return suspects;
  }

  #check(cycle: number): void {
    this.#checkpoints.push({ ...this.tuned(), cycle, allRequests: this.counts.requests });
    if (this.#checkpoints.length > KEPT_CHECKPOINTS) this.#checkpoints.shift();
    while (this.#nextCheckpoint <= this.counts.requests) this.#nextCheckpoint *= NEXT_CHECKPOINT;
  }
}
