// Machines and their contracts, alive: takes events and cycles, answers decisions, appends rows, publishes what happened.
// The simulation and the node are both built on it; they differ in the clock and the store they give it.
//
//   event ─► contract ─► gate ─► decision
//                          └─ may move ─► actor ─► operator ─► row ─► store ─► durable ─► happenings
import type { Observable } from 'rxjs';
import type { Plan } from '../limiter/plan.js';
import { planContract } from '../limiter/validate.js';
import type { FindOperator } from '../operator/operator.js';
import { findStandardOperator } from '../operator/registry.js';
import type { AuditEntry, AuditRow } from '../record/row.js';
import { sha256Hex } from '../schema/canonical.js';
import { Failure } from '../schema/failure.js';
import type { ContractImage, KeyedImage, MachineImage } from '../store/store.js';
import type { Clock } from '../time/clock.js';
import { type Contract, contractNotFound } from './contract.js';
import type { Changed, ContractOptions, HostOptions, NewMachine } from './host-context.js';
import { KeyedContract, keyedFields, makeContract } from './keyed-contract.js';
import { type AdminNote, type Happening, Ledger } from './ledger.js';
import { Machine, type SharedParts, slugTaken } from './machine.js';
import { type Move, move } from './manual-transition.js';
import { SharedPlans } from './shared-plans.js';

/** Each has an actor of its own: some 6 kB. */
const MOST_AWAKE = 1_024;

export class Host {
  readonly machines = new Map<string, Machine>();
  readonly contracts = new Map<string, Contract>();
  /** Those of the contracts that have keys. */
  readonly keyed = new Set<KeyedContract>();
  /** Rows, emitted events and failed contracts, each once it is durable. */
  readonly happenings: Observable<Happening>;
  readonly findOperator: FindOperator;
  /** Called with each new contract. */
  onContract: ((contract: Contract) => void) | undefined;
  readonly #clock: Clock;
  /** What all machines share. */
  readonly #parts: SharedParts;
  readonly #plans: SharedPlans;

  constructor({
    clock,
    store,
    findOperator = findStandardOperator,
    keepsStates = true,
    inspect,
    holdClock,
    mostAwake = MOST_AWAKE,
    claimMemory,
  }: HostOptions) {
    this.#clock = clock;
    this.findOperator = findOperator;
    this.#plans = new SharedPlans(findOperator);
    const ledger = new Ledger(clock, store);
    this.happenings = ledger.happenings;
    this.#parts = { clock, ledger, store, keepsStates, inspect, mostAwake, claimMemory };
    this.#revive(holdClock);
  }

  /** @throws Failure `slug_taken` */
  createMachine({ slug, owner = '', isPublic = false, displayName = slug, by }: NewMachine): Machine {
    if (this.machines.has(slug)) throw slugTaken(slug);
    const cycle = this.#clock.cycle();
    const machine = new Machine({ slug, owner, isPublic, displayName, createdCycle: cycle }, this.#parts);
    this.#parts.store.putMachine(machine.image);
    this.#parts.ledger.write(machine, { cycle, kind: 'machine_created', cause: 'manual', ...askedBy(by), emitted: [] });
    this.machines.set(slug, machine);
    this.commit();
    return machine;
  }

  /**
   * Puts a contract onto a machine. It begins in its initial state with empty windows; its first fire is the next cycle.
   * @throws Failure of `planContract` for a definition that cannot run, `machine_not_found`
   */
  createContract(slug: string, definition: unknown, templateId?: string, keyed?: KeyedImage): Contract {
    return this.createPlanned(slug, planContract(definition, this.findOperator), { templateId, keyed });
  }

  /**
   * As `createContract`, for a plan that was made with the operators of this host. Contracts of equal definitions share one plan, the first
   * one, and with it one machine.
   */
  createPlanned(slug: string, planned: Plan, { templateId, by, keyed }: ContractOptions = {}): Contract {
    const machine = this.machine(slug);
    const { plan, digest } = this.#plans.of(planned);
    const cycle = this.#reached(machine);
    const id = sha256Hex(`${slug}/${machine.head.seq + 1}`).slice(0, 16);
    const image = {
      id,
      machine: slug,
      definition: plan.definition,
      templateId,
      createdCycle: cycle,
      firstFireCycle: cycle + 1,
      keyed,
    };
    const contract = makeContract(image, plan, machine, cycle, machine.parts);
    this.#parts.store.putContract(image, contract.saved());
    this.#parts.ledger.write(machine, {
      cycle,
      kind: 'contract_created',
      contract_id: id,
      to: contract.state,
      definition_digest: digest,
      ...keyedFields(keyed),
      cause: 'manual',
      ...askedBy(by),
      emitted: [],
    });
    this.#adopt(contract);
    this.commit();
    this.onContract?.(contract);
    return contract;
  }

  /** Ends a contract: a row says so, and it is out of the store with the next commit. @param by the id of a key; absent: the node itself */
  deleteContract(contract: Contract, by?: string): void {
    const machine = this.machine(contract.machine.slug);
    const cycle = Math.max(this.#reached(machine), contract.gate.cycle);
    const what = { kind: 'contract_deleted', contract_id: contract.id, ...causeBy(by), emitted: [] } as const;
    this.#parts.ledger.write(machine, { ...what, cycle });
    this.#remove(contract);
    this.#parts.store.removeContract(contract.id);
    machine.contracts.splice(machine.contracts.indexOf(contract), 1);
    this.commit();
  }

  /** Ends a machine with its contracts: its record ends with the row that says so, and is read until `forget`. */
  deleteMachine(machine: Machine, by?: string): void {
    const cycle = machine.contracts.reduce((newest, { gate }) => Math.max(newest, gate.cycle), this.#reached(machine));
    this.#parts.ledger.write(machine, { kind: 'machine_deleted', ...causeBy(by), emitted: [], cycle });
    for (const contract of machine.contracts.splice(0)) this.#remove(contract);
    this.#parts.store.removeContracts(machine.slug);
    machine.parts.changed.clear();
    this.commit();
  }

  /** Lets go of a machine that was deleted: the store may remove it. */
  forget(machine: Machine): void {
    this.machines.delete(machine.slug);
  }

  #remove(contract: Contract): void {
    contract.delete();
    if (contract instanceof KeyedContract) this.keyed.delete(contract);
    this.contracts.delete(contract.id);
    this.#plans.release(contract.plan);
  }

  /** Writes a row about what somebody did that moves no contract; durable, like all others, with the next commit. */
  note(machine: Machine, action: AdminNote): void {
    const done = { kind: 'admin_action', cause: 'manual', emitted: [] } as const;
    this.#parts.ledger.write(machine, { ...action, ...done, cycle: this.#reached(machine) });
    this.commit();
  }

  /** Writes a row about rows up to `toSeq` that were acknowledged once and are missing: the record goes on without them. */
  noteLoss(machine: Machine, toSeq: number): void {
    const lost = { kind: 'rows_lost', lost_to_seq: toSeq, cause: 'system', emitted: [] } as const;
    this.#parts.ledger.write(machine, { ...lost, cycle: this.#reached(machine) });
    this.commit();
  }

  /** @throws Failure `machine_not_found` */
  machine(slug: string): Machine {
    const machine = this.machines.get(slug);
    if (machine !== undefined) return machine;
    throw new Failure('machine_not_found', {
      what: `There is no machine "${slug}".`,
      fix: 'Create it, or check the slug.',
    });
  }

  /** @throws Failure `contract_not_found` */
  contract(id: string): Contract {
    const contract = this.contracts.get(id);
    if (contract !== undefined) return contract;
    throw contractNotFound(id);
  }

  /**
   * Counts `n` events in `cycle` and decides them: the hot path, by id.
   * @returns how many were admitted
   * @throws Failure `contract_not_found`, `contract_failed`, `store_failed`
   */
  decide(id: string, n: number, cycle: number): number {
    const contract = this.contracts.get(id);
    if (contract === undefined) return this.contract(id).decide(n, cycle);
    return contract.decide(n, cycle);
  }

  /**
   * Counts `n` events that happened in cycle `happened`, which may lie in the past, within the window.
   * @throws Failure `event_in_future`, `event_too_old`
   */
  decideAt(contract: Contract, n: number, happened: number, kind = 0): number {
    const now = Math.max(this.#reached(this.machine(contract.machine.slug)), contract.gate.cycle);
    if (happened > now) {
      throw new Failure('event_in_future', {
        what: `The event of cycle ${happened} was not counted.`,
        why: `It is now cycle ${now}.`,
        fix: 'Read GET /api/clock, and send the event once its cycle has come.',
      });
    }
    return happened === now ? contract.decide(n, now, kind) : contract.decideLate(n, happened, now, kind);
  }

  /**
   * Moves a contract to another state, regardless of its counts.
   * @returns the row of the transition
   * @throws Failure `no_transition`, `condition_failed`, `compute_failed`, `prove_failed`, `verify_failed`
   */
  transition(contract: Contract, asked: Move): AuditRow {
    const cycle = Math.max(this.#reached(this.machine(contract.machine.slug)), contract.gate.cycle);
    return move(contract, asked, cycle);
  }

  /** The cycle of a machine, once its contracts that are due up to it have woken: what is written next is written behind them. */
  #reached({ cycle, parts }: Machine): number {
    parts.wakes.catchUp(cycle);
    return cycle;
  }

  /** Writes the counts of every contract that changed since the last time; durable with the next commit. */
  saveWindows(): void {
    for (const machine of this.machines.values()) while (this.saveOne(machine));
  }

  /**
   * Writes the counts of the contract, or key of one, of a machine that changed first since the last time; durable with the next commit.
   * @returns it; undefined where none has changed
   */
  saveOne({ parts: { changed } }: Machine): Changed | undefined {
    const first = changed.shift();
    first?.save();
    return first;
  }

  /** Makes durable what was written, then publishes what happened. `settled` is called after that. */
  commit(settled?: (failure?: Failure) => void): void {
    this.#parts.ledger.commit(settled);
  }

  /** Why nothing can be stored any more; undefined while all is well. What was counted since may be forgotten. */
  get failure(): Failure | undefined {
    return this.#parts.ledger.failure;
  }

  /**
   * Goes on from what the store holds, if its disk was full and has room again. Machines and contracts are new objects then; the
   * earlier ones decide nothing any more, and what they counted since the last commit is forgotten. Returns whether it does.
   */
  recover(): boolean {
    const { failure } = this;
    const { store, ledger } = this.#parts;
    if (failure === undefined || !store.recover()) return false;
    for (const contract of this.contracts.values()) contract.stop(failure);
    for (const { parts } of this.machines.values()) {
      parts.wakes.clear();
      parts.changed.clear();
    }
    this.machines.clear();
    this.contracts.clear();
    this.keyed.clear();
    ledger.recover();
    this.#revive();
    return true;
  }

  /**
   * Takes a machine that another store has, or its contracts that are new: to be looked up and described here, and decided there. Nothing
   * wakes.
   */
  learn(
    image: MachineImage,
    contracts: readonly ContractImage[],
    head: Machine['head'],
    end?: Machine['end'],
  ): Machine {
    let machine = this.machines.get(image.slug);
    if (machine === undefined) {
      machine = new Machine(image, this.#parts, head, end);
      machine.parts.wakes.hold();
      this.machines.set(machine.slug, machine);
    }
    for (const made of contracts) {
      if (this.contracts.has(made.id)) continue;
      const plan = this.#plans.ofStored(made.definition);
      const contract = makeContract(made, plan, machine, made.createdCycle, machine.parts);
      this.#plans.take(plan);
      machine.contracts.push(contract);
      this.contracts.set(contract.id, contract);
    }
    return machine;
  }

  /** Lets go of contracts of a machine that another store has no more. */
  unlearn(machine: Machine, contracts: readonly Contract[]): void {
    for (const contract of contracts) {
      this.#remove(contract);
      machine.contracts.splice(machine.contracts.indexOf(contract), 1);
    }
  }

  /** Brings back to life what the store holds; the cycles that went by in between pass one by one in effect. */
  #revive(holdClock: (newestCycle: number) => void = () => {}): void {
    let newest = 0;
    for (const { machine: image, contracts, head, last } of this.#parts.store.machines()) {
      const machine = new Machine(image, this.#parts, head, last);
      newest = Math.max(newest, last?.cycle ?? 0);
      this.machines.set(machine.slug, machine);
      for (const { image: made, state } of contracts) {
        const cycle = state.windows[0]?.cycle ?? made.createdCycle;
        newest = Math.max(newest, cycle);
        const contract = makeContract(
          made,
          this.#plans.ofStored(made.definition),
          machine,
          cycle,
          machine.parts,
          state,
        );
        this.#adopt(contract);
        if (!(contract instanceof KeyedContract)) continue;
        for (const saved of this.#parts.store.keys(made.id)) contract.keys.restore(saved);
        newest = Math.max(newest, contract.keys.cycle);
      }
    }
    holdClock(newest);
    for (const { parts } of this.machines.values()) parts.wakes.catchUp(this.#clock.cycle());
    this.commit();
  }

  #adopt(contract: Contract): void {
    const machine = this.machine(contract.image.machine);
    machine.contracts.push(contract);
    if (contract instanceof KeyedContract) this.keyed.add(contract);
    this.contracts.set(contract.id, contract);
    this.#plans.take(contract.plan);
    machine.parts.wakes.schedule(contract);
  }
}

function causeBy(by: string | undefined): Pick<AuditEntry, 'by' | 'cause'> {
  return { cause: by === undefined ? 'system' : 'manual', ...askedBy(by) };
}

function askedBy(by: string | undefined): Pick<AuditEntry, 'by'> {
  return by === undefined ? {} : { by };
}
