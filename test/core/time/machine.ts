// Owns a computer for tests of real time: timers go off when the test says so, the wall clock can be stepped, the process halted.
import { vi } from 'vitest';
import { WallClock, type WallOptions } from '../../../src/core/time/wall.js';

/** Call it with `vi.useRealTimers()` in an `afterEach`. */
export function machine({ cycleMs, startMs, ...options }: { cycleMs: number; startMs: number } & Partial<WallOptions>) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'] });
  const beginMs = performance.now();
  let haltedMs = 0;
  let steppedMs = 0;
  const monotonicMs = () => performance.now() - beginMs + haltedMs;
  const errors: unknown[] = [];
  const clock = new WallClock(cycleMs, {
    onError: (error) => errors.push(error),
    source: { monotonicMs, wallMs: () => Math.floor(startMs + monotonicMs() + steppedMs) },
    ...options,
  });
  return {
    clock,
    /** What the clock's tasks have thrown. */
    errors,
    /** Lets time pass and the event loop run. */
    pass: (ms: number) => void vi.advanceTimersByTime(ms),
    /** Time passes and this process does not notice: a blocked loop, SIGSTOP, or work that takes so long. */
    halt: (ms: number) => {
      haltedMs += ms;
    },
    /** Someone sets the wall clock. */
    stepWall: (ms: number) => {
      steppedMs += ms;
    },
    /** now, in ms since the beginning. */
    elapsed: () => clock.now() - startMs,
  };
}
