// Turns of the event loop: how long the present one has lasted, and how long the loop has been busy without waiting.
//
//   turn      timers │ sockets: a b c d e … │ immediates ║ timers │ sockets …
//   count()   7                                           ║ 8
//   turnMs()             0 ──────────────► grows          ║ 0 ──►
//   busyMs    0 at each turn that follows a wait; a loop that never waits is overloaded
//
//   a b c ············· d e      a gap between requests counts as at most LONGEST_STEP_MS: if longer, the machine was suspended
import { performance } from 'node:perf_hooks';

/** Shorter does not count as waiting: polling for events takes time, too. */
const IDLE_MS = 1;

/** A request takes well below a millisecond; an operating system returns the core to a process within some 20 ms. */
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

  count(): number {
    if (!this.#isInside) this.#enter();
    return this.#count;
  }

  /** Ms since the first call in the present turn, without suspensions. */
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

  /** Of the clock, when `turnMs` was last asked: for a request that is answered at once, when it arrived. */
  get readMs(): number {
    return this.#lastMs;
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
