// A cheap histogram: fixed bounds and plain numbers, shown on demand.

/** @param suffix of the name of its metric */
export type Labelled = readonly [labels: Readonly<Record<string, string | number>>, value: number, suffix?: string];

const BOUNDS = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
] as const;

export class LatencyHistogram {
  /** Values between one bound and the next; the last entry is beyond all bounds. */
  readonly #counts = new Float64Array(BOUNDS.length + 1);
  #sum = 0;

  take(seconds: number): void {
    let bucket = 0;
    // Most values are in the first buckets: a loop is faster than a search.
    while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]!) bucket += 1;
    this.#counts[bucket]! += 1;
    this.#sum += seconds;
  }

  series(labels: Labelled[0]): Labelled[] {
    let count = 0;
    const buckets = [...BOUNDS, '+Inf'].map((le, index): Labelled => {
      count += this.#counts[index]!;
      return [{ ...labels, le }, count, '_bucket'];
    });
    return [...buckets, [labels, this.#sum, '_sum'], [labels, count, '_count']];
  }
}
