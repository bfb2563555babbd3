// What is done on the machines: one thing at a time on each, in the order of arrival, and in slices with a budget.
//
//   machine a   event of 10,000 contracts  |slice|     |slice|     |slice| gate |          owners take turns: see fair-queue.ts
//   machine b                                    |gate|      |gate|
//
// The rule: everything happens as if it took no time. An event has the instant of its arrival, and the cycle of that, however many turns it
// takes; until it is counted, the time of its machine stands still, and whatever comes to the same machine waits, its wakes included. So no decision
// depends on how the work is cut. Other machines do not wait.
import type { Machine } from '../host/machine.js';
import type { Steps } from '../limiter/plan.js';
import { cycleOf } from '../time/cycle.js';
import { sliceOf, type Turns } from './fair-queue.js';
import { ofOwner } from './request-source.js';

/** What a row costs: the operators, the hash, the write. */
const ROW = 16;

interface Item {
  readonly ms: number;
  /** Does a slice. @returns whether the work is done */
  slice(): boolean;
}

export class MachineWork {
  readonly #turns: Turns;
  readonly #queues = new Map<Machine, Item[]>();

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** Whether something that costs little can be done on a machine at once. */
  isFree(machine: Machine, nowMs: number): boolean {
    return !this.#queues.has(machine) && !machine.parts.wakes.isDue(nowMs);
  }

  /**
   * Does work on a machine when its turn comes; the first slice at once if nothing waits.
   * @returns what the work gives, or a promise of it if it takes more than a slice; throws or rejects with what it throws
   */
  of<T>(machine: Machine, work: (cycle: number) => Steps<T>): T | Promise<T> {
    const { clock, wakes } = machine.parts;
    const ms = clock.now();
    const queue = this.#queues.get(machine);
    const isFree = queue === undefined && !wakes.isDue(ms);
    const steps = isFree ? work(cycleOf(ms, clock.cycleMs)) : withWakes(machine, ms, work);
    if (queue === undefined) {
      const first = sliceAt(machine, ms, steps);
      if (first.done) return first.value;
    }
    return new Promise((resolve, reject) => {
      const slice = () => {
        try {
          const { done, value } = sliceAt(machine, ms, steps);
          if (done) resolve(value as T);
          return done === true;
        } catch (error) {
          reject(error);
          return true;
        }
      };
      if (queue !== undefined) queue.push({ ms, slice });
      else this.#begin(machine, { ms, slice });
    });
  }

  #begin(machine: Machine, item: Item): void {
    this.#queues.set(machine, [item]);
    machine.parts.busyMs = item.ms;
    machine.parts.wakes.hold();
    this.#goOn(machine);
  }

  #goOn(machine: Machine): void {
    this.#turns.take(ofOwner(machine.image.owner), () => {
      const queue = this.#queues.get(machine)!;
      if (queue[0]!.slice()) queue.shift();
      const [next] = queue;
      if (next !== undefined) {
        machine.parts.busyMs = next.ms;
        this.#goOn(machine);
        return;
      }
      this.#queues.delete(machine);
      machine.parts.busyMs = undefined;
      machine.parts.wakes.release();
    });
  }
}

/** What is due up to `ms` wakes first. */
function* withWakes<T>(machine: Machine, ms: number, work: (cycle: number) => Steps<T>): Steps<T> {
  const { wakes, clock } = machine.parts;
  while (wakes.isDue(ms)) {
    const before = machine.head.seq;
    wakes.wakeOne();
    yield costSince(machine, before);
  }
  return yield* work(cycleOf(ms, clock.cycleMs));
}

/** What a step cost that began when the record had `seq` rows. */
export function costSince(machine: Machine, seq: number): number {
  return 1 + ROW * (machine.head.seq - seq);
}

function sliceAt<T>({ parts }: Machine, ms: number, steps: Steps<T>): IteratorResult<number, T> {
  const { busyMs } = parts;
  parts.busyMs = ms;
  try {
    return sliceOf(steps);
  } finally {
    parts.busyMs = busyMs;
  }
}
