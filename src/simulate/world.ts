// The contracts of one run in virtual time: requests in, decisions out, and a row for each cycle in which anything changed.
//
//   requests ──► decide ──► contract ──► admitted          close of cycle c, before anything of c + 1 happens:
//                  │           └─ may move ─► transition      what came and moved in c
//                  └────────────────► row builder             what came in c - within, and now leaves the window
//                                         └─► CycleRow
//
// Work grows with requests and transitions: a contract is looked at when one comes, and once more when it leaves the window.
import { type Observable, Subject } from 'rxjs';
import type { Inspect } from '../actor/interpreted-moves.js';
import { decideFast } from '../limiter/fast-path.js';
import type { Due } from '../limiter/gate.js';
import { type Plan, spanCycles } from '../limiter/plan.js';
import { Durations } from '../math/durations.js';
import { type CycleRow, RowBuilder, type RunShape, shapeOf } from '../outcome/cycle-row.js';
import type { KeyedSpec } from '../scenario/loaded-scenario.js';
import type { Ticket } from '../time/agenda.js';
import { startOf } from '../time/cycle.js';
import { GuardedObservable, toDriverOf } from '../time/guarded.js';
import { Rank } from '../time/rank.js';
import { VirtualClock } from '../time/virtual.js';
import { Levels } from './levels.js';
import { NO_PLACE, Places } from './places.js';
import { SimulatedContract, type SimulatedParts } from './simulated-contract.js';

export interface WorldOptions {
  /** Length of a cycle in ms. */
  readonly cycleMs: number;
  /** The cycle in which the world begins. */
  readonly firstCycle: number;
  /** Names of the contracts; all are made from the one plan. */
  readonly names: readonly string[];
  readonly plan: Plan;
  /**
   * Whether rows have columns. Default: true. Without them a fleet runs several times as fast, and the figures of each contract are
   * those of its gate at the end.
   */
  readonly byContract?: boolean | undefined;
  readonly inspect?: Inspect | undefined;
  /** Where the contracts are keys that do not all have a place: a last contract is added, for the requests of those without. */
  readonly keyed?: KeyedSpec | undefined;
}

/** Before every cycle. */
const NEVER = Number.MIN_SAFE_INTEGER;

export class World {
  readonly clock: VirtualClock;
  readonly contracts: readonly SimulatedContract[];
  readonly names: readonly string[];
  /** What rows refer to. */
  readonly run: RunShape;
  /** One row for each cycle in which anything changed, when it is complete. What an observer throws comes out where the clock is run. */
  readonly rows: Observable<CycleRow>;
  /** Called when a contract has moved to a state that admits, or to one that does not. */
  onMove: ((contract: number, admits: boolean) => void) | undefined;
  /** Called when a rule has decided a request. */
  onDecided: ((contract: number, isAdmitted: boolean, delayMs: number) => void) | undefined;
  readonly #plan: Plan;
  readonly #parts: SimulatedParts;
  readonly #names: string[] = [];
  readonly #contracts: SimulatedContract[] = [];
  // What a quiet decision needs, side by side by contract: where the cells of its gate lie, and when it was last asked.
  readonly #cells: Float64Array[] = [];
  readonly #ats: number[] = [];
  readonly #lastRequests: number[] = [];
  readonly #rows = new Subject<CycleRow>();
  readonly #builder: RowBuilder;
  /** How long admitted requests were held, in ms. */
  readonly delays = new Durations();
  /** Whether rows have columns, but contracts no window: what comes leaves at once. */
  readonly #countsNothing: boolean;
  readonly #hasRule: boolean;
  /** In place of counts over windows; undefined without a rule, and in a run without columns. */
  readonly #levels: Levels | undefined;
  /** Undefined where each contract has its place. */
  readonly places: Places | undefined;
  /** The state of a rule that serves all keys. */
  readonly #sharedState: unknown;
  /** Requests that have not left the window, by cycle. */
  #leaving: Pick<CycleRow, 'cycle' | 'contracts' | 'requests'>[] = [];
  /** How many of those have left. */
  #left = 0;
  /** The first cycle that has to be closed; Infinity for none. */
  #closing = Number.POSITIVE_INFINITY;
  #ticket: Ticket | undefined;

  constructor({ cycleMs, firstCycle, names, plan, byContract = true, inspect, keyed }: WorldOptions) {
    this.clock = new VirtualClock(startOf(firstCycle, cycleMs), cycleMs);
    this.#plan = plan;
    this.#parts = { clock: this.clock, inspect, moved: (contract, due) => this.#moved(contract, due) };
    this.names = this.#names;
    this.contracts = this.#contracts;
    this.run = shapeOf(this.#names, plan);
    this.#builder = new RowBuilder(this.run, byContract);
    this.#hasRule = plan.rule !== undefined;
    this.#countsNothing = byContract && this.run.within === 0 && !this.#hasRule;
    this.#levels = byContract && this.#hasRule ? new Levels(this.#contracts, this.#builder, cycleMs) : undefined;
    this.#sharedState = plan.rule?.rule.shared === true ? plan.rule.rule.fresh(this.clock.now()) : undefined;
    this.rows = new GuardedObservable(toDriverOf(this.clock), (subscriber) => this.#rows.subscribe(subscriber));
    for (const name of names) this.add(name);
    this.places = keyed && new Places(keyed, this.#contracts, this.add(NO_PLACE), spanCycles(plan, cycleMs));
  }

  /** Adds a contract; it begins in the cycle of the clock, with an empty window. Returns its index. */
  add(name: string): number {
    const index = this.#contracts.length;
    const contract = new SimulatedContract(this.#plan, index, contractId(index), this.#parts);
    if (this.#sharedState !== undefined) contract.gate.share(this.#sharedState);
    this.#contracts.push(contract);
    this.#cells.push(contract.place.array);
    this.#ats.push(contract.place.at);
    this.#lastRequests.push(NEVER);
    this.#names.push(name);
    return index;
  }

  /**
   * Counts `n` requests of a contract now, and decides them. Returns how many were admitted.
   * @param cycle that of the clock, for callers who know it
   * @param holdMs for a rule: how long a request is in flight; Infinity until `contract.release`
   */
  decide(index: number, n: number, cycle = this.clock.cycle(), holdMs?: number): number {
    if (this.places?.take(index, cycle) === false) {
      const { refusing, without } = this.places;
      const admitted = refusing === -1 ? this.#decide(without, n, cycle, holdMs) : this.#refuse(refusing, n, cycle);
      this.places.missed(n, admitted);
      return admitted;
    }
    return this.#decide(index, n, cycle, holdMs);
  }

  #decide(index: number, n: number, cycle: number, holdMs: number | undefined): number {
    if (this.#hasRule) return this.#decideByRule(index, n, cycle, holdMs);
    // Wakes are tasks of the agenda before all else in a cycle: none is due any more.
    const quiet = decideFast(this.#cells[index]!, this.#ats[index]!, n, cycle);
    const admitted = quiet < 0 ? this.#contracts[index]!.decide(n, cycle) : quiet;
    this.#lastRequests[index] = cycle;
    this.#builder.requested(index, n, admitted);
    if (this.#countsNothing) this.#builder.left(index, n);
    if (cycle < this.#closing) this.#closeAfter(cycle);
    return admitted;
  }

  #decideByRule(index: number, n: number, cycle: number, holdMs: number | undefined): number {
    const contract = this.#contracts[index]!;
    const { gate } = contract;
    this.#lastRequests[index] = cycle;
    let admitted = 0;
    // One by one: each has a delay of its own.
    for (let k = 0; k < n; k += 1) {
      const isAdmitted = contract.decide(1, cycle, holdMs) === 1;
      if (isAdmitted) admitted += 1;
      if (isAdmitted && gate.delayMs > 0) this.#delayed(gate.delayMs);
      this.onDecided?.(index, isAdmitted, gate.delayMs);
      this.#levels?.asked(index);
    }
    this.#builder.requested(index, n, admitted);
    if (cycle < this.#closing) this.#closeAfter(cycle);
    return admitted;
  }

  /** Requests of keys without a place: they come and go, and no window counts them. */
  #refuse(index: number, n: number, cycle: number): number {
    this.#builder.requested(index, n, 0);
    if (this.#builder.byContract) this.#builder.left(index, n);
    for (let k = 0; k < n; k += 1) this.onDecided?.(index, false, 0);
    if (cycle < this.#closing) this.#closeAfter(cycle);
    return 0;
  }

  #delayed(ms: number): void {
    this.#builder.delayed();
    this.delays.record(ms);
  }

  /** Closes the cycle in which the clock stands, once nothing more happens in it. */
  finish(cycle: number): void {
    if (this.#closing <= cycle) this.#close(cycle);
  }

  /** Index of a contract by the id that it has in traces. */
  indexOf(id: string): number | undefined {
    const index = Number(id.slice(CONTRACT.length));
    return id.startsWith(CONTRACT) && index < this.#contracts.length ? index : undefined;
  }

  #moved(index: number, { event: { cycle }, transition: { to }, count }: Due): void {
    const last = this.#lastRequests[index]!;
    this.#builder.moved(index, to, count, last === NEVER ? undefined : last);
    if (cycle < this.#closing) this.#closeAfter(cycle);
    this.onMove?.(index, this.run.states[to]!.admits);
  }

  #closeAfter(cycle: number): void {
    if (this.#ticket !== undefined) this.clock.agenda.cancel(this.#ticket);
    this.#closing = cycle;
    this.#ticket = this.clock.agenda.at(startOf(cycle + 1, this.clock.cycleMs), Rank.close, this.#onClose);
  }

  readonly #onClose = (): void => this.#close(this.#closing);

  #close(cycle: number): void {
    if (this.#ticket !== undefined) this.clock.agenda.cancel(this.#ticket);
    this.#ticket = undefined;
    this.#closing = Number.POSITIVE_INFINITY;
    this.#leaveBy(cycle);
    const falls = this.#levels?.close(cycle) ?? Number.POSITIVE_INFINITY;
    if (!this.#builder.isEmpty) {
      const row = this.#builder.take(cycle);
      const { contracts, requests } = row;
      if (contracts.length > 0 && row.totals.requests > 0 && this.run.within > 0)
        this.#leaving.push({ cycle, contracts, requests });
      this.#rows.next(row);
    }
    const next = this.#leaving[this.#left];
    if (next !== undefined) this.#closeAfter(next.cycle + this.run.within);
    else if (falls < Number.POSITIVE_INFINITY) this.#closeAfter(falls);
  }

  /** Takes out of the windows what came a window before `cycle`. */
  #leaveBy(cycle: number): void {
    const rows = this.#leaving;
    for (; this.#left < rows.length && rows[this.#left]!.cycle + this.run.within <= cycle; this.#left += 1) {
      const { contracts, requests } = rows[this.#left]!;
      for (let index = 0; index < contracts.length; index += 1) {
        if (requests[index]! > 0 && contracts[index] !== this.places?.refusing)
          this.#builder.left(contracts[index]!, requests[index]!);
      }
    }
    if (this.#left < 64 || 2 * this.#left < rows.length) return;
    this.#leaving = rows.slice(this.#left);
    this.#left = 0;
  }
}

const CONTRACT = 'contract/';

function contractId(index: number): string {
  return `${CONTRACT}${index}`;
}
