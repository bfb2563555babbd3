// A cheap histogram: fixed bounds and plain numbers, shown as a metric of prom-client on demand.
import type { Metric } from 'prom-client';

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

  asMetric(name: string, help: string, labels: Readonly<Record<string, string>> = {}): Metric {
    const metric = {
      name,
      get: () => ({ name, help, type: 'histogram', aggregator: 'sum', values: this.#values(name, labels) }),
    };
    // Prom-client reads only the name and the values of a metric.
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
