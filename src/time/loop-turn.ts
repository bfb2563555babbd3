// The turns of the event loop, and how long it has been busy: in its present turn, and without waiting.
//
//   turn      timers │ sockets: a b c d e … │ immediates ║ timers │ sockets …
//   count()   7                                           ║ 8
//   turnMs()             0 ──────────────► grows          ║ 0 ──►
//   busyMs    0 at each turn before which the loop waited; a loop that never waits is overloaded
//
//   a b c ············· d e      at most LONGEST_STEP_MS count between two requests: a longer gap is a machine that was suspended
import { performance } from 'node:perf_hooks';

/** A shorter wait is none: looking for events takes some time, too. */
const IDLE_MS = 1;

/** A request takes well below a millisecond; a system gives a process its core back within some 20 ms. */
const LONGEST_STEP_MS = 25;

export class LoopTurn {
  readonly #monotonicMs: () => number;
  #isInside = false;
  #isTimed = false;
  #count = 0;
  #turnMs = 0;
  #busyMs = 0;
  #lastMs = 0;
  #idleMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** The number of the present turn. */
  count(): number {
    if (!this.#isInside) this.#enter();
    return this.#count;
  }

  /** Ms since the first call in the present turn, without those in which the machine was suspended. */
  turnMs(): number {
    if (!this.#isInside) this.#enter();
    const nowMs = this.#monotonicMs();
    const stepMs = Math.min(nowMs - this.#lastMs, LONGEST_STEP_MS);
    this.#lastMs = nowMs;
    this.#busyMs += stepMs;
    this.#turnMs = this.#isTimed ? this.#turnMs + stepMs : 0;
    this.#isTimed = true;
    return this.#turnMs;
  }

  /** Ms since the loop last waited, as of the last `turnMs`. */
  get busyMs(): number {
    return this.#busyMs;
  }

  #enter(): void {
    this.#isInside = true;
    this.#count += 1;
    const { idleTime } = performance.nodeTiming;
    if (idleTime - this.#idleMs > IDLE_MS) {
      this.#busyMs = 0;
      this.#lastMs = this.#monotonicMs();
    }
    this.#idleMs = idleTime;
    setImmediate(this.#leave);
  }

  readonly #leave = (): void => {
    this.#isInside = false;
    this.#isTimed = false;
  };
}
