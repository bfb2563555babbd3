// One contract alive: its actor, which owns state and hold, the gate that answers for it, its figures, and the machine it belongs to.
//
//   decide ─► in the quiet band: counted and decided in the cells of the gate; nothing else is touched
//          └► gate ─► actor proposes ─► operators fire, row is written ─► actor takes it ─► emitted events, state to be stored
import { ContractActor, type Proposal } from '../actor/contract-actor.js';
import type { ContractEmitted, ContractEvent, MoveEvent } from '../actor/contract-machine.js';
import { cycleOfGate, decideFast, NEVER_QUIET, setHead } from '../limiter/fast-path.js';
import { type Gate, gateCells } from '../limiter/gate.js';
import type { Plan } from '../limiter/plan.js';
import { gateFor, RuleGate } from '../limiter/rule-gate.js';
import { type Cells, cutCells, ownCells } from '../limiter/window.js';
import { Failure } from '../schema/failure.js';
import type { ContractImage, ContractState } from '../store/store.js';
import { cycleOf, startOf } from '../time/cycle.js';
import { Tally } from './contract-tally.js';
import { causeOf, fireOperators } from './fire-operators.js';
import { type Changed, type HostContext, nowOf } from './host-context.js';
import type { Chain } from './ledger.js';

export class Contract extends ContractActor implements Changed {
  /** The cells of the gate. They and what follows up to `gate` are what a quiet decision needs: neighbours in memory. */
  readonly #cells: Float64Array;
  readonly #at: number;
  /** Set once the contract has stopped after an error of its own. */
  failure: Failure | undefined;
  protected readonly context: HostContext;
  /** Whether the store does not know the newest counts. */
  isDirty = false;
  readonly gate: Gate;
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
    saved?: Omit<ContractState, 'id'>,
    key?: string,
  ) {
    const start = saved ?? { state: plan.states[plan.initial]!.name, heldUntilCycle: cycle };
    super(plan, image.id, start, context.inspect);
    // A key comes and goes: its cells are its own, so that they keep no others in memory.
    const place = key === undefined ? cutCells(gateCells(plan)) : ownCells(gateCells(plan));
    this.#cells = place.array;
    this.#at = place.at;
    this.context = context;
    this.image = image;
    this.machine = machine;
    this.key = key;
    const { clock } = context;
    const time = {
      cycleMs: clock.cycleMs,
      nowMs: saved === undefined ? nowOf(context) : startOf(cycle, clock.cycleMs),
    };
    this.gate = gateFor(plan, cycle, time, this, saved, place);
    this.tally = new Tally(this.gate);
  }

  /** Where the cells of the gate lie, for an owner that tries `decideFast` itself. */
  get place(): Cells {
    return { array: this.#cells, at: this.#at };
  }

  /** Events of the first kind in its first window. */
  get count(): number {
    return this.gate.count;
  }

  /** Index of the event kind for `decide`, or -1 when the contract does not listen to it. */
  listensTo(event: string): number {
    return this.plan.kinds.findIndex((kind) => kind.event === event);
  }

  /**
   * Counts `n` events in `cycle` and decides them. See `Gate.decide`.
   * @param holdMs for a rule: how long each is in flight once it starts; see `RuleGate.decide`
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
    const { gate } = this;
    return gate instanceof RuleGate ? gate.wakeMs : startOf(gate.nextWake(), this.context.clock.cycleMs);
  }

  /** The delay of the last request that was admitted, in ms. */
  get delayMs(): number {
    return this.gate instanceof RuleGate ? this.gate.delayMs : 0;
  }

  /** A request that was to be in flight until now is over. @param heldMs how long it was in flight */
  release(heldMs: number): void {
    const { gate } = this;
    if (!(gate instanceof RuleGate) || this.failure !== undefined) return;
    const ms = this.#instantIn(this.context.clock.cycle());
    const moves = this.#moves;
    this.#guarded(() => gate.release(ms, heldMs));
    this.#counted(moves);
    this.context.wakes.schedule(this);
  }

  /** The instant has come at which the contract may fire by itself. A contract that has failed, or fails now, is left alone. */
  wake(ms: number): void {
    if (this.failure !== undefined) return;
    const moves = this.#moves;
    try {
      if (this.gate instanceof RuleGate) this.gate.reach(ms);
      else this.gate.advance(cycleOf(ms, this.context.clock.cycleMs));
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
      const outcome = this.send(event);
      if (outcome === 'moved') {
        this.gate.refresh();
        this.#moved();
      }
      if (this.context.ledger.failure !== undefined) throw this.context.ledger.failure;
      return outcome;
    });
  }

  override send(event: ContractEvent): 'stayed' | 'moved' | 'refused' {
    const { admits } = this;
    const outcome = super.send(event);
    if (outcome === 'moved') this.tally.moved(admits, this.admits, event.cycle);
    if (outcome !== 'stayed') this.#moves += 1;
    return outcome;
  }

  saved(): ContractState {
    const { id, refusals } = this;
    return { id, ...this.#ofKey(), ...this.gate.image(), ...(refusals === 0 ? {} : { refusals }) };
  }

  save(): void {
    this.isDirty = false;
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

  /** Fires the operators and writes the row. */
  protected override perform(proposal: Proposal): boolean {
    const { transition, event, emitted } = proposal;
    const { ledger } = this.context;
    const { plan, machine } = this;
    const common = {
      cycle: event.cycle,
      contract_id: this.id,
      ...this.#ofKey(),
      from: plan.states[transition.from]!.name,
      to: plan.states[transition.to]!.name,
      ...causeOf(proposal),
    };
    const fired = fireOperators(proposal);
    if (fired.ok) {
      const emits = emitted.map(({ type }) => type);
      ledger.write(machine, { ...common, ...fired.fields, kind: 'transition', emitted: emits });
      return true;
    }
    const { code, why, operator } = fired;
    const failure = { code, detail: why };
    ledger.write(machine, { ...common, kind: 'transition_failed', operator, failure, emitted: [] });
    ledger.commit();
    return false;
  }

  protected override published({ type, cycle, count }: ContractEmitted): void {
    const { slug, head } = this.machine;
    const emitted = { event: type, machine: slug, contractId: this.id, ...this.#ofKey(), cycle, count, seq: head.seq };
    this.context.ledger.announce({ kind: 'emitted', ...emitted });
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
    else if (this.hearsAll || this.plan.rule?.rule.hastens) this.context.wakes.schedule(this);
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
    setHead(this.#cells, this.#at, NEVER_QUIET, false); // Every event goes the long way now, which throws.
    this.failure = failure;
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
