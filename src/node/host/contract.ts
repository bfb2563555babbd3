// A live contract: one gate, or a table of keys; its figures; and the machine whose record it writes to.
//
//   decide ─► quiet: counted and decided on the record of the contract, or of the key
//          └► gate: kept for a contract without keys, made for the record of a key
//               └► a transition is due ─► operators fire, row is written ─► the gate takes it ─► state to be stored
import { countQuietly, type GateHead } from '../../core/limiter/fast-path.js';
import { type Due, Gate, headOfPlan } from '../../core/limiter/gate.js';
import type { GateImage } from '../../core/limiter/gate-record.js';
import type { Plan } from '../../core/limiter/plan.js';
import { cycleAt } from '../../core/limiter/window.js';
import type { AuditRow } from '../../core/record/row.js';
import { assert, Failure } from '../../core/schema/failure.js';
import { cycleOf, startOf } from '../../core/time/cycle.js';
import type { ContractImage, ContractState } from '../store/store.js';
import type { CandidateComparison } from './candidate-comparison.js';
import { contractFailed, contractNotFound, eventTooOld, type Move, whyNoTransition } from './contract-failures.js';
import { type HostContext, nowOf } from './host-context.js';
import { type ContractKey, Keys, storedName } from './keys.js';
import type { Chain } from './ledger.js';
import { recordTransition } from './transition-row.js';

const NO_CELLS = new Int32Array();

export class Contract implements GateHead {
  // What every decision reads is one object: see fast-path.ts.
  count = 0;
  offset = 0;
  most = -1;
  isCalm = false;
  isOpen = false;
  slot = 0;
  within = 0;
  cells: GateHead['cells'] = NO_CELLS;
  stride = 0;
  requests = 0;
  limited = 0;
  peakCount = 0;
  peakOffset = 0;
  isDirty = false;
  keys: Keys | undefined;
  comparison: CandidateComparison | undefined;
  readonly #context: HostContext;
  /** The only gate of a contract without keys; otherwise the gate shared by keys that did not fit into the table. */
  gate: Gate;
  plan: Plan;
  failure: Failure | undefined;
  isDeleted = false;
  readonly id: string;
  image: ContractImage;
  readonly machine: Chain;
  readonly key: string | undefined;
  /** Transitions from an admitting to a limiting state, and back; those of keys are not counted. */
  #entries = 0;
  #restores = 0;
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
    Object.assign(this, headOfPlan(plan, cycle));
    this.plan = plan;
    this.id = image.id;
    this.#context = context;
    this.image = image;
    this.machine = machine;
    this.key = key;
    this.gate = this.#makeGate(cycle, saved);
    this.keys = key === undefined ? this.makeKeys(image, plan, cycle) : undefined;
  }

  /** Replaces the definition. @param saved its gate; undefined to start anew @param keys from `makeKeys` */
  become(image: ContractImage, plan: Plan, saved: GateImage | undefined, keys: Keys | undefined): void {
    const cycle = saved?.windows[0]?.cycle ?? this.cycle;
    this.keys?.stop();
    this.image = image;
    this.plan = plan;
    const { requests, limited } = this;
    Object.assign(this, headOfPlan(plan, cycle), { requests, limited });
    this.gate = this.#makeGate(cycle, saved);
    this.keys = keys;
    this.#markDirty();
    this.#context.wakes.schedule(this);
  }

  get plans(): readonly Plan[] {
    return this.comparison === undefined ? [this.plan] : [this.plan, this.comparison.plan];
  }

  get state(): string {
    return this.plan.states[this.gate.state]!.name;
  }

  get admits(): boolean {
    return this.plan.states[this.gate.state]!.admits;
  }

  get cycle(): number {
    return Math.max(this.gate.cycle, this.keys?.cycle ?? this.gate.cycle);
  }

  /** Number of gates in a limiting state: its own and those of keys. */
  get limiting(): number {
    return (this.admits ? 0 : 1) + (this.keys?.limited ?? 0);
  }

  get delayMs(): number {
    return (this.keys ?? this.gate).delayMs;
  }

  /** Decisions since start-up, keys included. */
  get tally() {
    const requests = this.requests + (this.keys?.figures.requests ?? 0);
    const limited = this.limited + (this.keys?.figures.limited ?? 0);
    return { requests, limited, admitted: requests - limited, entries: this.#entries, restores: this.#restores };
  }

  listensTo(event: string): number {
    return this.plan.kinds.findIndex((kind) => kind.event === event);
  }

  nameOf(key: string): string | undefined {
    return this.keys === undefined ? undefined : storedName(key, this.image.keyed?.secret);
  }

  #makeGate(cycle: number, saved: GateImage | undefined): Gate {
    const { actors, clock } = this.#context;
    const { cycleMs } = clock;
    const nowMs = saved === undefined ? nowOf(this.#context) : startOf(cycle, cycleMs);
    return new Gate(this.plan, { cycle, cycleMs, nowMs, owner: this, actors, image: saved, head: this });
  }

  /**
   * Counts and decides `n` events: see `Gate.decide`, and `Gate.decideOne` for `isOne`. Returns how many were admitted.
   * @param name of their key, by `nameOf` @throws Failure `contract_failed`, `too_many_keys`, `memory_low`
   */
  decide(n: number, cycle: number, kind = 0, name?: string, isOne = false): number {
    const admitted = this.#decide(n, cycle, kind, name, isOne);
    if (this.comparison !== undefined) this.comparison.compare({ n, cycle, kind, name, isOne }, admitted);
    return admitted;
  }

  #decide(n: number, cycle: number, kind: number, name: string | undefined, isOne: boolean): number {
    if (name !== undefined && this.keys !== undefined) return this.#decideByKey(this.keys, name, n, cycle, kind, isOne);
    if (cycle > cycleAt(this)) this.#context.wakes.catchUp(cycle);
    const admitted = countQuietly(this, n, cycle);
    if (admitted === undefined) {
      const ms = this.#instantIn(cycle);
      return this.#work(undefined, cycle, true, (gate) =>
        isOne ? gate.decideOne(n, cycle, kind, ms) : gate.decide(n, cycle, kind, ms),
      );
    }
    if (!this.isDirty) this.#markDirty();
    return admitted;
  }

  /** Counts events in the earlier cycle `happened`. @throws Failure `event_too_old`, and as `decide` */
  decideLate(n: number, happened: number, cycle: number, kind = 0, name?: string): number {
    const admitted = this.#workByName(name, cycle, n, (gate) => gate.decideLate(n, happened, kind));
    if (admitted === undefined) {
      const within = Math.max(...this.plan.aggregates.map((aggregate) => aggregate.within));
      throw eventTooOld(this, happened, this.cycle, within);
    }
    this.comparison?.compare({ n, cycle, kind, name, happened }, admitted);
    return admitted;
  }

  /** @throws Failure `no_transition`, `condition_failed`, `{compute,prove,verify}_failed`, and as `decide` */
  move({ to, input = {}, holdCycles = 0, by }: Move, cycle: number, name?: string): AuditRow {
    const { ledger } = this.#context;
    let from = this.gate.state;
    const outcome = this.#workByName(name, cycle, 0, (gate) => {
      from = gate.state;
      return gate.send({ type: 'move', to, cycle, counts: gate.counts, input, holdCycles, by });
    });
    if (ledger.failure !== undefined) throw ledger.failure;
    if (outcome === 'stayed') throw whyNoTransition(this.plan, from, to);
    const { last } = this.machine;
    assert(last !== undefined, 'a transition left no row');
    if (outcome === 'refused') throw whyNoTransition(this.plan, from, to, last);
    return last;
  }

  /** How many of `n` events can be counted in `cycle` with at most one transition. @throws as `decide` */
  stepOf(n: number, cycle: number, kind: number, name?: string): number {
    const { keys, plan } = this;
    if (n === 1 || plan.rule !== undefined) return n;
    const key = this.place(name, n, cycle);
    if (key === undefined) this.advance(cycle);
    if (key === undefined || keys === undefined) return this.gate.stepOf(n, kind);
    return keys.isQuiet(key, n, kind) ? n : keys.gate(key).stepOf(n, kind);
  }

  /** The gate of a key, of a new key if it is unknown, or of the contract itself. @throws Failure `too_many_keys` */
  gateOf(name: string | undefined, cycle: number): Gate {
    const { keys } = this;
    if (name === undefined || keys === undefined) return this.gate;
    this.#reach(keys, cycle);
    const found = keys.find(name);
    if (found !== undefined) return found;
    this.advance(cycle);
    return this.gate;
  }

  advance(cycle: number): void {
    if (this.keys !== undefined) this.#reach(this.keys, cycle);
    if (cycle < this.gate.cycle) return;
    // Even if the cycle is the same: a request at its first instant may have made a wake-up due.
    this.#context.wakes.catchUp(cycle);
    if (cycle > this.gate.cycle) this.#work(undefined, cycle, false, (gate) => gate.advance(cycle));
  }

  /** Fires what new numbers make due in the running cycle; keys follow with their next event or cycle. */
  settle(): void {
    this.#work(undefined, this.cycle, false, (gate) => gate.settle());
  }

  get wakeMs(): number {
    return this.gate.wakeMs();
  }

  /** Fires what is due without an event. A contract or key that fails, or has failed, is skipped. */
  wake(ms: number, key?: ContractKey): void {
    if (this.failure !== undefined) return;
    try {
      this.#work(key, cycleOf(ms, this.#context.clock.cycleMs) - 1, false, (gate) => gate.reach(ms));
      if (key === undefined) this.#context.wakes.schedule(this);
    } catch (error) {
      this.#fail(error, key);
    }
  }

  saved(): ContractState {
    return { id: this.id, ...(this.key === undefined ? {} : { key: this.key }), ...this.gate.image() };
  }

  save(): void {
    if (this.isDeleted) return;
    if (this.keys !== undefined) this.#context.wakes.catchUp(this.keys.cycle);
    const key = this.keys?.nextDirty();
    if (key === undefined) this.isDirty = false;
    if (key?.isGone === true) return;
    this.#context.store.putState(key === undefined ? this.saved() : this.keys!.saved(key));
  }

  stop(failure: Failure): void {
    this.gate.stop();
    this.failure = failure;
  }

  delete(): void {
    this.isDeleted = true;
    this.stop(contractNotFound(this.id));
    this.#context.wakes.cancel(this);
    this.keys?.stop();
    this.comparison?.candidate.delete();
  }

  makeKeys(image: ContractImage, plan: Plan, cycle: number): Keys | undefined {
    const { keyed } = image;
    if (keyed === undefined) return undefined;
    const context = this.#context;
    const onDirty = () => context.changed.push(this);
    const onWake = (key: ContractKey, ms: number) => this.wake(ms, key);
    return new Keys({ plan, image, keyed, context, cycle, onDirty, onWake });
  }

  #markDirty(key?: ContractKey): void {
    if (key !== undefined) this.keys?.markDirty(key);
    else if (!this.isDirty) {
      this.isDirty = true;
      if (this.keys === undefined) this.#context.changed.push(this);
      else this.keys.queue(undefined);
    }
  }

  /** Advances the keys to a cycle after all due wake-ups. Time never goes back. */
  #reach(keys: Keys, cycle: number): void {
    if (this.failure !== undefined) throw this.failure;
    // Even if the cycle is the same: some of the keys due at its beginning may not have woken yet.
    this.#context.wakes.catchUp(Math.max(cycle, keys.cycle));
    if (cycle > keys.cycle) keys.reach(cycle);
  }

  /** Undefined for the contract itself. @throws Failure `too_many_keys` */
  place(name: string | undefined, n: number, cycle: number): ContractKey | undefined {
    const { keys } = this;
    if (name === undefined || keys === undefined) return undefined;
    this.#reach(keys, cycle);
    return keys.place(name, n);
  }

  #decideByKey(keys: Keys, name: string, n: number, cycle: number, kind: number, isOne: boolean): number {
    const key = this.place(name, n, cycle);
    if (key === undefined) {
      keys.shared += n;
      const admitted = this.#decide(n, keys.cycle, kind, undefined, isOne);
      keys.delayMs = this.gate.delayMs;
      return admitted;
    }
    const ms = this.#instantIn(keys.cycle);
    const quiet = keys.countQuietly(key, n, kind);
    if (quiet !== undefined) return quiet;
    const admitted = this.#work(key, keys.cycle, true, (gate) => {
      const decided = isOne ? gate.decideOne(n, keys.cycle, kind, ms) : gate.decide(n, keys.cycle, kind, ms);
      keys.delayMs = gate.delayMs;
      return decided;
    });
    keys.counted(n, admitted);
    return admitted;
  }

  #workByName<T>(name: string | undefined, cycle: number, n: number, work: (gate: Gate) => T): T {
    const { keys } = this;
    const key = this.place(name, n, cycle);
    if (key === undefined) this.advance(cycle);
    if (key === undefined && name !== undefined && keys !== undefined) keys.shared += n;
    return this.#work(key, keys?.cycle ?? cycle, n > 0, work);
  }

  #work<T>(key: ContractKey | undefined, cycle: number, isCounted: boolean, work: (gate: Gate) => T): T {
    const { keys } = this;
    const failure = this.failure ?? (key && keys?.failureOf(key));
    if (failure !== undefined) throw failure;
    const { wakes, store, ledger } = this.#context;
    const moves = this.#moves;
    try {
      const ofKey = key && keys && { key, keys, wasLimited: keys.isLimited(key) };
      const owner = { recordTransition: (due: Due) => this.recordTransition(due, key?.name) };
      const gate = ofKey?.keys.gate(ofKey.key, cycle, owner) ?? this.gate;
      const done = work(gate);
      ofKey?.keys.worked(ofKey.key, ofKey.wasLimited, gate);
      if (isCounted) this.#markDirty(key);
      const hasMoved = this.#moves !== moves;
      const mayWakeSooner = isCounted && this.gate.hastens;
      if (key === undefined && (hasMoved || mayWakeSooner)) wakes.schedule(this);
      if (!hasMoved) return done;
      // The row of the transition and the new state become durable together.
      store.putState(ofKey === undefined ? this.saved() : ofKey.keys.saved(ofKey.key));
      ledger.commit();
      return done;
    } catch (error) {
      throw this.#fail(error, key);
    }
  }

  /** Records a transition before its gate takes it. @returns false if an operator refused */
  recordTransition(due: Due, key = this.key): boolean {
    this.#moves += 1;
    const isTaken = recordTransition(this.#context.ledger, this, due, key);
    if (!isTaken || key !== this.key) return isTaken;
    const { from, to } = due.transition;
    const change = Number(this.plan.states[to]!.admits) - Number(this.plan.states[from]!.admits);
    if (change < 0) this.#entries += 1;
    if (change > 0) this.#restores += 1;
    return true;
  }

  /** The instant, in ms, that a rule uses for events of `cycle`; fires due wake-ups first. */
  #instantIn(cycle: number): number {
    const { clock, wakes } = this.#context;
    const startMs = startOf(cycle, clock.cycleMs);
    if (this.plan.rule === undefined) return startMs;
    const ms = Math.max(nowOf(this.#context), startMs);
    wakes.catchUpTo(ms);
    return ms;
  }

  /** Returns a `Failure` as it is. Any other error stops only this contract, or only this key. */
  #fail(error: unknown, key?: ContractKey): unknown {
    if (error instanceof Failure) return error;
    const failure = contractFailed(this, error);
    const { wakes, ledger, onFailed } = this.#context;
    if (key !== undefined) this.keys?.fail(key, failure);
    else {
      this.stop(failure);
      wakes.cancel(this);
    }
    onFailed?.(failure);
    ledger.commit();
    return failure;
  }
}
