// Owns what happens to a gate if nothing else arrives: when it restores, and when a request would be admitted again.
import { chooseTransition } from './contract/plan.js';
import type { Gate } from './gate.js';

/**
 * The smallest k >= 1 such that a request that arrives k cycles from now is admitted, if nothing else arrives; one cycle
 * earlier it would be limited. 0 when the next request would be admitted now; undefined when it never will be.
 */
export function retryAfterCycles(gate: Gate, kind = 0): number | undefined {
  const path = new QuietPath(gate);
  if (path.wouldAdmit(kind)) return 0;
  while (path.step()) if (path.wouldAdmit(kind)) return path.after;
  return undefined;
}

/** The smallest k >= 1 such that the state admits k cycles from now, if nothing arrives; undefined if it does now, or never. */
export function restoresInCycles(gate: Gate): number | undefined {
  if (gate.admits) return undefined;
  const path = new QuietPath(gate);
  while (path.step()) if (path.admits) return path.after;
  return undefined;
}

/** The way of a gate through the cycles to come, without the gate itself moving. */
class QuietPath {
  /** Cycles from now. */
  after = 0;
  private state: number;
  private readonly counts: number[];
  private readonly last: number;

  constructor(private readonly gate: Gate) {
    this.state = gate.state;
    this.counts = gate.counts;
    const longest = gate.plan.aggregates.reduce((most, { within }) => Math.max(most, within), 0);
    // Once the windows are empty and nothing holds the gate, each further cycle fires at most one transition.
    this.last = Math.max(longest, gate.heldUntilCycle - gate.cycle) + gate.plan.states.length;
  }

  get admits(): boolean {
    return this.gate.plan.states[this.state]!.admits;
  }

  step(): boolean {
    if (this.after === this.last) return false;
    this.after += 1;
    this.gate.plan.aggregates.forEach(({ within }, index) => {
      if (this.after <= within) this.counts[index]! -= this.gate.window(index).leaving(this.after);
    });
    this.state = this.evaluated(this.counts);
    return true;
  }

  wouldAdmit(kind: number): boolean {
    const { plan } = this.gate;
    const aggregates = plan.kinds[kind]?.aggregates ?? [];
    for (const index of aggregates) this.counts[index]! += 1;
    const admits = plan.states[this.evaluated(this.counts)]!.admits;
    for (const index of aggregates) this.counts[index]! -= 1;
    return admits;
  }

  private evaluated(counts: readonly number[]): number {
    const { gate } = this;
    if (gate.cycle + this.after < gate.heldUntilCycle) return this.state;
    return chooseTransition(gate.plan, this.state, counts)?.to ?? this.state;
  }
}
