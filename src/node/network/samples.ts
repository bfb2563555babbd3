// Samples count and state of contracts that Redis counts, when a cycle begins. Requests admitted and limited are not kept by cycle there.
import type { Contract } from '../../host/contract.js';
import { figuresOf, type Sampled, type Samples } from '../counting/samples.js';

type States = (contracts: readonly Contract[], cycle: number) => Promise<readonly Contract[]>;

export class NetworkSamples implements Samples {
  /** Some 3 ms of this process in each cycle, and 80 calls of Redis a second. */
  readonly mostUnwatched = 64;
  readonly #states: States;
  readonly #sampled = new Set<Sampled>();
  #isReading = false;

  constructor(states: States) {
    this.#states = states;
  }

  begin(sampled: Sampled): void {
    this.#sampled.add(sampled);
    sampled.begin(figuresOf({}));
  }

  end(sampled: Sampled): void {
    this.#sampled.delete(sampled);
  }

  async take(over: number): Promise<void> {
    if (this.#isReading || this.#sampled.size === 0) return;
    this.#isReading = true;
    try {
      const all = [...this.#sampled];
      const snapshots = await this.#states(
        all.map(({ contract }) => contract),
        over,
      );
      const now = new Map(snapshots.map((contract) => [contract.id, contract]));
      for (const one of all) {
        const snapshot = now.get(one.contract.id);
        if (snapshot === undefined) continue;
        const { gate, admits, stateIndex: state } = snapshot;
        one.take(over, figuresOf({ count: gate.count, limiting: admits ? 0 : 1, state }));
      }
    } finally {
      this.#isReading = false;
    }
  }
}
