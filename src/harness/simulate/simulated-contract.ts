// One contract of a run in virtual time: its gate, and the task that wakes it.
import type { ContractActors } from '../../core/limiter/contract-actor.js';
import type { GateHead } from '../../core/limiter/fast-path.js';
import { type Due, Gate, headOfPlan } from '../../core/limiter/gate.js';
import type { Plan } from '../../core/limiter/plan.js';
import { ko42 } from '../../core/operator/ko42.js';
import { fireOperators } from '../../core/record/fire-operators.js';
import type { Ticket } from '../../core/time/agenda.js';
import type { Clock } from '../../core/time/clock.js';
import { Rank } from '../../core/time/rank.js';

export interface SimulatedParts {
  readonly clock: Clock;
  readonly actors: ContractActors;
  readonly plan: Plan;
  /** Of a rule with one queue for all keys. */
  readonly sharedState: unknown;
  readonly moved: (contract: number, due: Due) => void;
}

export class SimulatedContract {
  readonly head: GateHead;
  readonly gate: Gate;
  readonly index: number;
  readonly #parts: SimulatedParts;
  #taken: Due[] = [];
  #ticket: Ticket | undefined;
  #wakeMs = Number.POSITIVE_INFINITY;

  constructor(index: number, id: string, parts: SimulatedParts) {
    const { clock, actors, plan, sharedState } = parts;
    this.head = headOfPlan(plan, clock.cycle());
    this.index = index;
    this.#parts = parts;
    this.gate = new Gate(plan, {
      cycle: clock.cycle(),
      cycleMs: clock.cycleMs,
      nowMs: clock.now(),
      owner: this,
      actors,
      name: id,
      head: this.head,
    });
    if (sharedState !== undefined) this.gate.record.rule!.state = sharedState;
    this.#schedule();
  }

  get state(): string {
    return this.gate.plan.states[this.gate.state]!.name;
  }

  /** Unix ms of its next move without a request; Infinity for never. */
  get wakeMs(): number {
    return this.#wakeMs;
  }

  /** Decides `n` requests in the clock's `cycle`; returns how many were admitted. See `Gate.decide`, `decideCost`. */
  decide(n: number, cycle: number, holdMs?: number, cost?: number): number {
    const { gate } = this;
    const nowMs = this.#parts.clock.now();
    const admitted =
      cost === undefined ? gate.decide(n, cycle, 0, nowMs, holdMs) : gate.decideCost(cost, cycle, 0, nowMs, holdMs);
    if (this.#taken.length > 0 || gate.hastens) this.#settle();
    return admitted;
  }

  advance(cycle: number): void {
    this.gate.advance(cycle);
    this.#settle();
  }

  release(heldMs: number): void {
    this.gate.release(this.#parts.clock.now(), heldMs);
    this.#settle();
  }

  charge(n: number, sinceMs: number): void {
    this.gate.charge(n, this.#parts.clock.now(), sinceMs);
    this.#settle();
  }

  #settle(): void {
    this.#schedule();
    if (this.#taken.length === 0) return;
    const taken = this.#taken;
    this.#taken = [];
    for (const due of taken) this.#parts.moved(this.index, due);
  }

  recordTransition(due: Due): boolean {
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
