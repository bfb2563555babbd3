// Holds an answer until what it states is on disk.
//
//   cycle   counts are written once a cycle. An answer waits for rows that are not durable and, at the start of a cycle, for the counts of
//           earlier cycles: at most the running cycle can be lost. It joins the write in progress and requests no other
//   strict  the answer to an event also waits for its count; all events of one turn of the event loop share one write
//
//   event ─ event ─ event ─ (turn ends) ─► counts written ─► commit ─► on disk ─► answer, answer, answer
//
// Counts are written in slices; an answer waits only for those of its own machine.
import { getOrInsert } from '../core/math/get-or-insert.js';
import { Failure } from '../core/schema/failure.js';
import type { Clock } from '../core/time/clock.js';
import { Rank } from '../core/time/rank.js';
import type { WallClock } from '../core/time/wall.js';
import { SLICE_MS } from './caller-queue.js';
import type { Host } from './host/host.js';
import type { Machine } from './host/machine.js';
import type { LatencyHistogram } from './metrics.js';

type Timed = Clock & Pick<WallClock, 'monotonicMs'>;

export type DurabilityMode = 'cycle' | 'strict';

type Settled = (failure?: Failure) => void;

interface Saving {
  left: number;
  /** Callbacks for the next commit, and for the one in progress. */
  waiting: Settled[];
  committing: Settled[];
}

export class Durability {
  readonly #host: Host;
  readonly #clock: Timed;
  readonly #mode: DurabilityMode;
  readonly #commitSeconds: LatencyHistogram;
  readonly #saving = new Map<Machine, Saving>();
  /** Machines with unsaved counts, in order of their turns; `#asked`, which a pending answer needs, go first. */
  readonly #asked = new Set<Machine>();
  readonly #others = new Set<Machine>();
  #isWriting = false;
  /** Counts of cycles before this one are durable on all other machines. */
  #savedCycle: number;

  constructor(host: Host, clock: Timed, mode: DurabilityMode, commitSeconds: LatencyHistogram) {
    this.#host = host;
    this.#clock = clock;
    this.#mode = mode;
    this.#commitSeconds = commitSeconds;
    this.#savedCycle = clock.cycle();
  }

  /** For an answer that shows a machine's state: undefined if it may go at once. Rejects with `store_failed`. */
  ofRows(machine: Machine): Promise<void> | undefined {
    return machine.durableSeq === machine.head.seq ? undefined : this.commit();
  }

  /** For an answer to events: as `ofRows`, and by the mode for the counts. @param cycle in which they are counted */
  ofCounts(machine: Machine, cycle: number): Promise<void> | undefined {
    // An event that had to wait is counted in the cycle of its arrival, whose counts may be written already.
    if (this.#mode === 'strict' || cycle !== this.#savedCycle) return this.#counts(machine);
    const saving = this.#saving.get(machine);
    if (saving === undefined) return this.ofRows(machine);
    return machine.durableSeq === machine.head.seq ? this.#earlier(machine, saving) : this.#counts(machine);
  }

  commit(): Promise<void> {
    return whenSettled((settled) => this.#commit(settled));
  }

  saveCounts(): void {
    for (const machine of this.#host.machines.values()) {
      const { changed, hasUncommitted } = machine.context;
      if (changed.length > 0 || hasUncommitted === true) this.#begin(machine);
    }
    this.#savedCycle = this.#clock.cycle();
  }

  /** Resolves once all counts of a machine are durable; callers in one turn of the loop share a write. */
  #counts(machine: Machine): Promise<void> {
    const { waiting } = this.#begin(machine);
    this.#others.delete(machine);
    this.#asked.add(machine);
    return whenSettled((settled) => waiting.push(settled));
  }

  #earlier(machine: Machine, saving: Saving): Promise<void> {
    const waiting = this.#isDue(machine) ? saving.waiting : saving.committing;
    if (this.#others.delete(machine)) this.#asked.add(machine);
    return whenSettled((settled) => waiting.push(settled));
  }

  #begin(machine: Machine): Saving {
    const saving = getOrInsert(this.#saving, machine, () => ({ left: 0, waiting: [], committing: [] }));
    saving.left = machine.context.changed.length;
    if (!this.#asked.has(machine)) this.#others.add(machine);
    this.#goOn();
    return saving;
  }

  #isDue(machine: Machine): boolean {
    return this.#asked.has(machine) || this.#others.has(machine);
  }

  #goOn(): void {
    if (this.#isWriting || this.#asked.size + this.#others.size === 0) return;
    this.#isWriting = true;
    this.#clock.agenda.at(this.#clock.now(), Rank.report, this.#write);
  }

  readonly #write = (): void => {
    this.#isWriting = false;
    const written: { readonly machine: Machine; readonly waiting: readonly Settled[] }[] = [];
    try {
      const endMs = this.#clock.now() + SLICE_MS;
      do {
        const turns = this.#asked.size > 0 ? this.#asked : this.#others;
        const [machine] = turns;
        if (machine === undefined) break;
        const saving = this.#saving.get(machine)!;
        turns.delete(machine);
        for (; saving.left > 0 && this.#clock.now() < endMs; saving.left -= 1) this.#host.saveOne(machine);
        if (saving.left > 0) turns.add(machine);
        else {
          machine.context.hasUncommitted = false;
          written.push({ machine, waiting: saving.waiting });
          saving.committing = saving.waiting;
          saving.waiting = [];
        }
      } while (this.#clock.now() < endMs);
    } catch (error) {
      this.#fail(
        error as Failure,
        written.flatMap(({ waiting }) => waiting),
      );
      // A failure of the store is reported already: waiting answers reject, and the heartbeat logs it.
      if (!(error instanceof Failure)) throw error;
      return;
    }
    this.#goOn();
    if (written.length === 0) return;
    this.#commit((failure) => {
      for (const { machine, waiting } of written) {
        // It may have been requested again meanwhile.
        if (this.#saving.get(machine)?.committing === waiting && !this.#isDue(machine)) this.#saving.delete(machine);
        for (const settled of waiting) settled(failure);
      }
    });
  };

  #fail(failure: Failure, waiting: Settled[]): void {
    for (const saving of this.#saving.values()) waiting.push(...saving.waiting);
    this.#saving.clear();
    this.#asked.clear();
    this.#others.clear();
    for (const settled of waiting) settled(failure);
  }

  #commit(settled: (failure?: Failure) => void): void {
    const startMs = this.#clock.monotonicMs();
    this.#host.commit((failure) => {
      this.#commitSeconds.take((this.#clock.monotonicMs() - startMs) / 1000);
      settled(failure);
    });
  }
}

function whenSettled(add: (settled: Settled) => void): Promise<void> {
  return new Promise((resolve, reject) => add((failure) => (failure === undefined ? resolve() : reject(failure))));
}
