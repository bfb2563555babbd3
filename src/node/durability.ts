// An answer waits here until what it says is on disk.
//
//   cycle   counts are written once a cycle. An answer waits only if the record has rows that are not durable yet, or, at the
//           beginning of a cycle, until the counts of earlier cycles are: no more than the running cycle can be lost
//   strict  the answer to an event also waits for its count; all events of one turn of the event loop share one write
//
//   event ─ event ─ event ─ (turn ends) ─► saveWindows ─► commit ─► on disk ─► answer, answer, answer

import type { Machine } from '../host/contract.js';
import type { Host } from '../host/host.js';
import type { Failure } from '../schema/failure.js';
import type { Clock } from '../time/clock.js';
import { Rank } from '../time/rank.js';

export type DurabilityMode = 'cycle' | 'strict';

export class Durability {
  readonly #host: Host;
  readonly #clock: Clock;
  readonly #mode: DurabilityMode;
  readonly #onCommit: (tookMs: number) => void;
  readonly #monotonicMs: () => number;
  #waiting: ((failure?: Failure) => void)[] = [];
  /** The counts of all cycles before this one are durable. */
  #savedCycle: number;

  /**
   * @param monotonicMs a clock to measure commits by, in ms
   * @param onCommit called with the duration of each commit that was asked for here
   */
  constructor(
    host: Host,
    clock: Clock,
    mode: DurabilityMode,
    monotonicMs: () => number,
    onCommit: (tookMs: number) => void,
  ) {
    this.#host = host;
    this.#clock = clock;
    this.#mode = mode;
    this.#monotonicMs = monotonicMs;
    this.#onCommit = onCommit;
    this.#savedCycle = clock.cycle();
  }

  /**
   * Before an answer that shows the state of a machine: undefined when it may go at once.
   * The promise fails with `store_failed` when it may never go.
   */
  ofRows(machine: Machine): Promise<void> | undefined {
    return machine.durableSeq === machine.head.seq ? undefined : this.commit();
  }

  /** Before the answer to events that a machine counted in the running cycle: as `ofRows`, and by the mode for the counts. */
  ofCounts(machine: Machine, cycle: number): Promise<void> | undefined {
    switch (this.#mode) {
      case 'cycle':
        return cycle <= this.#savedCycle ? this.ofRows(machine) : this.#counts();
      case 'strict':
        return this.#counts();
    }
  }

  /** Resolves once everything that was written so far is durable. */
  commit(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#commit((failure) => (failure === undefined ? resolve() : reject(failure)));
    });
  }

  /** Writes the counts of all contracts that changed, and makes them durable. */
  saveCounts(settled: (failure?: Failure) => void = () => {}): void {
    const cycle = this.#clock.cycle();
    this.#host.saveWindows();
    this.#commit((failure) => {
      if (failure === undefined) this.#savedCycle = Math.max(this.#savedCycle, cycle);
      settled(failure);
    });
  }

  /** Resolves once everything that was counted so far is durable: one write for all who ask in the same turn of the loop. */
  #counts(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push((failure) => (failure === undefined ? resolve() : reject(failure)));
      if (this.#waiting.length === 1) this.#clock.agenda.at(this.#clock.now(), Rank.report, this.#writeCounts);
    });
  }

  readonly #writeCounts = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    const settle = (failure?: Failure) => {
      for (const settled of waiting) settled(failure);
    };
    try {
      this.saveCounts(settle);
    } catch (error) {
      settle(error as Failure);
      throw error;
    }
  };

  #commit(settled: (failure?: Failure) => void): void {
    const startMs = this.#monotonicMs();
    this.#host.commit((failure) => {
      this.#onCommit(this.#monotonicMs() - startMs);
      settled(failure);
    });
  }
}
