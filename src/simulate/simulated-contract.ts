// One contract of a run in virtual time: its gate, and the task that wakes it. It decides as a contract of a node does and leaves no
// record: who runs it hears of its transitions.
import { type Inspect, interpretedMoves } from '../actor/interpreted-moves.js';
import { fireOperators } from '../host/fire-operators.js';
import { type Due, Gate, gateCells } from '../limiter/gate.js';
import type { Plan } from '../limiter/plan.js';
import { type Cells, cutCells } from '../limiter/window.js';
import { ko42 } from '../operator/ko42.js';
import type { Ticket } from '../time/agenda.js';
import type { Clock } from '../time/clock.js';
import { Rank } from '../time/rank.js';

/** What the contracts of a run share. */
export interface SimulatedParts {
  readonly clock: Clock;
  readonly inspect: Inspect | undefined;
  /** A contract took a transition. Called once it and all that was under way with it is over. */
  readonly moved: (contract: number, due: Due) => void;
}

export class SimulatedContract {
  readonly gate: Gate;
  /** Where the cells of the gate lie, for an owner that tries `decideFast` itself. */
  readonly place: Cells;
  readonly index: number;
  readonly #parts: SimulatedParts;
  #taken: Due[] = [];
  #ticket: Ticket | undefined;
  #wakeMs = Number.POSITIVE_INFINITY;

  /** It begins in the cycle of the clock, with an empty window. @param id names it in traces */
  constructor(plan: Plan, index: number, id: string, parts: SimulatedParts) {
    const { clock, inspect } = parts;
    this.place = cutCells(gateCells(plan));
    this.index = index;
    this.#parts = parts;
    this.gate = new Gate(plan, {
      cycle: clock.cycle(),
      cycleMs: clock.cycleMs,
      nowMs: clock.now(),
      perform: (due) => this.#perform(due),
      moves: inspect && interpretedMoves(id, inspect),
      place: this.place,
    });
    this.#schedule();
  }

  /** Name of the state, for example `allowing`. */
  get state(): string {
    return this.gate.plan.states[this.gate.state]!.name;
  }

  /** When it may move by itself, in unix ms; Infinity for never. */
  get wakeMs(): number {
    return this.#wakeMs;
  }

  /**
   * Counts `n` requests now and decides them. See `Gate.decide`.
   * @param cycle that of the clock
   * @returns how many were admitted
   */
  decide(n: number, cycle: number, holdMs?: number): number {
    const { gate } = this;
    const admitted = gate.decide(n, cycle, 0, this.#parts.clock.now(), holdMs);
    if (this.#taken.length > 0 || gate.hearsAll || gate.plan.rule?.rule.hastens) this.#settle();
    return admitted;
  }

  /** Goes on to a cycle. */
  advance(cycle: number): void {
    this.gate.advance(cycle);
    this.#settle();
  }

  /** A request that was to be in flight until now is over. @param heldMs how long it was in flight */
  release(heldMs: number): void {
    this.gate.release(this.#parts.clock.now(), heldMs);
    this.#settle();
  }

  #settle(): void {
    this.#schedule();
    if (this.#taken.length === 0) return;
    const taken = this.#taken;
    this.#taken = [];
    for (const due of taken) this.#parts.moved(this.index, due);
  }

  /** An operator other than the substrate may refuse. */
  #perform(due: Due): boolean {
    if (due.transition.operator !== ko42 && !fireOperators(due).ok) return false;
    this.#taken.push(due);
    return true;
  }

  #schedule(): void {
    const wakeMs = this.gate.wakeMs();
    if (wakeMs === this.#wakeMs) return;
    const { agenda } = this.#parts.clock;
    if (this.#ticket !== undefined) agenda.cancel(this.#ticket);
    this.#wakeMs = wakeMs;
    this.#ticket = wakeMs === Number.POSITIVE_INFINITY ? undefined : agenda.at(wakeMs, Rank.advance, this.#wake);
  }

  readonly #wake = (): void => {
    const ms = this.#wakeMs;
    this.#ticket = undefined;
    this.#wakeMs = Number.POSITIVE_INFINITY;
    this.gate.reach(ms);
    this.#settle();
  };
}
