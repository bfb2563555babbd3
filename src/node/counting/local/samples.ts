// Samples contracts of this process at the end of a cycle, before anything of the next: Rank.close in the machine's order of time.
import { HISTORY_CYCLES } from '../../../api/contract-history.js';
import { getOrInsert } from '../../../core/math/get-or-insert.js';
import { cycleOf, startOf } from '../../../core/time/cycle.js';
import { Rank } from '../../../core/time/rank.js';
import type { Contract } from '../../host/contract.js';
import type { Host } from '../../host/host.js';
import type { Machine } from '../../host/machine.js';
import type { Sleeper } from '../../host/wakes.js';
import { figuresOf, type Sampled, type Samples } from '../counting.js';

export class LocalSamples implements Samples {
  readonly mostUnwatched = Number.POSITIVE_INFINITY;
  readonly #host: Host;
  readonly #samplers = new Map<Machine, Sampler>();

  constructor(host: Host) {
    this.#host = host;
  }

  begin(sampled: Sampled): void {
    const machine = this.#host.machine(sampled.contract.image.machine);
    const sampler = getOrInsert(this.#samplers, machine, () => new Sampler(machine));
    sampler.sampled.add(sampled);
    sampled.begin(figuresNow(sampled.contract));
  }

  end(sampled: Sampled): void {
    const machine = this.#host.machines.get(sampled.contract.image.machine);
    const sampler = machine && this.#samplers.get(machine);
    if (machine === undefined || sampler === undefined) return;
    sampler.sampled.delete(sampled);
    if (sampler.sampled.size > 0) return;
    machine.context.wakes.cancel(sampler);
    this.#samplers.delete(machine);
  }
}

class Sampler implements Sleeper {
  readonly rank = Rank.close;
  readonly sampled = new Set<Sampled>();
  wakeMs = 0;
  readonly #machine: Machine;

  constructor(machine: Machine) {
    this.#machine = machine;
    this.#next(machine.cycle + 1);
  }

  wake(ms: number): void {
    const { clock } = this.#machine.context;
    const over = cycleOf(ms, clock.cycleMs) - 1;
    for (const one of this.sampled) {
      const { contract } = one;
      if (contract.failure === undefined) contract.advance(over);
      one.take(over, figuresNow(contract));
    }
    // After a long suspension, only as many cycles as a history holds.
    this.#next(Math.max(over + 2, clock.cycle() - HISTORY_CYCLES));
  }

  #next(cycle: number): void {
    const { clock, wakes } = this.#machine.context;
    this.wakeMs = startOf(cycle, clock.cycleMs);
    wakes.schedule(this);
  }
}

/** Each figure is named: a copy of the tally, whose names they have, doubles the turn in which 1,200 contracts are sampled. */
function figuresNow({ gate, tally, limiting, keys, comparison }: Contract): number[] {
  return figuresOf({
    state: gate.state,
    count: gate.count,
    admitted: tally.admitted,
    limited: tally.limited,
    entries: tally.entries,
    restores: tally.restores,
    limiting: limiting > 0 ? 1 : 0,
    keys: keys?.size ?? 0,
    limited_keys: keys?.limited ?? 0,
    would_limit: comparison?.wouldLimit ?? Number.NaN,
  });
}
