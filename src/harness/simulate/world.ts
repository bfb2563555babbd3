// The contracts of one run in virtual time: requests in, decisions out, and a row for each cycle in which anything changed.
//
//   requests ──► decide ──► contract ──► admitted          cycle c is closed before anything of c + 1 happens:
//                  │           └─ may move ─► transition      requests and transitions of c
//                  └────────────────► row builder             requests of c - within, which leave the window
//                                         └─► CycleRow
//
// Work grows with requests and transitions. A request costs twice: when it arrives and when it leaves the window.
import type { InspectionEvent, Observer } from 'xstate';
import type { ActorSystem } from '../../core/limiter/actor-system.js';
import { ContractActors } from '../../core/limiter/contract-actor.js';
import { decideFast } from '../../core/limiter/fast-path.js';
import type { Due } from '../../core/limiter/gate.js';
import { type Plan, spanCycles } from '../../core/limiter/plan.js';
import { offsetOf } from '../../core/limiter/window.js';
import { FifoQueue } from '../../core/math/fifo-queue.js';
import { assert } from '../../core/schema/failure.js';
import type { Ticket } from '../../core/time/agenda.js';
import type { Clock } from '../../core/time/clock.js';
import { startOf } from '../../core/time/cycle.js';
import { Rank } from '../../core/time/rank.js';
import { VirtualClock } from '../../core/time/virtual.js';
import { CostTally } from '../outcome/cost-tally.js';
import { type CycleRow, type Decisions, RowBuilder, type RunShape, shapeOf } from '../outcome/cycle-row.js';
import type { KeyedSpec } from '../scenario/loaded-scenario.js';
import { KeyPlaces, NO_PLACE } from './key-places.js';
import { Levels } from './levels.js';
import { type CycleCounts, eachOf } from './requests.js';
import { SimulatedContract, type SimulatedParts } from './simulated-contract.js';

/** Watches every message of the actors of a run; a function also gets the clock of the run. */
export type WorldInspect = Observer<InspectionEvent> | ((event: InspectionEvent, clock: Clock) => void);

interface WorldOptions<About extends object = object> {
  readonly cycleMs: number;
  readonly firstCycle: number;
  readonly names: readonly string[];
  readonly plan: Plan;
  /** Rows have columns. Default: true. Without, a fleet is several times faster; gates give the figures at the end. */
  readonly byContract?: boolean | undefined;
  readonly inspect?: WorldInspect | undefined;
  /** For keys that do not all have a place: a last contract is added for the others. */
  readonly keyed?: KeyedSpec | undefined;
  readonly withDecisions?: boolean | undefined;
  /** Unit of costs; undefined: every request costs 1. */
  readonly costUnit?: string | undefined;
  readonly onMove?: ((contract: number, admits: boolean) => void) | undefined;
  readonly about?: About | undefined;
  readonly onRow: (row: CycleRow<RunShape & About>) => void;
}

interface Asked {
  /** For a rule: time in flight; Infinity until `contract.release`. */
  readonly holdMs?: number | undefined;
  /** Per request now, in a world with a `costUnit`. */
  readonly charged?: number | undefined;
  /** Of each, in the end. */
  readonly cost?: number | undefined;
}

const ONE: Asked = {};

const NEVER = Number.MIN_SAFE_INTEGER;

export class World<About extends object = object> {
  readonly clock: VirtualClock;
  readonly contracts: readonly SimulatedContract[];
  readonly names: readonly string[];
  readonly actors: ActorSystem | undefined;
  readonly run: RunShape & About;
  readonly #onMove: WorldOptions['onMove'];
  readonly #plan: Plan;
  readonly #parts: SimulatedParts;
  readonly #names: string[] = [];
  readonly #contracts: SimulatedContract[] = [];
  readonly #lastRequests: number[] = [];
  readonly #onRow: (row: CycleRow) => void;
  readonly #builder: RowBuilder;
  #decisions: OpenDecisions | undefined;
  #lastRow = NEVER;
  /** Contracts have no window, so that requests leave at once, in rows with columns. */
  readonly #countsNothing: boolean;
  readonly #hasRule: boolean;
  /** Replace the counts of requests; undefined without a rule or costs, and for rows without columns. */
  readonly #levels: Levels | undefined;
  readonly places: KeyPlaces | undefined;
  readonly #sharedState: unknown;
  /** Requests in the window, by cycle. */
  readonly #leaving = new FifoQueue<Pick<CycleRow, 'cycle' | 'contracts' | 'requests'>>();
  #closing = Number.POSITIVE_INFINITY;
  #ticket: Ticket | undefined;

  constructor(options: WorldOptions<About>) {
    const { cycleMs, firstCycle, names, plan, byContract = true, inspect, keyed, costUnit } = options;
    this.clock = new VirtualClock(startOf(firstCycle, cycleMs), cycleMs);
    const hear = typeof inspect === 'function' ? (event: InspectionEvent) => inspect(event, this.clock) : inspect;
    const actors = new ContractActors(hear);
    this.actors = actors.system;
    this.#plan = plan;
    this.#parts = { clock: this.clock, actors, moved: (contract, due) => this.#moved(contract, due) };
    this.names = this.#names;
    this.contracts = this.#contracts;
    // `about` is missing only if it has no fields.
    const costs = costUnit === undefined ? {} : { costs: new CostTally(costUnit) };
    // Not by spreading: the engine would give each run a class of its own, and compile all that reads it again.
    this.run = Object.assign(shapeOf(this.#names, plan), costs, options.about as About);
    this.#builder = new RowBuilder(this.run, byContract);
    this.#hasRule = plan.rule !== undefined;
    const hasLevels = byContract && (this.#hasRule || costUnit !== undefined);
    this.#countsNothing = byContract && this.run.within === 0 && !this.#hasRule;
    this.#levels = hasLevels ? new Levels(this.#contracts, this.#builder, cycleMs) : undefined;
    this.#sharedState = plan.rule?.rule.shared === true ? plan.rule.rule.fresh(this.clock.now()) : undefined;
    // All rows come from the builder, which refers to `this.run`.
    this.#onRow = options.onRow as (row: CycleRow) => void;
    this.#onMove = options.onMove;
    this.#decisions = options.withDecisions === true ? noDecisions() : undefined;
    for (const name of names) this.add(name);
    this.places = keyed && new KeyPlaces(keyed, this.#contracts, this.add(NO_PLACE), spanCycles(plan, cycleMs));
  }

  /** The contract begins in the present cycle with an empty window. Returns its index. */
  add(name: string): number {
    const index = this.#contracts.length;
    const contract = new SimulatedContract(this.#plan, index, `contract ${name}`, this.#parts);
    if (this.#sharedState !== undefined) contract.gate.share(this.#sharedState);
    this.#contracts.push(contract);
    this.#lastRequests.push(NEVER);
    this.#names.push(name);
    return index;
  }

  /** As a limiter of batches. Keys that it does not know get a contract. */
  decide(batch: CycleCounts): void {
    const { keys, contracts, requests, instants, costs } = batch;
    for (let index = this.#contracts.length; index < keys.length; index += 1) this.add(keys[index]!);
    const isCounted = instants === undefined && costs === undefined;
    if (isCounted && !this.#builder.byContract && !this.#hasRule && this.places === undefined)
      this.#countFast(contracts, requests);
    else
      eachOf(batch, this.clock, (contract, n, cost) => {
        if (n > 0) this.request(contract, n, cost === undefined ? ONE : { charged: cost, cost });
      });
  }

  /** Counts and decides `n` requests of a contract now. Returns how many were admitted. */
  request(index: number, n: number, { holdMs, charged, cost }: Asked = ONE): number {
    const admitted = this.#decideByPlace(index, n, this.clock.cycle(), holdMs, charged);
    // Requests at once cost the same, and the admitted ones are the first.
    if (cost !== undefined) for (let k = 0; k < n; k += 1) this.run.costs?.add(cost, k < admitted, this.clock.now());
    return admitted;
  }

  /** Without columns: the innermost loop of a fleet, 1.9 times as fast as single requests. */
  #countFast(indexes: Uint32Array, counts: Float64Array): void {
    const cycle = this.clock.cycle();
    // As an integer: a double would be converted for each contract.
    const offset = offsetOf(cycle) | 0;
    const [contracts, lastRequests] = [this.#contracts, this.#lastRequests];
    let requests = 0;
    let admitted = 0;
    for (let k = 0; k < counts.length; k += 1) {
      const n = counts[k]!;
      if (n === 0) continue;
      const index = indexes[k]!;
      requests += n;
      admitted += decideByWindows(contracts[index]!, n, cycle, offset);
      lastRequests[index] = cycle;
    }
    if (requests > 0) this.#counted(0, requests, admitted, cycle, false);
  }

  #decideByPlace(index: number, n: number, cycle: number, holdMs?: number, charged?: number): number {
    if (this.places?.take(index, cycle) === false) {
      const { refusing, without } = this.places;
      const admitted =
        refusing === -1 ? this.#decide(without, n, cycle, holdMs, charged) : this.#refuse(refusing, n, cycle);
      this.places.missed(n, admitted);
      return admitted;
    }
    return this.#decide(index, n, cycle, holdMs, charged);
  }

  #decide(index: number, n: number, cycle: number, holdMs?: number, charged?: number): number {
    if (this.#hasRule || charged !== undefined) return this.#decideEach(index, n, cycle, holdMs, charged);
    const admitted = decideByWindows(this.#contracts[index]!, n, cycle);
    this.#lastRequests[index] = cycle;
    this.#counted(index, n, admitted, cycle, this.#countsNothing);
    return admitted;
  }

  #counted(index: number, n: number, admitted: number, cycle: number, leaves: boolean): void {
    this.#builder.requested(index, n, admitted);
    if (leaves) this.#builder.left(index, n);
    if (cycle < this.#closing) this.#closeAfter(cycle);
  }

  #decideEach(index: number, n: number, cycle: number, holdMs?: number, charged?: number): number {
    const contract = this.#contracts[index]!;
    const { gate } = contract;
    this.#lastRequests[index] = cycle;
    let admitted = 0;
    // One by one: each has a delay of its own.
    for (let k = 0; k < n; k += 1) {
      const isAdmitted = contract.decide(1, cycle, holdMs, charged) === 1;
      if (isAdmitted) admitted += 1;
      if (isAdmitted && gate.delayMs > 0) this.#builder.delayed(gate.delayMs);
      if (this.#decisions !== undefined) this.#note(index, isAdmitted ? gate.delayMs : Number.NaN);
      this.#levels?.asked(index);
    }
    this.#counted(index, n, admitted, cycle, this.#countsNothing);
    return admitted;
  }

  #refuse(index: number, n: number, cycle: number): number {
    if (this.#decisions !== undefined) for (let k = 0; k < n; k += 1) this.#note(index, Number.NaN);
    this.#counted(index, n, 0, cycle, this.#builder.byContract);
    return 0;
  }

  /** @param delayMs NaN: limited */
  #note(index: number, delayMs: number): void {
    const { contracts, atMs, delaysMs, opensMs } = this.#decisions!;
    contracts.push(index);
    atMs.push(this.clock.now());
    delaysMs.push(delayMs);
    opensMs.push(Number.isNaN(delayMs) ? this.#opensMs(index) : Number.NaN);
  }

  #opensMs(index: number): number {
    const { gate } = this.#contracts[index]!;
    const rule = this.#plan.rule?.rule;
    assert(rule !== undefined, 'only rules decide one by one');
    return gate.askRule((state, nowMs) => rule.nextAdmission(state, nowMs, 1))!;
  }

  finish(cycle: number): void {
    if (this.#closing <= cycle) this.#close(cycle);
  }

  /** Closes the last cycle, which has a row even if nothing changed. */
  end(cycle: number): void {
    this.finish(cycle);
    if (this.#lastRow < cycle) this.#emit(cycle);
  }

  #moved(index: number, { event: { cycle }, transition: { to }, count }: Due): void {
    const last = this.#lastRequests[index]!;
    this.#builder.moved(index, to, count, last === NEVER ? undefined : last);
    if (cycle < this.#closing) this.#closeAfter(cycle);
    this.#onMove?.(index, this.run.states[to]!.admits);
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
      const { contracts, requests, totals } = this.#emit(cycle);
      if (this.#levels === undefined && contracts.length > 0 && totals.requests > 0 && this.run.within > 0)
        this.#leaving.push({ cycle, contracts, requests });
    }
    const next = this.#leaving.first;
    if (next !== undefined) this.#closeAfter(next.cycle + this.run.within);
    else if (falls < Number.POSITIVE_INFINITY) this.#closeAfter(falls);
  }

  #emit(cycle: number): CycleRow {
    const row = this.#builder.take(cycle, this.#decisions);
    if (this.#decisions !== undefined) this.#decisions = noDecisions();
    this.#lastRow = cycle;
    this.#onRow(row);
    return row;
  }

  #leaveBy(cycle: number): void {
    const rows = this.#leaving;
    for (let { first } = rows; first !== undefined && first.cycle + this.run.within <= cycle; first = rows.first) {
      const { contracts, requests } = first;
      rows.shift();
      for (let index = 0; index < contracts.length; index += 1) {
        if (requests[index]! > 0 && contracts[index] !== this.places?.refusing)
          this.#builder.left(contracts[index]!, requests[index]!);
      }
    }
  }
}

/** No wake is due: the agenda wakes contracts before all else in a cycle. */
function decideByWindows(contract: SimulatedContract, came: number, cycle: number, offset = offsetOf(cycle)): number {
  // As a small integer: the numbers of a contract are then stored in it. Doubles would be stored elsewhere.
  const n = came | 0;
  if (n !== came) return contract.decide(came, cycle);
  const admitted = decideFast(contract, n, offset);
  return admitted < 0 ? contract.decide(n, cycle) : admitted;
}

type OpenDecisions = { [Column in keyof Decisions]: number[] };

function noDecisions(): OpenDecisions {
  return { contracts: [], atMs: [], delaysMs: [], opensMs: [] };
}
