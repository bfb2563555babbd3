// A histogram that costs next to nothing to feed: fixed bounds, plain numbers, shown as a metric of prom-client only when asked for.
import type { Metric } from 'prom-client';

const BOUNDS = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
] as const;

export class Latency {
  /** Answers up to each bound and beyond the one before it; the last is for those beyond all bounds. */
  readonly #counts = new Float64Array(BOUNDS.length + 1);
  #sum = 0;

  take(seconds: number): void {
    let bucket = 0;
    // Most are in one of the first: a loop is faster than a search.
    while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]!) bucket += 1;
    this.#counts[bucket]! += 1;
    this.#sum += seconds;
  }

  /** As a metric to be registered, with the same labels on all its values. */
  asMetric(name: string, help: string, labels: Readonly<Record<string, string>> = {}): Metric {
    const metric = {
      name,
      get: () => ({ name, help, type: 'histogram', aggregator: 'sum', values: this.#values(name, labels) }),
    };
    // Prom-client asks a metric for no more than its name and its values.
    return metric as unknown as Metric;
  }

  #values(name: string, labels: Readonly<Record<string, string>>) {
    let count = 0;
    const buckets = [...BOUNDS, '+Inf'].map((le, index) => {
      count += this.#counts[index]!;
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
