// When this machine did not run, as a beat shows, and what that may have done to the clock of a limiter that runs here.
//
//   beats          |--|--|--|----- 150 ms -----|--|--|
//   its clock      goes on by anything from 0 to 150 ms, and is behind by the rest from then on
//
// HAProxy takes a jump of more than 100 ms past its next timer for a change of the time of day, and goes on from the time that it read last
// (src/clock.c, 2.6).

import type { Pause } from '../explain/seen-request.js';
import { Rank } from '../time/rank.js';
import type { WallClock } from '../time/wall.js';
import { alignedClock, type NodeTime } from './connection.js';

const BEAT_MS = 20;
/** A shorter pause stops no clock of a limiter that is known. */
export const PAUSE_MS = 100;
/** Once there are so many, the last one goes on. */
const MOST_PAUSES = 1_000;

/** Notes the pauses of this process until it is stopped. It has a clock of its own: its beats are no tasks of the run. */
export class PauseWatch {
  readonly seen: Pause[] = [];
  readonly #clock: WallClock;

  constructor(base: WallClock, time: NodeTime) {
    this.#clock = alignedClock(base, time, {
      onError: (error) => {
        throw error;
      },
    });
    this.#beat();
    this.#clock.start();
  }

  stop(): void {
    this.#clock.stop();
  }

  #beat(): void {
    const fromMs = this.#clock.now();
    this.#clock.agenda.at(fromMs + BEAT_MS, Rank.report, () => {
      const toMs = this.#clock.now();
      if (toMs - fromMs >= PAUSE_MS) this.#note({ fromMs, toMs });
      this.#beat();
    });
  }

  #note(pause: Pause): void {
    const isFull = this.seen.length === MOST_PAUSES;
    this.seen.push(isFull ? { fromMs: this.seen.pop()!.fromMs, toMs: pause.toMs } : pause);
  }
}
