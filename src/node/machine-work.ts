// Runs the work on each machine one thing at a time, in order of arrival, and in slices.
//
//   machine a   event of 2,500 contracts   |slice|     |slice|     |slice| gate |          owners take turns: see caller-queue.ts
//   machine b                                    |gate|      |gate|
//
// The rule: everything happens as if it took no time. An event keeps the instant and the cycle of its arrival, however many turns it takes.
// Until it is counted, its machine's time does not advance, and other work on that machine waits, wakes included; other machines go on.
// So no decision depends on how the work is cut.
import { cycleOf } from '../core/time/cycle.js';
import type { CallerQueue } from './caller-queue.js';
import type { Machine } from './host/machine.js';
import type { Steps } from './host/steps.js';
import { ofOwner } from './request-source.js';

export class MachineWork {
  readonly #queue: CallerQueue;
  readonly #last = new Map<Machine, Promise<unknown>>();

  constructor(queue: CallerQueue) {
    this.#queue = queue;
  }

  isFree(machine: Machine, nowMs: number): boolean {
    return !this.#last.has(machine) && !machine.context.wakes.isDue(nowMs);
  }

  /** Runs work in the machine's turn: returns its result if one slice at once is enough, otherwise a promise. */
  of<T>(machine: Machine, work: (cycle: number) => Steps<T>): T | Promise<T> {
    const { context } = machine;
    const { clock, busyMs } = context;
    const ms = clock.now();
    const steps = this.isFree(machine, ms) ? work(cycleOf(ms, clock.cycleMs)) : withWakes(machine, ms, work);
    if (!this.#last.has(machine)) {
      context.busyMs = ms;
      try {
        const first = this.#queue.slice(steps);
        if (first.done) return first.value;
      } finally {
        context.busyMs = busyMs;
      }
    }
    const done = this.#behind(machine, ms, steps).finally(() => {
      if (this.#last.get(machine) !== done) return;
      this.#last.delete(machine);
      context.busyMs = undefined;
      context.wakes.release();
    });
    this.#last.set(machine, done);
    return done;
  }

  once<T>(machine: Machine, work: (cycle: number) => T): T | Promise<T> {
    return this.of(machine, function* (cycle): Steps<T> {
      yield;
      return work(cycle);
    });
  }

  async #behind<T>(machine: Machine, ms: number, steps: Steps<T>): Promise<T> {
    const before = this.#last.get(machine);
    if (before !== undefined) await before.catch(() => {});
    machine.context.busyMs = ms;
    machine.context.wakes.hold();
    const source = ofOwner(machine.image.owner);
    return this.#queue.of(source, () => this.#queue.steps(source, steps));
  }
}

function* withWakes<T>(machine: Machine, ms: number, work: (cycle: number) => Steps<T>): Steps<T> {
  const { wakes, clock } = machine.context;
  while (wakes.isDue(ms)) {
    wakes.wakeOne();
    yield;
  }
  return yield* work(cycleOf(ms, clock.cycleMs));
}
