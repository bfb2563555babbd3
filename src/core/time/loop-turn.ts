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

export type LoopTurn = ReturnType<typeof loopTurn>;

export function loopTurn(monotonicMs: () => number) {
  let [isInside, isTimed] = [false, false];
  let [turns, lengthMs, busyMs, lastMs, idleMs] = [0, 0, 0, 0, 0];
  const leave = () => {
    isInside = false;
    isTimed = false;
  };
  const enter = () => {
    if (isInside) return;
    isInside = true;
    turns += 1;
    const { idleTime } = performance.nodeTiming;
    if (idleTime - idleMs > IDLE_MS) {
      busyMs = 0;
      lastMs = monotonicMs();
    }
    idleMs = idleTime;
    setImmediate(leave);
  };
  return {
    count(): number {
      enter();
      return turns;
    },
    /** Ms since the first call in the present turn, without suspensions. */
    turnMs(): number {
      enter();
      const nowMs = monotonicMs();
      const stepMs = Math.min(nowMs - lastMs, LONGEST_STEP_MS);
      lastMs = nowMs;
      busyMs += stepMs;
      lengthMs = isTimed ? lengthMs + stepMs : 0;
      isTimed = true;
      return lengthMs;
    },
    /** Of the clock, when `turnMs` was last asked: for a request that is answered at once, when it arrived. */
    get readMs(): number {
      return lastMs;
    },
    /** Ms since the loop last waited, as of the last `turnMs`. */
    get busyMs(): number {
      return busyMs;
    },
  };
}
