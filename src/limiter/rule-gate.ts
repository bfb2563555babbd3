// A gate whose contract follows a rule: a bucket, a queue, any window that is not counted in cycles. It asks the rule at the very ms, and
// its actor only when the answer changes what a guard looks at.
//
//   request at ms  ─►  rule: admitted, after a delay, refused  ─►  refused = 0 or 1  ─►  quiet in this state?  ─ yes ─►  the state decides
//                                                                                      └─ no ─►  actor.evaluate()
//
//   refused     0 0 0 1 . . . . . . 0        1 from a refused request on; 0 as soon as one request would be admitted again,
//               | | | x x   x       ^ wake   at that ms, also if none comes
//
// The rule is asked and charged whatever the state is. The state decides: a request is admitted if the contract, after its evaluation,
// is in a state that admits. The two differ where a hold or a move by hand keeps the contract in another state, or a definition has
// states of its own. The delay of a request that the rule refuses, but the state admits, is 0.
//
// Events of earlier cycles cannot be counted: a rule has decided what came since.
import { assert } from '../schema/failure.js';
import { cycleOf, startOf } from '../time/cycle.js';
import { has } from './expression/integer-set.js';
import { Gate, type GateActor, type GateImage } from './gate.js';
import { firingAt, type Plan, type PlannedTransition } from './plan.js';
import type { PlannedRule } from './planned-rule.js';
import { LIMITED, NEVER } from './rule/rule.js';
import type { Cells } from './window.js';

/** Where a gate is in time. */
export interface GateTime {
  /** Length of a cycle in ms. */
  readonly cycleMs: number;
  /** Unix ms. */
  readonly nowMs: number;
}

/** The gate that the plan asks for. Parameters as those of `Gate`; the time is for a rule. */
export function gateFor(
  plan: Plan,
  cycle: number,
  time: GateTime,
  actor: GateActor,
  image?: Pick<GateImage, 'windows' | 'rule'>,
  place?: Cells,
): Gate {
  if (plan.rule === undefined) return new Gate(plan, cycle, actor, image?.windows, place);
  return new RuleGate(plan, cycle, time, actor, image, place);
}

export class RuleGate extends Gate {
  /** The longest delay of those that the last decision admitted, in ms; 0 for none. */
  delayMs = 0;
  /** `count` after the last decision. */
  level = 0;
  readonly cycleMs: number;
  readonly #planned: PlannedRule;
  #state: unknown;
  #refused: 0 | 1 = 0;
  #nowMs: number;
  /**
   * The next time at which an evaluation may fire if nothing comes. A request that comes before can only put it off, except by a rule
   * that `hastens`.
   */
  #wakeMs = NEVER;
  /** Whether an evaluation fires nothing while the rule admits, and while it refuses. */
  #isQuiet: [admitting: boolean, refusing: boolean] = [false, false];

  constructor(
    plan: Plan,
    cycle: number,
    { cycleMs, nowMs }: GateTime,
    actor: GateActor,
    image?: Pick<GateImage, 'windows' | 'rule'>,
    place?: Cells,
  ) {
    super(plan, cycle, actor, image?.windows, place);
    assert(plan.rule !== undefined, 'a gate of a rule needs one');
    this.cycleMs = cycleMs;
    this.#planned = plan.rule;
    this.#nowMs = image?.rule?.atMs ?? nowMs;
    this.#state = image?.rule === undefined ? plan.rule.rule.fresh(nowMs) : image.rule.state;
    this.#refused = image?.rule?.refused ?? 0;
    this.refresh();
  }

  /** All at once: they come at the same instant. */
  override stepOf(n: number): number {
    return n;
  }

  /** How much of what the rule admits at once is used up; 0 where it admits all. */
  override get count(): number {
    return this.levelAt(this.#nowMs);
  }

  /** What a guard looks at: whether the rule refuses. */
  override get counts(): number[] {
    return [this.#refused];
  }

  override get remaining(): number {
    return this.#planned.rule.remaining(this.#state, this.#nowMs);
  }

  override get isAsNew(): boolean {
    return this.#refused === 0 && this.#planned.rule.nextChange(this.#state, this.#nowMs) === NEVER;
  }

  /** The time up to which it has decided, in unix ms. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** When an evaluation may fire by itself, in unix ms; Infinity for never. */
  get wakeMs(): number {
    return this.#wakeMs;
  }

  /** See `count`, at a time to come if nothing arrives. */
  levelAt(ms: number): number {
    const { rule, most } = this.#planned;
    return most === Number.POSITIVE_INFINITY ? 0 : Math.max(0, most - rule.remaining(this.#state, ms));
  }

  /** The first time after `ms` at which the level changes if nothing arrives; Infinity for none. */
  levelChangesAfter(ms: number): number {
    return this.#planned.rule.nextChange(this.#state, ms);
  }

  /** One state for several gates: where what waits does not ask who sent it. */
  share(state: unknown): void {
    this.#state = state;
  }

  /**
   * Decides `n` events of cost 1, one after the other, at one instant.
   * @param atMs not before the last one, in `cycle`. Default: the beginning of the cycle
   * @param holdMs how long each is in flight once it starts; Infinity: until `release`. Default: as the definition says
   */
  override decide(n: number, cycle: number, _kind = 0, atMs?: number, holdMs = this.#planned.holdMs): number {
    const { rule } = this.#planned;
    const ms = Math.max(atMs ?? startOf(cycle, this.cycleMs), this.#nowMs);
    this.#reach(ms);
    this.delayMs = 0;
    let admitted = 0;
    for (let left = n; left > 0; left -= 1) {
      const delay = rule.decide(this.#state, ms, 1, holdMs);
      const refused = delay === LIMITED ? 1 : 0;
      if (refused !== this.#refused || !this.#isQuiet[refused] || this.actor.hearsAll) this.#answered(refused);
      if (!this.admits) continue;
      admitted += 1;
      if (delay > this.delayMs) this.delayMs = delay;
    }
    if (rule.hastens && this.#refused === 1) this.#wakeMs = this.#nextWakeMs();
    this.level = this.levelAt(ms);
    this.decided(n, admitted, this.level);
    return admitted;
  }

  override decideLate(): number {
    return -1;
  }

  /** Goes on to the beginning of a cycle. */
  override advance(cycle: number): void {
    if (cycle > this.cycle) this.#reach(startOf(cycle, this.cycleMs));
  }

  /** Goes on to an instant; what is due on the way fires at its own. */
  reach(ms: number): void {
    this.#reach(Math.max(ms, this.#nowMs));
  }

  /** A request that was to be in flight until now is over. @param heldMs how long it was in flight */
  release(ms: number, heldMs: number): void {
    this.reach(ms);
    this.#planned.rule.release?.(this.#state, this.#nowMs, heldMs);
    this.#wakeMs = this.#nextWakeMs();
    // What it frees is there now, not later.
    if (this.#refused === 1 && this.#admitsAt(this.#nowMs)) this.#answered(0);
  }

  /** The cycle in which it wakes. */
  override nextWake(): number {
    return this.#wakeMs === NEVER ? NEVER : cycleOf(this.#wakeMs, this.cycleMs);
  }

  override refresh(): void {
    super.refresh();
    const held = this.cycle < this.heldUntilCycle;
    this.#isQuiet = [held || this.#firing(0) === undefined, held || this.#firing(1) === undefined];
    this.#wakeMs = this.#nextWakeMs();
  }

  override image(): GateImage {
    return { ...super.image(), rule: { refused: this.#refused, atMs: this.#nowMs, state: this.#state } };
  }

  /** The earliest time from now on at which an event would be admitted if no other comes; undefined for never. */
  admissionMs(): number | undefined {
    return this.#timeOf((state, ms) => this.#stateAfter(state, ms, this.#admitsAt(ms) ? 0 : 1));
  }

  /** The earliest time from now on at which the contract is in a state that admits, if nothing comes; undefined for never. */
  restoresMs(): number | undefined {
    return this.#timeOf((state) => state);
  }

  /** Asks something of the state of the rule, as it is now. */
  waitMs<T>(ask: (state: unknown, nowMs: number) => T): T {
    return ask(this.#state, this.#nowMs);
  }

  /** Follows the states through the times at which they can change. */
  #timeOf(stateOf: (state: number, ms: number) => number): number | undefined {
    const { states } = this.plan;
    const heldMs = startOf(this.heldUntilCycle, this.cycleMs);
    const freeMs = this.#planned.rule.nextAdmission(this.#state, this.#nowMs, 1);
    const refusedAt = (at: number) => (this.#refused === 1 && at < freeMs ? 1 : 0);
    let [state, ms] = [this.state, this.#nowMs];
    // A hold ends, the rule admits, and each further cycle fires at most one transition.
    for (let steps = 0; steps < states.length + 3 && ms < NEVER; steps += 1) {
      if (states[stateOf(state, ms)]!.admits) return ms;
      const isChain = ms >= heldMs && this.#stateAfter(state, ms, refusedAt(ms)) !== state;
      const chainMs = isChain ? startOf(cycleOf(ms, this.cycleMs) + 1, this.cycleMs) : NEVER;
      ms = Math.min(chainMs, heldMs > ms ? heldMs : NEVER, freeMs > ms ? freeMs : NEVER);
      state = this.#stateAfter(state, ms, refusedAt(ms));
    }
    return undefined;
  }

  #stateAfter(state: number, ms: number, refused: 0 | 1): number {
    if (ms < startOf(this.heldUntilCycle, this.cycleMs)) return state;
    return firingAt(this.plan, state, [refused])?.to ?? state;
  }

  #admitsAt(ms: number): boolean {
    return this.#planned.rule.nextAdmission(this.#state, ms, 1) <= ms;
  }

  #reach(ms: number): void {
    while (this.#wakeMs <= ms) {
      const at = this.#wakeMs;
      assert(at >= this.#nowMs, `a gate wakes at ${at}, and it is ${this.#nowMs}`);
      this.#goTo(at);
      this.#answered(this.#refused === 1 && !this.#admitsAt(at) ? 1 : 0);
    }
    this.#goTo(ms);
  }

  #goTo(ms: number): void {
    this.#nowMs = ms;
    this.passTo(cycleOf(ms, this.cycleMs));
  }

  /** Evaluates, unless nothing can fire. */
  #answered(refused: 0 | 1): void {
    this.#refused = refused;
    this.refresh();
    if (this.#isQuiet[refused] && !this.actor.hearsAll) return;
    this.actor.evaluate(this.cycle, [refused]);
    this.refresh();
  }

  #firing(refused: 0 | 1): PlannedTransition | undefined {
    return this.plan.states[this.state]!.transitions.find(({ trigger }) => trigger && has(trigger.counts, refused));
  }

  #nextWakeMs(): number {
    const nextCycleMs = startOf(this.cycle + 1, this.cycleMs);
    if (this.cycle < this.heldUntilCycle) return startOf(this.heldUntilCycle, this.cycleMs);
    // Due, but just evaluated: the next transition of a chain, or one that was refused, is for the next cycle.
    if (!this.#isQuiet[this.#refused]) return nextCycleMs;
    if (this.#refused === 0) return NEVER;
    const freeMs = this.#planned.rule.nextAdmission(this.#state, this.#nowMs, 1);
    const soonestMs = this.actor.hearsAll ? Math.min(nextCycleMs, freeMs) : freeMs;
    if (this.#isQuiet[0] && !this.actor.hearsAll) return NEVER;
    return Math.max(soonestMs, this.#nowMs);
  }
}
