// Virtual time passes as fast as tasks run.
import { assert } from '../schema/failure.js';
import { Agenda } from './agenda.js';
import type { Clock } from './clock.js';
import { cycleOf } from './cycle.js';
import { nextTurn } from './next-turn.js';

/** 'drained': nothing waits. 'reached': the next task is due after `untilMs`. */
type Ending = 'drained' | 'reached' | 'stopped';

interface RunOptions {
  /** Runs the tasks due up to this instant, in unix ms. Default: until nothing waits. */
  readonly untilMs?: number | undefined;
}

interface AsyncRunOptions extends RunOptions {
  readonly signal?: AbortSignal | undefined;
  /** At least 1. A thousand steps take less than a millisecond. */
  readonly stepsPerTurn?: number | undefined;
}

/** `now()` is the due of the last step. The same agenda always gives the same run. */
export class VirtualClock implements Clock {
  readonly agenda: Agenda;
  #running = false;
  #stopping = false;

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
   * An error of a task ends the run; the next run continues after that task. After 'reached' and 'drained', `now()` is a given `untilMs` if
   * it lies ahead; after 'stopped', the due of the last step.
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

  stop(): void {
    this.#stopping = true;
  }

  #begin(untilMs: number): void {
    assert(!Number.isNaN(untilMs), 'a run cannot end at NaN');
    assert(!this.#running, 'a virtual clock cannot run inside its own run');
    this.#running = true;
    this.#stopping = false;
  }

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
