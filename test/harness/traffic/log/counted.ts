// Counts requests by key and cycle with a map of maps: nothing that is tested counts so.
import { CYCLE_MS } from '../../../../src/core/time/cycle.js';
import type { RequestSink } from '../../../../src/harness/traffic/log/intake.js';

/** Ascending cycles and their counts. */
export interface Counts {
  readonly cycles: number[];
  readonly counts: number[];
}

export class Counted implements RequestSink {
  readonly #byKey = new Map<string, Map<number, number>>();

  constructor(readonly cycleMs = CYCLE_MS) {}

  request(unixMs: number, n: number, key: string, spreadMs = 0): void {
    const cycles = this.#byKey.get(key) ?? new Map<number, number>();
    this.#byKey.set(key, cycles);
    for (let k = 0; k < n; k += 1) {
      const cycle = Math.floor((unixMs + Math.floor((k * spreadMs) / n)) / this.cycleMs);
      cycles.set(cycle, (cycles.get(cycle) ?? 0) + 1);
    }
  }

  get keys(): string[] {
    return [...this.#byKey.keys()];
  }

  of(key: string): Counts {
    const inOrder = [...this.#byKey.get(key)!].sort(([a], [b]) => a - b);
    return { cycles: inOrder.map(([cycle]) => cycle), counts: inOrder.map(([, n]) => n) };
  }
}
