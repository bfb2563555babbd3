// The contracts of one run in virtual time: requests in, decisions and rows out.
//
//   batch ──► decide ──► contract ──► admitted
//               │            └─ may move ─► transition
//               └────────────────────────────► CycleRows ─► a row for each cycle in which anything changed
//
// Work grows with requests and transitions. A request costs twice: when it comes, and when it leaves the window.
import type { InspectionEvent, Observer } from 'xstate';
import type { ActorSystem } from '../../core/limiter/actor-system.js';
import { ContractActors } from '../../core/limiter/contract-actor.js';
import { countQuietly } from '../../core/limiter/fast-path.js';
import type { Plan } from '../../core/limiter/plan.js';
import { assert } from '../../core/schema/failure.js';
import type { Clock } from '../../core/time/clock.js';
import { startOf } from '../../core/time/cycle.js';
import { VirtualClock } from '../../core/time/virtual.js';
import { costTally } from '../outcome/cost-tally.js';
import { type CycleRow, type RunShape, shapeOf } from '../outcome/cycle-row.js';
import { type CycleCounts, eachOf } from '../traffic/requests.js';
import { CycleRows } from './cycle-rows.js';
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
  readonly withDecisions?: boolean | undefined;
  /** Unit of costs; undefined: every request costs 1. */
  readonly costUnit?: string | undefined;
  readonly onMove?: ((contract: number, admits: boolean) => void) | undefined;
  readonly about?: About | undefined;
  readonly onRow: (row: CycleRow<RunShape & About>) => void;
}

export interface Asked {
  /** For a rule: time in flight; Infinity until `contract.release`. */
  readonly holdMs?: number | undefined;
  /** Per request now, in a world with a `costUnit`. */
  readonly charged?: number | undefined;
  /** Of each request, once it is known. */
  readonly cost?: number | undefined;
}

const ONE: Asked = {};

export class World<About extends object = object> {
  readonly clock: VirtualClock;
  readonly contracts: SimulatedContract[] = [];
  readonly actors: ActorSystem | undefined;
  readonly run: RunShape & About;
  readonly rows: CycleRows;
  readonly byContract: boolean;
  readonly #names: string[] = [];
  readonly #parts: SimulatedParts;

  constructor(options: WorldOptions<About>) {
    const { cycleMs, firstCycle, names, plan, byContract = true, inspect, costUnit, onMove } = options;
    const clock = new VirtualClock(startOf(firstCycle, cycleMs), cycleMs);
    this.clock = clock;
    const hear = typeof inspect === 'function' ? (event: InspectionEvent) => inspect(event, clock) : inspect;
    const actors = new ContractActors(hear);
    this.actors = actors.system;
    // `about` is missing only if it has no fields.
    const costs = costUnit === undefined ? {} : { costs: costTally(costUnit) };
    // Not by spreading: the engine would give each run a class of its own, and compile all that reads it again.
    this.run = Object.assign(shapeOf(this.#names, plan), costs, options.about as About);
    this.byContract = byContract;
    const { run, contracts } = this;
    // All rows refer to `this.run`.
    const onRow = options.onRow as (row: CycleRow) => void;
    const rows = new CycleRows({
      clock,
      run,
      contracts,
      byContract,
      onRow,
      withDecisions: options.withDecisions === true,
    });
    this.rows = rows;
    this.#parts = {
      ...{ clock, actors, plan },
      sharedState: plan.rule?.rule.shared === true ? plan.rule.rule.fresh(clock.now()) : undefined,
      moved(contract, due) {
        rows.moved(contract, due);
        onMove?.(contract, run.states[due.transition.to]!.admits);
      },
    };
    for (const name of names) this.add(name);
  }

  /** The contract begins in the present cycle with an empty window. Returns its index. */
  add(name: string): number {
    this.#names.push(name);
    return this.contracts.push(new SimulatedContract(this.contracts.length, `contract ${name}`, this.#parts)) - 1;
  }

  /** Now, or each request at its instant. Keys that it does not know get a contract. */
  decide(batch: CycleCounts): void {
    const { keys, contracts, requests, instants, costs } = batch;
    for (let index = this.contracts.length; index < keys.length; index += 1) this.add(keys[index]!);
    if (this.run.rule === undefined && instants === undefined && costs === undefined)
      this.#requestAll(contracts, requests);
    else
      eachOf(batch, this.clock, (contract, n, cost) => {
        if (n > 0) this.request(contract, n, cost === undefined ? ONE : { charged: cost, cost });
      });
  }

  /** Counts and decides `n` requests of a contract now. Returns how many were admitted. */
  request(index: number, n: number, asked: Asked = ONE): number {
    const cycle = this.clock.cycle();
    const contract = this.contracts[index]!;
    this.rows.lastRequests[index] = cycle;
    const isOneByOne = this.run.rule !== undefined || asked.charged !== undefined;
    const admitted = isOneByOne ? this.#decideEach(contract, n, cycle, asked) : decideByWindows(contract, n, cycle);
    if (!isOneByOne) this.rows.requested(index, n, admitted, cycle);
    this.#price(n, admitted, asked);
    return admitted;
  }

  /** As `request`, without asking the contract. */
  refuse(index: number, n: number, asked: Asked = ONE): number {
    for (let k = 0; k < n; k += 1) this.rows.decided(index, undefined, () => this.#opensMs(index));
    this.rows.refused(index, n, this.clock.cycle());
    this.#price(n, 0, asked);
    return 0;
  }

  /** Requests at once cost the same, and the admitted ones are the first. */
  #price(n: number, admitted: number, { cost }: Asked): void {
    if (cost !== undefined) for (let k = 0; k < n; k += 1) this.run.costs?.add(cost, k < admitted, this.clock.now());
  }

  /** `request` for each entry. The innermost loop of a fleet, 1.9 times as fast as single requests. */
  #requestAll(indexes: Uint32Array, counts: Float64Array): void {
    const cycle = this.clock.cycle();
    const { contracts, rows, byContract } = this;
    const { lastRequests } = rows;
    let requests = 0;
    let admitted = 0;
    for (let k = 0; k < counts.length; k += 1) {
      const n = counts[k]!;
      if (n === 0) continue;
      const index = indexes[k]!;
      const got = decideByWindows(contracts[index]!, n, cycle);
      lastRequests[index] = cycle;
      if (byContract) rows.requested(index, n, got, cycle);
      requests += n;
      admitted += got;
    }
    if (!byContract && requests > 0) rows.requested(0, requests, admitted, cycle);
  }

  /** One by one: each has a delay of its own. */
  #decideEach(contract: SimulatedContract, n: number, cycle: number, { holdMs, charged }: Asked): number {
    const { gate, index } = contract;
    let admitted = 0;
    for (let k = 0; k < n; k += 1) {
      const isAdmitted = contract.decide(1, cycle, holdMs, charged) === 1;
      if (isAdmitted) admitted += 1;
      this.rows.decided(index, isAdmitted ? gate.delayMs : undefined, () => this.#opensMs(index));
      this.rows.requested(index, 1, isAdmitted ? 1 : 0, cycle, gate.level);
    }
    return admitted;
  }

  #opensMs(index: number): number {
    const { plan, record } = this.contracts[index]!.gate;
    assert(record.rule !== undefined, 'only rules decide one by one');
    return plan.rule!.rule.nextAdmission(record.rule.state, record.rule.atMs, 1);
  }
}

/** No wake is due: the agenda wakes contracts before all else in a cycle. */
function decideByWindows(contract: SimulatedContract, came: number, cycle: number): number {
  // As a small integer, if it is one: the figures of a contract are then stored in it. Doubles would be stored elsewhere.
  const n = (came | 0) === came ? came | 0 : came;
  return countQuietly(contract.head, n, cycle) ?? contract.decide(n, cycle);
}
