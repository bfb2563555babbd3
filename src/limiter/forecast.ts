// What happens to a gate if nothing else arrives: when it restores, and when a request would be admitted again.
//
//   count   103 103 102 102 102 101 101 100        a decision changes only where the count falls to a floor:
//   floor                               100        the cycles before it are skipped
import { cycleOf, startOf } from '../time/cycle.js';
import type { IntegerSet } from './expression/integer-set.js';
import type { Gate } from './gate.js';
import { firingAt } from './plan.js';
import { RuleGate } from './rule-gate.js';
import type { RollingWindow } from './window.js';

/**
 * The smallest k >= 1 such that a request that arrives k cycles from now is admitted, if nothing else arrives; one cycle
 * earlier it would be limited. 0 when the next request would be admitted now; undefined when it never will be.
 */
export function retryAfterCycles(gate: Gate, kind = 0): number | undefined {
  if (gate instanceof RuleGate) return cyclesUntil(gate, gate.admissionMs());
  const path = new QuietPath(gate, kind);
  if (path.wouldAdmit()) return 0;
  while (path.step()) if (path.wouldAdmit()) return path.after;
  return undefined;
}

/** The smallest k >= 1 such that the state admits k cycles from now, if nothing arrives; undefined if it does now, or never. */
export function restoresInCycles(gate: Gate): number | undefined {
  if (gate.plan.states[gate.state]!.admits) return undefined;
  if (gate instanceof RuleGate) return cyclesUntil(gate, gate.restoresMs());
  const path = new QuietPath(gate);
  while (path.step()) if (path.admits) return path.after;
  return undefined;
}

/** Cycles until the first that begins at `ms` or later; 0 for a time that has come. */
export function cyclesUntil({ cycle, cycleMs, nowMs }: RuleGate, ms: number | undefined): number | undefined {
  if (ms === undefined) return undefined;
  if (ms <= nowMs) return 0;
  const begun = cycleOf(ms, cycleMs);
  return Math.max(1, begun - cycle + (startOf(begun, cycleMs) < ms ? 1 : 0));
}

/** A gate in the cycles to come, computed without changing the gate. */
class QuietPath {
  /** Cycles from now. */
  after = 0;
  readonly #gate: Gate;
  #state: number;
  readonly #windows: readonly RollingWindow[];
  readonly #counts: number[];
  /** For each aggregate: while its count is greater, neither the state nor the decision on a request can change. */
  readonly #floors: number[];
  /** The aggregates that a request of the kind counts in. */
  readonly #fed: readonly number[];
  /** Cycles from now for which nothing is evaluated. */
  readonly #heldFor: number;
  readonly #last: number;

  /** @param kind index of the kind of request into `plan.kinds`; undefined: no request is considered */
  constructor(gate: Gate, kind?: number) {
    this.#gate = gate;
    this.#state = gate.state;
    this.#windows = gate.plan.aggregates.map((_, index) => gate.window(index));
    this.#counts = gate.counts;
    this.#fed = kind === undefined ? [] : (gate.plan.kinds[kind]?.aggregates ?? []);
    this.#heldFor = gate.heldUntilCycle - gate.cycle;
    const longest = this.#windows.reduce((most, { within }) => Math.max(most, within), 0);
    // Once the windows are empty and nothing holds the gate, each further cycle fires at most one transition.
    this.#last = Math.max(longest, this.#heldFor) + gate.plan.states.length;
    this.#floors = this.#counts.map(() => 0);
    this.#setFloors();
  }

  get admits(): boolean {
    return this.#gate.plan.states[this.#state]!.admits;
  }

  /** Goes on to the next cycle in which a decision may change; false when there is none. */
  step(): boolean {
    if (this.after >= this.#heldFor && this.#floors.every((floor) => floor < 0)) return false;
    if (!this.#skipQuietCycles()) return false;
    this.#state = this.#evaluated();
    this.#setFloors();
    return true;
  }

  wouldAdmit(): boolean {
    for (const index of this.#fed) this.#counts[index]! += 1;
    const admits = this.#gate.plan.states[this.#evaluated()]!.admits;
    for (const index of this.#fed) this.#counts[index]! -= 1;
    return admits;
  }

  /** Goes on cycle by cycle, subtracting what leaves from the counts, until one has reached its floor or the hold ends. */
  #skipQuietCycles(): boolean {
    const windows = this.#windows;
    const counts = this.#counts;
    const floors = this.#floors;
    let { after } = this;
    const [only] = windows;
    if (windows.length === 1) {
      // Most have one window, which may be 100,000 cycles long: its cells are read in one go.
      const stop = after < this.#heldFor ? Math.min(this.#heldFor, only!.within) - 1 : only!.within;
      const [quiet, left] = only!.whileFewerLeave(counts[0]! - floors[0]!, after, stop);
      after = quiet;
      counts[0]! -= left;
    }
    for (let hasReached = false; !hasReached; ) {
      if (after === this.#last) return false;
      after += 1;
      hasReached = after === this.#heldFor;
      for (let index = 0; index < windows.length; index += 1) {
        const window = windows[index]!;
        if (after <= window.within) counts[index]! -= window.leaving(after);
        if (counts[index]! <= floors[index]!) hasReached = true;
      }
    }
    this.after = after;
    return true;
  }

  #setFloors(): void {
    const counts = this.#counts;
    const floors = this.#floors;
    const { plan } = this.#gate;
    if (this.after < this.#heldFor) {
      floors.fill(-1);
      return;
    }
    // If a trigger fires at these counts, the next cycle has to be looked at.
    floors.fill(firingAt(plan, this.#state, counts) === undefined ? -1 : Number.POSITIVE_INFINITY);
    for (const { trigger } of plan.states[this.#state]!.transitions) {
      if (trigger === undefined) continue;
      const { aggregate } = trigger;
      const count = counts[aggregate]!;
      const floor = sameDownTo(trigger.counts, count) - 1;
      const floorOfRequest = this.#fed.includes(aggregate) ? sameDownTo(trigger.counts, count + 1) - 2 : -1;
      floors[aggregate] = Math.max(floors[aggregate]!, floor, floorOfRequest);
    }
  }

  #evaluated(): number {
    if (this.after < this.#heldFor) return this.#state;
    return firingAt(this.#gate.plan, this.#state, this.#counts)?.to ?? this.#state;
  }
}

/** The smallest m for which m .. count lies in the set as a whole, or outside of it as a whole. */
function sameDownTo(set: IntegerSet, count: number): number {
  let same = 0;
  for (const { lo, hi } of set) {
    if (lo <= count) same = lo;
    if (hi < count) same = hi + 1;
  }
  return same;
}
