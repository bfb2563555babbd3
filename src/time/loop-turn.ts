// How long the event loop has been at work: in its present turn, and without waiting for anything.
//
//   turn      timers │ sockets: a b c d e … │ immediates ║ timers │ sockets …
//             turnMs()  0 ──────────────► grows          ║ 0 ──►
//   busyMs    0 at each turn before which the loop waited; a loop that never waits has more to do than it can
import { performance } from 'node:perf_hooks';

/** A loop that waits for less than this before a turn did not wait: looking for events takes some time, too. */
const IDLE_MS = 1;

export class LoopTurn {
  readonly #monotonicMs: () => number;
  #isInside = false;
  #startMs = 0;
  #busySinceMs = 0;
  #idleMs = 0;

  /** @param monotonicMs a clock to measure durations by, in ms */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Milliseconds since this was first asked in the present turn of the loop. */
  turnMs(): number {
    const nowMs = this.#monotonicMs();
    if (!this.#isInside) this.#enter(nowMs);
    return nowMs - this.#startMs;
  }

  /** Milliseconds since the first turn that the loop did not wait after, as of the last `turnMs`. */
  get busyMs(): number {
    return this.#monotonicMs() - this.#busySinceMs;
  }

  #enter(nowMs: number): void {
    this.#isInside = true;
    this.#startMs = nowMs;
    const { idleTime } = performance.nodeTiming;
    if (idleTime - this.#idleMs > IDLE_MS) this.#busySinceMs = nowMs;
    this.#idleMs = idleTime;
    setImmediate(this.#leave);
  }

  readonly #leave = (): void => {
    this.#isInside = false;
  };
}
