// Owns one contract alive: its gate, its actor, its figures. Leaves the record, the store and publication to the host it lives in.
//
// The gate counts; only when a count has left the quiet band is the actor asked. What the actor proposes is fired, recorded and
// then taken, in that order: a transition whose operator refuses, or that cannot be stored, never happened.
import {
  type AggregateEvent,
  ContractActor,
  type ContractEmitted,
  type ContractEvent,
  type Inspect,
} from '../actor/contract-actor.js';
import { cutCells } from '../limiter/cells.js';
import { cycleOfGate, decideFast } from '../limiter/fast-path.js';
import { Gate, gateCells } from '../limiter/gate.js';
import type { Plan, PlannedTransition } from '../limiter/plan.js';
import { Failure } from '../schema/failure.js';
import type { ContractImage, ContractState } from '../store/store.js';
import type { Chain } from './chain.js';
import { Tally } from './tally.js';

/** What a contract needs of the host around it. */
export interface Surroundings {
  /** Fires the operators and writes the row. False: refused, and recorded as such. */
  perform(
    contract: Contract,
    transition: PlannedTransition,
    event: ContractEvent,
    take: () => readonly ContractEmitted[],
  ): boolean;
  /** Called once after events were counted, until `isDirty` is cleared. */
  dirty(contract: Contract): void;
  /** Called before the contract goes on to a cycle: whoever is due up to then, on any machine, wakes first. */
  reach(cycle: number): void;
  /** Called after transitions were recorded, taken or refused, and the gate stands in the state they led to. */
  moved(contract: Contract): void;
  /** Called when the contract woke and nothing fired. */
  stayed(contract: Contract): void;
  /** Called once when the actor or the gate threw. */
  failed(contract: Contract, error: unknown): void;
  readonly inspect: Inspect | undefined;
}

export class Contract {
  /** The cells of the gate. They and what follows up to `gate` are what a quiet record asks for: neighbours in memory. */
  private readonly cells: Float64Array;
  private readonly at: number;
  /** Set once the contract has stopped after an error of its own. */
  failure: Failure | undefined;
  private readonly around: Surroundings;
  /** Whether the store does not know the newest counts. */
  isDirty = false;
  readonly gate: Gate;
  readonly tally: Tally;
  readonly image: ContractImage;
  readonly plan: Plan;
  /** The chain of its machine. */
  readonly machine: Chain;
  private started: ContractActor | undefined;
  private moves = 0;

  constructor(
    image: ContractImage,
    plan: Plan,
    machine: Chain,
    cycle: number,
    around: Surroundings,
    saved?: ContractState,
  ) {
    const place = cutCells(gateCells(plan));
    this.cells = place.array;
    this.at = place.at;
    this.around = around;
    this.image = image;
    this.plan = plan;
    this.machine = machine;
    this.gate = new Gate(plan, cycle, this, saved, place);
    this.tally = new Tally(this.gate);
  }

  get id(): string {
    return this.image.id;
  }

  /** Name of the state, for example `allowing`. */
  get state(): string {
    return this.plan.states[this.gate.state]!.name;
  }

  /** Index of the event kind for `record`, or -1 when the contract does not listen to it. */
  listensTo(event: string): number {
    return this.plan.kinds.findIndex((kind) => kind.event === event);
  }

  /**
   * Counts `n` events in `cycle` and decides them. See `Gate.decide`.
   * @returns how many were admitted
   * @throws Failure `contract_failed` once the contract has stopped
   */
  decide(n: number, cycle: number, kind = 0): number {
    if (this.failure !== undefined) throw this.failure;
    const { cells, at } = this;
    if (cycle > cycleOfGate(cells, at)) this.around.reach(cycle);
    const admitted = decideFast(cells, at, n, cycle);
    if (admitted < 0) return this.decideSlowly(n, cycle, kind);
    if (!this.isDirty) this.becomeDirty();
    return admitted;
  }

  /**
   * Counts `n` events that happened in an earlier cycle in that cycle. See `Gate.decideLate`.
   * @throws Failure `event_too_old` when they have left every window
   */
  decideLate(n: number, happened: number, cycle: number, kind = 0): number {
    this.advance(cycle);
    const { moves } = this;
    const admitted = this.guarded(() => this.gate.decideLate(n, happened, kind));
    if (admitted < 0) {
      const within = Math.max(...this.plan.aggregates.map((aggregate) => aggregate.within));
      throw new Failure('event_too_old', {
        what: `The event of cycle ${happened} was not counted.`,
        why: `It is now cycle ${this.gate.cycle}, and the window reaches back to cycle ${this.gate.cycle - within + 1}.`,
        fix: 'Send what was batched before it is older than the window.',
      });
    }
    this.counted(moves);
    return admitted;
  }

  /** Goes on to `cycle`; what is due on the way fires in its own cycle. */
  advance(cycle: number): void {
    if (cycle <= this.gate.cycle) return;
    this.around.reach(cycle);
    const { moves } = this;
    this.guarded(() => this.gate.advance(cycle));
    if (this.moves !== moves) this.around.moved(this);
  }

  /** The cycle has come at which the contract may fire by itself. A contract that has failed, or fails now, is left alone. */
  wake(cycle: number): void {
    if (this.failure !== undefined) return;
    const { moves } = this;
    try {
      this.gate.advance(cycle);
    } catch (error) {
      this.fail(error);
      return;
    }
    if (this.moves === moves) this.around.stayed(this);
    else this.around.moved(this);
  }

  /** Takes a transition that somebody asked for; the gate follows. False: the operator refused. */
  take(transition: PlannedTransition, event: ContractEvent): boolean {
    return this.guarded(() => {
      const { gate } = this;
      const admitted = gate.admits;
      if (!this.perform(transition, event)) return false;
      gate.enter(transition.to, event.type === 'move' ? event.cycle + event.holdCycles : event.cycle);
      this.tally.moved(admitted, gate.admits, event.cycle);
      this.around.moved(this);
      return true;
    });
  }

  /** The transition the actor would take. */
  proposes(event: ContractEvent): PlannedTransition | undefined {
    return this.guarded(() => this.actor.proposes(event));
  }

  /** For the gate: where to go now that the counts have left the quiet band. */
  move(cycle: number, counts: readonly number[]): number {
    const event: AggregateEvent = { type: 'aggregate', cycle, counts };
    const transition = this.actor.proposes(event);
    if (transition === undefined) return this.gate.state;
    this.moves += 1;
    if (!this.perform(transition, event)) return -1;
    this.tally.moved(this.plan.states[transition.from]!.admits, this.plan.states[transition.to]!.admits, cycle);
    return transition.to;
  }

  saved(): ContractState {
    return { id: this.id, ...this.gate.image() };
  }

  private perform(transition: PlannedTransition, event: ContractEvent): boolean {
    return this.around.perform(this, transition, event, () => this.actor.send(event));
  }

  /** The actor is started when it is first asked: most of many contracts never leave their first state. */
  private get actor(): ContractActor {
    this.started ??= new ContractActor(
      this.plan,
      this.id,
      { state: this.gate.state, heldUntilCycle: this.gate.heldUntilCycle },
      undefined,
      this.around.inspect,
    );
    return this.started;
  }

  /** The long way of `record`: the contract may move. */
  private decideSlowly(n: number, cycle: number, kind: number): number {
    const { moves } = this;
    const admitted = this.guarded(() => this.gate.decide(n, cycle, kind));
    this.counted(moves);
    return admitted;
  }

  private counted(moves: number): void {
    if (!this.isDirty) this.becomeDirty();
    if (this.moves !== moves) this.around.moved(this);
  }

  private becomeDirty(): void {
    this.isDirty = true;
    this.around.dirty(this);
  }

  private guarded<T>(body: () => T): T {
    if (this.failure !== undefined) throw this.failure;
    try {
      return body();
    } catch (error) {
      throw this.fail(error);
    }
  }

  /** A failure that a person can mend passes through; anything else stops this contract, and this one alone. */
  private fail(error: unknown): unknown {
    if (error instanceof Failure) return error;
    this.failure = new Failure('contract_failed', {
      what: `The contract ${this.id} of machine ${this.machine.slug} has stopped.`,
      why: `Its actor threw: ${error instanceof Error ? error.message : String(error)}.`,
      fix: 'Deploy it again; the other contracts go on.',
      cause: error,
    });
    this.around.failed(this, error);
    return this.failure;
  }
}
