// One contract alive: its gate, which owns state and hold, its figures, and the machine it belongs to.
//
//   decide ─► in the quiet band: counted and decided in the cells of the gate; nothing else is touched
//          └► gate ─► a transition is due ─► operators fire, row is written ─► the gate takes it ─► state to be stored
import { interpretedMoves } from '../actor/interpreted-moves.js';
import { cycleOfGate, decideFast } from '../limiter/fast-path.js';
import { type Due, Gate, type GateImage, gateCells } from '../limiter/gate.js';
import type { MoveEvent } from '../limiter/moves.js';
import type { Plan } from '../limiter/plan.js';
import { cutCells, ownCells } from '../limiter/window.js';
import { Failure } from '../schema/failure.js';
import type { ContractImage, ContractState } from '../store/store.js';
import { startOf } from '../time/cycle.js';
import { Tally } from './contract-tally.js';
import { causeOf, fireOperators } from './fire-operators.js';
import { type Changed, type HostContext, nowOf } from './host-context.js';
import type { Chain } from './ledger.js';

export class Contract implements Changed {
  /** The cells of the gate. They and what follows up to `gate` are what a quiet decision needs: neighbours in memory. */
  readonly #cells: Float64Array;
  readonly #at: number;
  /** Set once the contract has stopped, after an error of its own or for good. */
  failure: Failure | undefined;
  /** Whether it is out of the store. */
  isDeleted = false;
  protected readonly context: HostContext;
  /** Whether the store does not know the newest counts. */
  isDirty = false;
  readonly gate: Gate;
  readonly plan: Plan;
  readonly id: string;
  readonly tally: Tally;
  readonly image: ContractImage;
  readonly machine: Chain;
  /** The key of another contract that this one counts: so it is stored, and named in the record. */
  readonly key: string | undefined;
  /** Transitions so far, refused ones included. */
  #moves = 0;

  constructor(
    image: ContractImage,
    plan: Plan,
    machine: Chain,
    cycle: number,
    context: HostContext,
    saved?: GateImage,
    key?: string,
  ) {
    this.plan = plan;
    this.id = image.id;
    // A key comes and goes: its cells are its own, so that they keep no others in memory.
    const place = key === undefined ? cutCells(gateCells(plan)) : ownCells(gateCells(plan));
    this.#cells = place.array;
    this.#at = place.at;
    this.context = context;
    this.image = image;
    this.machine = machine;
    this.key = key;
    const { clock, inspect } = context;
    this.gate = new Gate(plan, {
      cycle,
      cycleMs: clock.cycleMs,
      nowMs: saved === undefined ? nowOf(context) : startOf(cycle, clock.cycleMs),
      perform: (due) => this.#perform(due),
      moves: inspect && interpretedMoves(image.id, inspect),
      image: saved,
      place,
    });
    this.tally = new Tally(this.gate);
  }

  /** Name of the state, for example `allowing`. */
  get state(): string {
    return this.plan.states[this.gate.state]!.name;
  }

  /** Index of the state into `plan.states`. */
  get stateIndex(): number {
    return this.gate.state;
  }

  /** Whether the state admits a request that finds the contract in it. */
  get admits(): boolean {
    return this.plan.states[this.gate.state]!.admits;
  }

  /** Events of the first kind in its first window. */
  get count(): number {
    return this.gate.count;
  }

  /** Of itself and its keys, how many are in a state that does not admit. */
  get limiting(): number {
    return this.admits ? 0 : 1;
  }

  /** Index of the event kind for `decide`, or -1 when the contract does not listen to it. */
  listensTo(event: string): number {
    return this.plan.kinds.findIndex((kind) => kind.event === event);
  }

  /**
   * Counts `n` events in `cycle` and decides them. See `Gate.decide`.
   * @param holdMs for a rule: how long each is in flight once it starts; see `Gate.decide`
   * @returns how many were admitted
   * @throws Failure `contract_failed` once the contract has stopped
   */
  decide(n: number, cycle: number, kind = 0, holdMs?: number): number {
    if (cycle > cycleOfGate(this.#cells, this.#at)) this.context.wakes.catchUp(cycle);
    const admitted = decideFast(this.#cells, this.#at, n, cycle);
    if (admitted < 0) return this.#decideSlowly(n, cycle, kind, holdMs);
    if (!this.isDirty) this.changed();
    return admitted;
  }

  /**
   * Counts `n` events that happened in an earlier cycle in that cycle. See `Gate.decideLate`.
   * @throws Failure `event_too_old` when they have left every window
   */
  decideLate(n: number, happened: number, cycle: number, kind = 0): number {
    this.advance(cycle);
    const moves = this.#moves;
    const admitted = this.#guarded(() => this.gate.decideLate(n, happened, kind));
    if (admitted < 0) {
      const within = Math.max(...this.plan.aggregates.map((aggregate) => aggregate.within));
      throw new Failure('event_too_old', {
        what: `The event of cycle ${happened} was not counted.`,
        why: `It is now cycle ${this.gate.cycle}, and the window reaches back to cycle ${this.gate.cycle - within + 1}.`,
        fix: 'Send what was batched before it is older than the window.',
      });
    }
    this.#counted(moves);
    return admitted;
  }

  /** Goes on to `cycle`; what is due on the way fires in its own cycle. */
  advance(cycle: number): void {
    if (cycle <= this.gate.cycle) return;
    this.context.wakes.catchUp(cycle);
    const moves = this.#moves;
    this.#guarded(() => this.gate.advance(cycle));
    if (this.#moves !== moves) this.#moved();
  }

  /** When the contract may fire by itself, in unix ms; Infinity for never. */
  get wakeMs(): number {
    return this.gate.wakeMs();
  }

  /** The instant has come at which the contract may fire by itself. A contract that has failed, or fails now, is left alone. */
  wake(ms: number): void {
    if (this.failure !== undefined) return;
    const moves = this.#moves;
    try {
      this.gate.reach(ms);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#moves === moves) this.context.wakes.schedule(this);
    else this.#moved();
  }

  /** Moves the contract as somebody asked, by the condition of the transition alone. `refused`: by the operator. */
  move(event: MoveEvent): 'stayed' | 'moved' | 'refused' {
    return this.#guarded(() => {
      const outcome = this.gate.move(event);
      if (outcome === 'moved') this.#moved();
      if (this.context.ledger.failure !== undefined) throw this.context.ledger.failure;
      return outcome;
    });
  }

  saved(): ContractState {
    return { id: this.id, ...this.#ofKey(), ...this.gate.image() };
  }

  save(): void {
    this.isDirty = false;
    if (this.isDeleted) return;
    this.context.store.putState(this.saved());
  }

  /** There are counts that the store does not know. */
  protected changed(): void {
    this.isDirty = true;
    this.context.changed.push(this);
  }

  #ofKey(): { readonly key?: string } {
    return this.key === undefined ? {} : { key: this.key };
  }

  /** Fires the operators, writes the row, and says what the transition emits. */
  #perform(due: Due): boolean {
    const { transition, event, count } = due;
    const { ledger } = this.context;
    const { plan, machine, id } = this;
    const [from, to] = [plan.states[transition.from]!, plan.states[transition.to]!];
    const { cycle } = event;
    const common = { cycle, contract_id: id, ...this.#ofKey(), from: from.name, to: to.name, ...causeOf(due) };
    this.#moves += 1;
    const fired = fireOperators(due);
    if (!fired.ok) {
      const { code, why, operator } = fired;
      const failure = { code, detail: why };
      ledger.write(machine, { ...common, kind: 'transition_failed', operator, failure, emitted: [] });
      ledger.commit();
      return false;
    }
    ledger.write(machine, { ...common, ...fired.fields, kind: 'transition', emitted: [...transition.emits] });
    const { slug, head } = machine;
    for (const emitted of transition.emits) {
      const about = { event: emitted, machine: slug, contractId: id, ...this.#ofKey(), cycle, count, seq: head.seq };
      ledger.announce({ kind: 'emitted', ...about });
    }
    this.tally.moved(from.admits, to.admits, cycle);
    return true;
  }

  /** The row of the transition is written; the state it led to goes with it, and both are made durable together. */
  #moved(): void {
    const { wakes, store, ledger, keepsStates } = this.context;
    wakes.schedule(this);
    if (keepsStates) store.putState(this.saved());
    ledger.commit();
  }

  #decideSlowly(n: number, cycle: number, kind: number, holdMs: number | undefined): number {
    const ms = this.plan.rule === undefined ? undefined : this.#instantIn(cycle);
    const moves = this.#moves;
    const admitted = this.#guarded(() => this.gate.decide(n, cycle, kind, ms, holdMs));
    this.#counted(moves);
    return admitted;
  }

  #counted(moves: number): void {
    if (!this.isDirty) this.changed();
    if (this.#moves !== moves) this.#moved();
    else if (this.gate.hearsAll || this.plan.rule?.rule.hastens) this.context.wakes.schedule(this);
  }

  /** Now, in a cycle that was read before: where no event is under way, the clock may have gone on since. What is due by then has woken. */
  #instantIn(cycle: number): number {
    const { clock, wakes } = this.context;
    const ms = Math.max(nowOf(this.context), startOf(cycle, clock.cycleMs));
    wakes.catchUpTo(ms);
    return ms;
  }

  #guarded<T>(body: () => T): T {
    if (this.failure !== undefined) throw this.failure;
    try {
      return body();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** Lets the contract decide and move no more. */
  stop(failure: Failure): void {
    this.gate.stop(); // Every event goes the long way now, which throws.
    this.failure = failure;
  }

  /** It is out of the store, or goes with this commit. */
  delete(): void {
    this.isDeleted = true;
    this.stop(contractNotFound(this.id));
    this.context.wakes.forget(this);
  }

  /** A failure that a person can correct is passed on; any other error stops this contract, and no other. */
  #fail(error: unknown): unknown {
    if (error instanceof Failure) return error;
    const { id, machine, gate } = this;
    const failure = new Failure('contract_failed', {
      what: `The contract ${id} of machine ${machine.slug} has stopped.`,
      why: `Its actor threw: ${error instanceof Error ? error.message : String(error)}.`,
      fix: 'Deploy it again; the other contracts go on.',
      cause: error,
    });
    this.stop(failure);
    const { wakes, ledger } = this.context;
    wakes.forget(this);
    ledger.announce({ kind: 'contract_failed', machine: machine.slug, contractId: id, cycle: gate.cycle, error });
    ledger.commit();
    return failure;
  }
}

export function contractNotFound(id: string): Failure {
  return new Failure('contract_not_found', {
    what: `There is no contract "${id}".`,
    fix: 'List the contracts of the machine.',
  });
}
