// Owns a host in virtual time with the contracts of one run, and takes down what happens in it cycle by cycle.
// Leaves what arrives to feed.ts, who sends to actor/client/, what becomes of it all to outcome.ts.
import type { Inspect } from '../actor/contract-actor.js';
import type { Contract } from '../host/contract.js';
import { Host } from '../host/host.js';
import type { Plan } from '../limiter/plan.js';
import { SUBSTRATE } from '../operator/ko42.js';
import type { TransitionSeen } from '../outcome/schema.js';
import { MOST_ROWS, Timeline } from '../outcome/timeline.js';
import type { AuditRow } from '../record/row.js';
import { MemoryStore } from '../store/memory.js';
import { startOf } from '../time/cycle.js';
import { Rank } from '../time/rank.js';
import { VirtualClock } from '../time/virtual.js';

export interface WorldOptions {
  /** Length of a cycle in ms. */
  readonly cycleMs: number;
  /** The cycle in which the world begins. */
  readonly firstCycle: number;
  /** Names of the contracts; all are made from the one plan. */
  readonly names: readonly string[];
  readonly plan: Plan;
  /** Cycles the run is expected to last: decides whether the timeline can tell of each contract. */
  readonly cycles: number;
  readonly inspect?: Inspect;
}

/** The machine of a simulation. */
const MACHINE = 'simulation';

export class World {
  readonly clock: VirtualClock;
  readonly host: Host;
  readonly contracts: readonly Contract[];
  readonly names: readonly string[];
  /** Each contract, cycle by cycle; undefined for a fleet too large to tell of each. */
  readonly timeline: Timeline | undefined;
  /** All contracts together: `count` is the number of contracts that do not admit at the end of the cycle. */
  readonly totals = new Timeline(['all']);
  /** By contract, in order of cycle. */
  readonly transitions: readonly TransitionSeen[][];
  /** By contract: the last cycle before each restore in which a request came; in step with the restores. */
  readonly lastRequests: readonly number[][];
  /** Told when a contract has moved to a state that admits, or to one that does not. */
  onMove: ((contract: number, admits: boolean) => void) | undefined;
  private readonly indexes = new Map<string, number>();
  private readonly recorder: Recorder;
  private error: unknown;

  constructor({ cycleMs, firstCycle, names, plan, cycles, inspect }: WorldOptions) {
    this.clock = new VirtualClock(startOf(firstCycle, cycleMs), cycleMs);
    this.host = new Host({
      clock: this.clock,
      store: new MemoryStore(),
      keepsStates: false,
      ...(inspect === undefined ? {} : { inspect }),
    });
    this.host.createMachine({ slug: MACHINE });
    this.names = names;
    this.contracts = names.map((_, index) => {
      const contract = this.host.createPlanned(MACHINE, plan);
      this.indexes.set(contract.id, index);
      return contract;
    });
    this.transitions = names.map(() => []);
    this.lastRequests = names.map(() => []);
    this.timeline = names.length * cycles <= MOST_ROWS ? new Timeline(names) : undefined;
    this.recorder = new Recorder(this.clock, this.contracts, this.timeline, this.totals);
    this.host.happenings.subscribe((happening) => {
      if (happening.kind === 'row' && happening.row.kind === 'transition') this.transitioned(happening.row);
      if (happening.kind === 'contract_failed') this.error ??= happening.error;
    });
  }

  /**
   * Counts `n` requests of a contract now, and decides them. Returns how many were admitted.
   * @param cycle that of the clock, for callers who know it
   */
  decide(index: number, n: number, cycle = this.clock.cycle()): number {
    const admitted = this.contracts[index]!.decide(n, cycle);
    this.recorder.requested(index, n, admitted, cycle);
    return admitted;
  }

  /** Completes the last cycle of a run: every contract stands in it, and its rows are taken. */
  finish(cycle: number): void {
    for (const contract of this.contracts) contract.advance(cycle);
    this.recorder.finish(cycle);
  }

  /** Throws what stopped a contract: a simulation with a broken actor is worth nothing. */
  check(): void {
    if (this.error !== undefined) throw this.error;
  }

  /** Index of a contract by its id. */
  indexOf(contractId: string): number | undefined {
    return this.indexes.get(contractId);
  }

  private transitioned(row: AuditRow): void {
    const index = this.indexes.get(row.contract_id ?? '');
    if (index === undefined) return;
    const { admits } = this.contracts[index]!.gate.plan.states.find(({ name }) => name === row.to)!;
    this.transitions[index]!.push({ cycle: row.cycle, to: row.to!, count: countIn(row) });
    if (admits) this.lastRequests[index]!.push(this.recorder.lastRequestCycle(index));
    this.recorder.transitioned(index, admits);
    this.onMove?.(index, admits);
  }
}

/** The window count that a transition was fired with. */
export function countIn(row: AuditRow): number {
  const inputs = row.operator === SUBSTRATE ? row.inputs : row.substrate?.inputs;
  return inputs?.['S'] ?? 0;
}

/** Takes a row for each contract and cycle in which anything changed, when the cycle is complete. */
class Recorder {
  private readonly requests: Float64Array;
  private readonly admitted: Float64Array;
  private readonly lastCounts: Float64Array;
  private readonly lastStates: Int32Array;
  private readonly lastCycles: Float64Array;
  /** By contract: whether its state admits. */
  private readonly admitting: boolean[];
  /** Contracts whose count may change by itself, or that were touched in this cycle. */
  private live = new Set<number>();
  private cycleRequests = 0;
  private cycleAdmitted = 0;
  private limiting: number;
  private changed = false;
  private isClosing = false;

  constructor(
    private readonly clock: VirtualClock,
    private readonly contracts: readonly Contract[],
    private readonly timeline: Timeline | undefined,
    private readonly totals: Timeline,
  ) {
    const n = contracts.length;
    this.requests = new Float64Array(n);
    this.admitted = new Float64Array(n);
    this.lastCounts = new Float64Array(n);
    this.lastStates = Int32Array.from(contracts, ({ gate }) => gate.state);
    this.lastCycles = new Float64Array(n).fill(Number.NaN);
    this.admitting = contracts.map(({ gate }) => gate.admits);
    this.limiting = this.admitting.filter((admits) => !admits).length;
  }

  requested(index: number, n: number, admitted: number, cycle: number): void {
    this.lastCycles[index] = cycle;
    this.cycleRequests += n;
    this.cycleAdmitted += admitted;
    if (this.timeline !== undefined) {
      this.requests[index]! += n;
      this.admitted[index]! += admitted;
      this.live.add(index);
    }
    this.changed = true;
    if (!this.isClosing) this.closeLater();
  }

  lastRequestCycle(index: number): number {
    return this.lastCycles[index]!;
  }

  transitioned(index: number, admits: boolean): void {
    if (admits !== this.admitting[index]) this.limiting += admits ? -1 : 1;
    this.admitting[index] = admits;
    this.changed = true;
    if (this.timeline !== undefined) this.live.add(index);
    if (!this.isClosing) this.closeLater();
  }

  finish(cycle: number): void {
    if (this.isClosing) this.takeRows(cycle);
  }

  private closeLater(): void {
    this.isClosing = true;
    const cycle = this.clock.cycle();
    this.clock.agenda.at(startOf(cycle + 1, this.clock.cycleMs), Rank.close, () => this.close(cycle));
  }

  private close(cycle: number): void {
    this.takeRows(cycle);
    this.isClosing = this.live.size > 0;
    if (this.isClosing)
      this.clock.agenda.at(startOf(cycle + 2, this.clock.cycleMs), Rank.close, () => this.close(cycle + 1));
  }

  private takeRows(cycle: number): void {
    for (const index of this.live) this.sample(index, cycle);
    if (this.changed) {
      this.totals.add(
        cycle,
        0,
        this.cycleRequests,
        this.cycleAdmitted,
        this.limiting,
        this.limiting > 0 ? 'limiting' : 'allowing',
      );
      this.cycleRequests = 0;
      this.cycleAdmitted = 0;
      this.changed = false;
    }
  }

  private sample(index: number, cycle: number): void {
    const contract = this.contracts[index]!;
    contract.advance(cycle);
    const { count, state } = contract.gate;
    const requests = this.requests[index]!;
    if (requests > 0 || count !== this.lastCounts[index] || state !== this.lastStates[index]) {
      this.timeline!.add(cycle, index, requests, this.admitted[index]!, count, contract.state);
      this.requests[index] = 0;
      this.admitted[index] = 0;
      this.lastCounts[index] = count;
      this.lastStates[index] = state;
    }
    if (count === 0) this.live.delete(index);
  }
}
