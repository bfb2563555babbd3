// How long the event loop has been at work: in its present turn, and without waiting for anything.
//
//   turn      timers │ sockets: a b c d e … │ immediates ║ timers │ sockets …
//             turnMs()  0 ──────────────► grows          ║ 0 ──►
//   workedMs()  the processor time of that: a machine that stands still, or works for others, is no work of this loop
//   busyMs()  processor time since a turn before which the loop waited; a loop that never waits has more to do than it can
import { performance } from 'node:perf_hooks';

/** A loop that waits for less than this before a turn did not wait: looking for events takes some time, too. */
const IDLE_MS = 1;

export class LoopTurn {
  readonly #monotonicMs: () => number;
  readonly #processorMs: () => number;
  #isInside = false;
  #startMs = 0;
  /** Processor time at the beginning of the turn, and of the first one that the loop did not wait after. */
  #usedMs = 0;
  #busySinceMs = 0;
  #idleMs = 0;

  /**
   * @param monotonicMs a clock to measure durations by, in ms
   * @param processorMs processor time of this process, in ms
   */
  constructor(monotonicMs: () => number, processorMs: () => number = usedMs) {
    this.#monotonicMs = monotonicMs;
    this.#processorMs = processorMs;
  }

  /** Milliseconds since this was first asked in the present turn of the loop. */
  turnMs(): number {
    const nowMs = this.#monotonicMs();
    if (!this.#isInside) this.#enter(nowMs);
    return nowMs - this.#startMs;
  }

  /** How much of `turnMs` the process was at work, in ms. Asking takes some 3 us: longer than `turnMs`. */
  workedMs(): number {
    const turnMs = this.turnMs();
    // Other threads of the process may work at the same time.
    return Math.min(turnMs, this.#processorMs() - this.#usedMs);
  }

  /** Milliseconds of work since the first turn that the loop did not wait after, as of the last `turnMs`. */
  busyMs(): number {
    return this.#processorMs() - this.#busySinceMs;
  }

  #enter(nowMs: number): void {
    this.#isInside = true;
    this.#startMs = nowMs;
    this.#usedMs = this.#processorMs();
    const { idleTime } = performance.nodeTiming;
    if (idleTime - this.#idleMs > IDLE_MS) this.#busySinceMs = this.#usedMs;
    this.#idleMs = idleTime;
    setImmediate(this.#leave);
  }

  readonly #leave = (): void => {
    this.#isInside = false;
  };
}

function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
