// The clock of a run on the time of its target. A heartbeat shows when this machine did not run, which may have affected the clock of a
// limiter on it.
//
//   beats          |--|--|--|----- 150 ms -----|--|--|
//   its clock      advances by 0 to 150 ms, and stays behind by the rest
//
// HAProxy takes a jump of more than 100 ms past its next timer for a change of the time of day, and continues from its last reading
// (src/clock.c, 2.6).

import { Durations } from '../../core/math/durations.js';
import { Rank } from '../../core/time/rank.js';
import type { WallClock } from '../../core/time/wall.js';
import type { Pause } from '../explain/seen-request.js';
import { alignedClock, type NodeTime } from './connection.js';

const BEAT_MS = 5;
/** A shorter pause stops no known limiter's clock. */
export const PAUSE_MS = 100;
const MOST_PAUSES = 1_000;

/** In ms: nine of ten tasks began at most `p90` late; a request under way waited at most for `most` because of this machine. */
export interface Lag {
  readonly p90: number;
  readonly most: number;
}

export function isSaturated({ p90 }: Lag, cycleMs: number): boolean {
  return p90 > Math.max(cycleMs / 2, 20);
}

/** Runs from its creation to `stop()`. Beats have a clock of their own, so that they are no tasks of the run. */
export class RunClock {
  readonly clock: WallClock;
  readonly pauses: Pause[] = [];
  /** The first exception of a task of the run. */
  bug: unknown;
  readonly #tasks = new Durations();
  readonly #beats: WallClock;
  #longestMs = 0;

  constructor(base: WallClock, time: NodeTime) {
    this.clock = alignedClock(base, time, {
      onError: (error) => (this.bug ??= error),
      onLag: (lagMs) => this.#tasks.record(lagMs),
    });
    this.#beats = alignedClock(base, time);
    this.clock.start();
    this.#beat();
    this.#beats.start();
  }

  /** Between two tasks the machine may have stopped, too. */
  get lagMs(): Lag {
    return { p90: this.#tasks.quantileMs(0.9), most: Math.max(this.#tasks.quantileMs(1), this.#longestMs) };
  }

  stop(): void {
    this.clock.stop();
    this.#beats.stop();
  }

  #beat(): void {
    const fromMs = this.#beats.now();
    this.#beats.agenda.at(fromMs + BEAT_MS, Rank.report, () => {
      const toMs = this.#beats.now();
      this.#longestMs = Math.max(this.#longestMs, toMs - fromMs);
      if (toMs - fromMs >= PAUSE_MS) this.#note({ fromMs, toMs });
      this.#beat();
    });
  }

  #note(pause: Pause): void {
    const isFull = this.pauses.length === MOST_PAUSES;
    this.pauses.push(isFull ? { fromMs: this.pauses.pop()!.fromMs, toMs: pause.toMs } : pause);
  }
}
