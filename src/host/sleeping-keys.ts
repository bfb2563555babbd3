// The keys of a contract that are asleep: what each counts and, where that is not its all, its hold and refusals.
//
//   key 7    limiting, count 9 of at least 6        sleeper at the cycle in which the count falls below 6
//   key 8    allowing, count 3 of at most 5         nothing can happen unless something comes
import { Gate, gateCells } from '../limiter/gate.js';
import { type Plan, quietBand } from '../limiter/plan.js';
import { SparseWindows } from '../limiter/sparse-windows.js';
import { ownCells } from '../limiter/window.js';
import type { ContractState } from '../store/store.js';
import { cycleOf, startOf } from '../time/cycle.js';
import type { HostContext } from './host-context.js';

/** What a key goes on with: its state, and what else a contract is made again from. */
export type KeyState = Omit<ContractState, 'id'>;

/** How a key stands: what of a contract says so. */
export interface KeyView {
  readonly stateIndex: number;
  readonly count: number;
  /** To ask about the future. */
  readonly gate: Gate;
}

interface Aside {
  readonly heldUntilCycle: number;
  readonly refusals: number;
}

export class SleepingKeys {
  readonly #plan: Plan;
  readonly #context: HostContext;
  readonly #windows: SparseWindows;
  readonly #aside = new Map<number, Aside>();
  readonly #sleepers = new Map<number, { readonly wakeMs: number; wake(ms: number): void }>();
  readonly #stateOf: (key: number) => number;
  readonly #wake: (key: number, ms: number) => void;

  /**
   * @param most keys at a time
   * @param stateOf index of the state of a key
   * @param wake called at the beginning of the cycle in which a key may move by itself
   */
  constructor(
    plan: Plan,
    context: HostContext,
    most: number,
    stateOf: (key: number) => number,
    wake: (key: number, ms: number) => void,
  ) {
    this.#plan = plan;
    this.#context = context;
    this.#windows = new SparseWindows(plan.aggregates[0]!.within, most);
    this.#stateOf = stateOf;
    this.#wake = wake;
  }

  /** Makes room for a new key, which has counted nothing. */
  reach(key: number): void {
    this.#windows.reach(key);
  }

  /** Counts `n` events, unless the key may move then. @returns whether it did */
  count(key: number, state: number, n: number, cycle: number): boolean {
    const before = this.#windows.advance(key, cycle);
    const band = quietBand(this.#plan, state, 0, before);
    if (band === undefined || before + n > band.hi || before + 1 < band.lo || this.#aside.has(key)) return false;
    this.#windows.add(key, n, cycle);
    return true;
  }

  /** Lets a key sleep, if it is quiet. @returns the cycle of its newest count, -Infinity for none; undefined where it stays awake */
  put(key: number, { state, heldUntilCycle, refusals = 0, windows }: KeyState): number | undefined {
    const window = windows[0]!;
    let count = 0;
    for (let at = 1; at < window.counts.length; at += 2) count += window.counts[at]!;
    const index = this.#plan.states.findIndex(({ name }) => name === state);
    const isHeld = window.cycle < heldUntilCycle;
    if (!isHeld && quietBand(this.#plan, index, 0, count) === undefined) return undefined;
    this.#windows.restore(key, window);
    if (isHeld || refusals > 0) this.#aside.set(key, { heldUntilCycle, refusals });
    this.#lie(key, index, window.cycle);
    const [newest] = window.counts;
    return newest === undefined ? Number.NEGATIVE_INFINITY : window.cycle - newest;
  }

  /** Wakes a key: it is not here any more. @param cycle up to which nothing has happened */
  take(key: number, cycle: number): KeyState {
    const state = this.state(key, cycle);
    this.forget(key);
    return state;
  }

  forget(key: number): void {
    this.#windows.clear(key);
    this.#aside.delete(key);
    const sleeper = this.#sleepers.get(key);
    if (sleeper === undefined) return;
    this.#context.wakes.forget(sleeper);
    this.#sleepers.delete(key);
  }

  /** Whether it remembers nothing but counts. */
  isPlain(key: number): boolean {
    return !this.#aside.has(key);
  }

  state(key: number, cycle: number): KeyState {
    const { heldUntilCycle = cycle, refusals = 0 } = this.#aside.get(key) ?? {};
    return {
      state: this.#plan.states[this.#stateOf(key)]!.name,
      heldUntilCycle,
      windows: [this.#windows.image(key, cycle)],
      ...(refusals === 0 ? {} : { refusals }),
    };
  }

  viewOf(key: number, cycle: number): KeyView {
    const stateIndex = this.#stateOf(key);
    const gate = () => {
      const { cycleMs } = this.#context.clock;
      const place = ownCells(gateCells(this.#plan));
      const image = this.state(key, cycle);
      return new Gate(this.#plan, { cycle, cycleMs, nowMs: startOf(cycle, cycleMs), image, place });
    };
    return {
      stateIndex,
      count: this.#windows.advance(key, cycle),
      // Made only where the future is asked for: seldom.
      get gate() {
        return gate();
      },
    };
  }

  /** Sets the time at which the key wakes by itself. */
  #lie(key: number, state: number, cycle: number): void {
    const { clock, wakes } = this.#context;
    const next = this.#nextWake(key, state, cycle);
    if (next === Number.POSITIVE_INFINITY) return;
    const sleeper = {
      wakeMs: startOf(next, clock.cycleMs),
      wake: (ms: number) => {
        this.#sleepers.delete(key);
        // More may have come since it fell asleep: that only puts it off.
        const now = cycleOf(ms, clock.cycleMs);
        if (this.#nextWake(key, state, now - 1) > now) this.#lie(key, state, now - 1);
        else this.#wake(key, ms);
      },
    };
    this.#sleepers.set(key, sleeper);
    wakes.schedule(sleeper);
  }

  #nextWake(key: number, state: number, cycle: number): number {
    const { heldUntilCycle = cycle } = this.#aside.get(key) ?? {};
    if (cycle < heldUntilCycle) return heldUntilCycle;
    const band = quietBand(this.#plan, state, 0, this.#windows.advance(key, cycle));
    if (band === undefined) return cycle + 1;
    return band.lo <= 0 ? Number.POSITIVE_INFINITY : this.#windows.fallsBelow(key, band.lo, cycle);
  }
}
