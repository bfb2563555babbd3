// How long the event loop has been at work: in its present turn, and without waiting for anything.
//
//   turn      timers │ sockets: a b c d e … │ immediates ║ timers │ sockets …
//             turnMs()  0 ──────────────► grows          ║ 0 ──►
//   busyMs    0 at each turn before which the loop waited; a loop that never waits has more to do than it can
//
//   a b c ············· d e      between two requests no more than LONGEST_STEP_MS counts: what took longer was no work on them, but a
//                                machine that stood still. On one that is merely slow, or shared, the steps are as long as they are.
import { performance } from 'node:perf_hooks';

/** A loop that waits for less than this before a turn did not wait: looking for events takes some time, too. */
const IDLE_MS = 1;

/** Handling a request takes well below a millisecond; a system gives a process its core back within some 20 ms. */
const LONGEST_STEP_MS = 25;

export class LoopTurn {
  readonly #monotonicMs: () => number;
  #isInside = false;
  #turnMs = 0;
  #busyMs = 0;
  #lastMs = 0;
  #idleMs = 0;

  /** @param monotonicMs a clock to measure durations by, in ms */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Milliseconds since this was first asked in the present turn of the loop, without those in which the machine stood still. */
  turnMs(): number {
    const nowMs = this.#monotonicMs();
    const stepMs = Math.min(nowMs - this.#lastMs, LONGEST_STEP_MS);
    this.#lastMs = nowMs;
    this.#busyMs += stepMs;
    if (this.#isInside) this.#turnMs += stepMs;
    else this.#enter();
    return this.#turnMs;
  }

  /** Milliseconds since the first turn that the loop did not wait after, as of the last `turnMs`. */
  get busyMs(): number {
    return this.#busyMs;
  }

  #enter(): void {
    this.#isInside = true;
    this.#turnMs = 0;
    const { idleTime } = performance.nodeTiming;
    if (idleTime - this.#idleMs > IDLE_MS) this.#busyMs = 0;
    this.#idleMs = idleTime;
    setImmediate(this.#leave);
  }

  readonly #leave = (): void => {
    this.#isInside = false;
  };
}
