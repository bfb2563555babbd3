// The figures of a run, predicted or observed, from its rows.
//
//   state     allowing | limiting          | allowing | limiting .... end
//   cycle              entry               restore    entry
//                      |-- limiting_cycles-|          |-- counted up to the last cycle
import type { Figures as Counted } from '../limiter/fast-path.js';
import type { CycleRow, RowTransition, RunShape } from './cycle-row.js';
import type { ContractOutcome, Outcome, Reaction, TransitionSeen } from './outcome-schema.js';

export type Figures = Pick<
  Outcome,
  | 'contracts'
  | 'contracts_limited'
  | 'requests'
  | 'admitted'
  | 'limited'
  | 'entries'
  | 'restores'
  | 'limiting_cycles'
  | 'peak_count'
  | 'peak_cycle'
  | 'states'
  | 'by_contract'
  | 'reactions'
  | 'delayed'
>;

const NONE: TransitionSeen[] = [];

/** The initial state first. Those of a rate limiter are left out. */
function statesOf({ states, initial }: RunShape): Pick<Outcome, 'states'> {
  const first = states[initial];
  const others = states.filter((state) => state !== first);
  if (first?.name === 'allowing' && others.length === 1 && others[0]!.name === 'limiting') return {};
  return { states: [...(first === undefined ? [] : [first]), ...others] };
}

export class RunFigures {
  readonly #run: RunShape;
  #firstCycle: number | undefined;
  #delayed = 0;
  /** In order of entry. The model sees the limiting in the cycle that causes it. */
  readonly #reactions: Reaction[] = [];
  readonly #open = new Map<number, Reaction>();
  readonly #transitions: TransitionSeen[][] = [];
  #requests = new Float64Array(0);
  #admitted = new Float64Array(0);
  #peaks = new Float64Array(0);
  #peakCycles = new Float64Array(0);
  #entries = new Float64Array(0);
  #restores = new Float64Array(0);
  #limitingCycles = new Float64Array(0);
  /** The cycle in which the contract stopped admitting; NaN while it admits. */
  #since = new Float64Array(0);

  constructor(run: RunShape) {
    this.#run = run;
  }

  next({ cycle, contracts, requests, admitted, counts, transitions, totals }: CycleRow): void {
    this.#firstCycle ??= cycle;
    if (totals.delayed !== undefined) this.#delayed += totals.delayed;
    const last = contracts.at(-1) ?? 0;
    if (last >= this.#requests.length) this.#grow(last + 1);
    for (const transition of transitions) this.#moved(cycle, transition);
    const [came, got, peaks] = [this.#requests, this.#admitted, this.#peaks];
    for (let index = 0; index < contracts.length; index += 1) {
      const n = requests[index]!;
      if (n === 0) continue;
      const contract = contracts[index]!;
      const count = counts[index]!;
      came[contract]! += n;
      got[contract]! += admitted[index]!;
      if (count > peaks[contract]!) {
        peaks[contract] = count;
        this.#peakCycles[contract] = cycle;
      }
    }
  }

  counted(contract: number, { requests, limited, peakCount, peakCycle = 0 }: Counted): void {
    if (contract >= this.#requests.length) this.#grow(contract + 1);
    this.#requests[contract] = requests;
    this.#admitted[contract] = requests - limited;
    this.#peaks[contract] = peakCount;
    this.#peakCycles[contract] = peakCycle;
  }

  get transitions(): readonly (readonly TransitionSeen[])[] {
    return this.#run.names.map((_, contract) => this.#transitions[contract] ?? NONE);
  }

  /**
   * @param lastCycle an open limiting stretch counts up to here
   * @param top how many contracts are listed; totals cover all
   */
  figures(lastCycle: number, top: number): Figures {
    const { names } = this.#run;
    if (names.length > this.#requests.length) this.#grow(names.length);
    const total = { requests: 0, admitted: 0, limited: 0, entries: 0, restores: 0, limiting_cycles: 0 };
    let limitedContracts = 0;
    let peak: { count: number; cycle: number | null } = { count: 0, cycle: null };
    for (let contract = 0; contract < names.length; contract += 1) {
      const limited = this.#limited(contract);
      total.requests += this.#requests[contract]!;
      total.admitted += this.#admitted[contract]!;
      total.limited += limited;
      total.entries += this.#entries[contract]!;
      total.restores += this.#restores[contract]!;
      total.limiting_cycles += this.#limitingUntil(contract, lastCycle);
      if (limited > 0) limitedContracts += 1;
      const count = this.#peaks[contract]!;
      const cycle = this.#peakCycles[contract]!;
      if (count > peak.count || (count > 0 && count === peak.count && cycle < peak.cycle!)) peak = { count, cycle };
    }
    const order = names.map((_, contract) => contract);
    order.sort((a, b) => this.#limited(b) - this.#limited(a) || compareText(names[a]!, names[b]!));
    return {
      contracts: names.length,
      contracts_limited: limitedContracts,
      ...total,
      ...(this.#run.rule === undefined ? {} : { delayed: this.#delayed }),
      peak_count: peak.count,
      peak_cycle: peak.cycle,
      ...statesOf(this.#run),
      by_contract: order.slice(0, top).map((contract) => this.#outcomeOf(contract, lastCycle)),
      reactions: this.#reactions.toSorted(
        (a, b) => a.entry_cycle - b.entry_cycle || compareText(a.contract, b.contract),
      ),
    };
  }

  #outcomeOf(contract: number, lastCycle: number): ContractOutcome {
    const peak = this.#peaks[contract]!;
    return {
      id: this.#run.names[contract]!,
      threshold: this.#run.threshold,
      within: this.#run.within,
      ...(this.#run.rule === undefined ? {} : { rule: this.#run.rule }),
      requests: this.#requests[contract]!,
      admitted: this.#admitted[contract]!,
      limited: this.#limited(contract),
      entries: this.#entries[contract]!,
      restores: this.#restores[contract]!,
      limiting_cycles: this.#limitingUntil(contract, lastCycle),
      peak_count: peak,
      peak_cycle: peak > 0 ? this.#peakCycles[contract]! : null,
      transitions: [...(this.#transitions[contract] ?? NONE)],
    };
  }

  #moved(cycle: number, { contract, to, admits, count, lastRequest }: RowTransition): void {
    if (contract >= this.#requests.length) this.#grow(contract + 1);
    let seen = this.#transitions[contract];
    if (seen === undefined) {
      seen = [];
      this.#transitions[contract] = seen;
    }
    seen.push({ cycle, to, count });
    const since = this.#since[contract]!;
    const open = this.#open.get(contract);
    if (!admits && Number.isNaN(since)) {
      this.#entries[contract]! += 1;
      this.#since[contract] = cycle;
      const reaction = {
        contract: this.#run.names[contract]!,
        entry_cycle: cycle,
        reaction_cycles: 0,
        restore_cycle: null,
        recovery_cycles: null,
      };
      this.#reactions.push(reaction);
      this.#open.set(contract, reaction);
    } else if (admits && !Number.isNaN(since)) {
      this.#restores[contract]! += 1;
      this.#limitingCycles[contract]! += cycle - this.#sinceWhen(since);
      this.#since[contract] = Number.NaN;
      const recovery = lastRequest === undefined ? null : cycle - lastRequest;
      if (open !== undefined) Object.assign(open, { restore_cycle: cycle, recovery_cycles: recovery });
      this.#open.delete(contract);
    }
  }

  #limited(contract: number): number {
    return this.#requests[contract]! - this.#admitted[contract]!;
  }

  #limitingUntil(contract: number, lastCycle: number): number {
    const since = this.#since[contract]!;
    return this.#limitingCycles[contract]! + (Number.isNaN(since) ? 0 : lastCycle - this.#sinceWhen(since, lastCycle));
  }

  /** A contract whose initial state does not admit is limiting from the first row on. */
  #sinceWhen(since: number, otherwise = 0): number {
    return since === Number.NEGATIVE_INFINITY ? (this.#firstCycle ?? otherwise) : since;
  }

  #grow(contracts: number): void {
    const before = this.#requests.length;
    const capacity = Math.max(contracts, Math.min(2 * before, 2 * contracts), this.#run.names.length);
    const grown = (column: Float64Array) => {
      const longer = new Float64Array(capacity);
      longer.set(column);
      return longer;
    };
    this.#requests = grown(this.#requests);
    this.#admitted = grown(this.#admitted);
    this.#peaks = grown(this.#peaks);
    this.#peakCycles = grown(this.#peakCycles);
    this.#entries = grown(this.#entries);
    this.#restores = grown(this.#restores);
    this.#limitingCycles = grown(this.#limitingCycles);
    this.#since = grown(this.#since);
    const begins = this.#run.states[this.#run.initial]?.admits === true ? Number.NaN : Number.NEGATIVE_INFINITY;
    this.#since.fill(begins, before);
  }
}

/** By code unit: the same order on every machine. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
