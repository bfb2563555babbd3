// Virtual time: it passes as fast as the tasks of its agenda run.
import { assert } from '../schema/failure.js';
import { Agenda } from './agenda.js';
import type { Clock } from './clock.js';
import { cycleOf } from './cycle.js';
import { nextTurn } from './next-turn.js';

/** Why a run ended: nothing waits any more; what waits is due after `untilMs`; someone said stop. */
export type Ending = 'drained' | 'reached' | 'stopped';

export interface RunOptions {
  /** Run what is due up to and at this instant, in unix ms, then let `now()` be it. Without it: until nothing waits. */
  readonly untilMs?: number | undefined;
}

export interface AsyncRunOptions extends RunOptions {
  /** Ends the run like `stop()`. */
  readonly signal?: AbortSignal | undefined;
  /** Steps taken before the event loop gets its turn, at least 1. A thousand plain steps take less than a millisecond. */
  readonly stepsPerTurn?: number | undefined;
}

/** The clock of a simulation: `now()` is the due of the last step. The same agenda gives the same run, every time. */
export class VirtualClock implements Clock {
  readonly agenda: Agenda;
  #running = false;
  #stopping = false;

  /**
   * @param startMs where time begins, in unix ms
   * @param cycleMs length of a cycle in ms, an integer of at least 1
   */
  constructor(
    startMs: number,
    readonly cycleMs: number,
  ) {
    assert(Number.isSafeInteger(cycleMs) && cycleMs >= 1, `a cycle cannot last ${cycleMs} ms`);
    this.agenda = new Agenda(startMs);
  }

  now(): number {
    return this.agenda.now;
  }

  cycle(): number {
    return cycleOf(this.agenda.now, this.cycleMs);
  }

  /**
   * Takes every step up to `untilMs`. What a task throws comes out here, and the next run goes on behind that task.
   * After 'reached' and 'drained' now is `untilMs`, if that was given and lies ahead; after 'stopped' it is the due of the last step.
   */
  run({ untilMs = Infinity }: RunOptions = {}): Ending {
    this.#begin(untilMs);
    try {
      this.#take(Infinity, untilMs);
      return this.#end(untilMs);
    } finally {
      this.#running = false;
    }
  }

  /** The same steps with the same result as `run`, but the event loop gets its turn in between. */
  async runAsync({ untilMs = Infinity, signal, stepsPerTurn = 1_000 }: AsyncRunOptions = {}): Promise<Ending> {
    assert(stepsPerTurn >= 1, `a turn of ${stepsPerTurn} steps does not come to an end`);
    this.#begin(untilMs);
    const stop = () => this.stop();
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    try {
      while (this.#take(stepsPerTurn, untilMs)) await nextTurn();
      return this.#end(untilMs);
    } finally {
      signal?.removeEventListener('abort', stop);
      this.#running = false;
    }
  }

  /** Ends the run in progress after the task that runs now. A later run goes on from there. */
  stop(): void {
    this.#stopping = true;
  }

  #begin(untilMs: number): void {
    assert(!Number.isNaN(untilMs), 'a run cannot end at NaN');
    assert(!this.#running, 'a virtual clock cannot run inside its own run');
    this.#running = true;
    this.#stopping = false;
  }

  /** Takes up to `most` steps; true when there may be more to take. */
  #take(most: number, untilMs: number): boolean {
    for (let taken = 0; taken < most; taken++) {
      if (this.#stopping || !(this.agenda.nextDue() <= untilMs) || !this.agenda.step()) return false;
    }
    return true;
  }

  #end(untilMs: number): Ending {
    if (this.#stopping) return 'stopped';
    if (untilMs < Infinity) this.agenda.passTo(untilMs);
    return this.agenda.size === 0 ? 'drained' : 'reached';
  }
}
