// The keys of one contract: who is there, asleep or awake, who may be forgotten, and who has counts that the store does not know.
//
//   name ─► number ─► asleep: its counts in sparse windows, its state in the table     quiet: counted and decided there
//                       │ ▲
//           may move, or │ │ moved back, or others moved since
//           has to wake  ▼ │
//                     awake: a contract of its own, with gate and actor
//
// What a count does not say, a rule or several windows, is awake for as long as the key is there.
import { type Plan, spanCycles, windowCycles } from '../limiter/plan.js';
import type { ContractState } from '../store/store.js';
import { cycleOf } from '../time/cycle.js';
import type { Contract } from './contract.js';
import type { HostContext } from './host-context.js';
import type { KeyContract } from './key-contract.js';
import { KeyTable } from './key-table.js';
import { Queue } from './queue.js';
import { type KeyState, type KeyView, SleepingKeys } from './sleeping-keys.js';

/** Of the flags of a key: the index of its state, up to 63. */
const STATE = 0xff;
/** Its newest counts are not stored, and it stands in the queue for that. Outlives the key. */
const DIRTY = 1 << 8;
const AWAKE = 1 << 9;
/** Its state does not admit. */
const LIMITED = 1 << 10;

/** What a name takes, of as many characters as it may have, with its place in the table; one that is hashed has 32. In cells. */
const CELLS_OF_NAME = 44;

/** What a key that is always awake takes besides its windows, in cells: some 4 kB. */
const CELLS_AWAKE = 512;

/** How often it is looked whether a key that is always awake has counts yet, in cycles, at least. */
const LOOK_CYCLES = 1_024;

/** What a contract with keys takes without any, in cells. */
const CELLS_WITHOUT_KEYS = 4_096;

/** Cells of 8 bytes that the keys of a contract may take, in which its memory is measured: if all are there and count in every cycle. */
export function cellsOfKeys(plan: Plan, maxKeys: number): number {
  const cycles = windowCycles(plan);
  return CELLS_WITHOUT_KEYS + cycles + maxKeys * (CELLS_OF_NAME + (isSparse(plan) ? 2 * cycles : CELLS_AWAKE + cycles));
}

/** Whether the counts of one window say all that a key has to remember. */
function isSparse({ rule, aggregates, kinds, states, initial }: Plan): boolean {
  const isOne = rule === undefined && aggregates.length === 1 && kinds.length === 1;
  return isOne && states[initial]!.quiet[0]!.some(({ lo }) => lo === 0);
}

interface KeysOptions {
  readonly plan: Plan;
  readonly context: HostContext;
  readonly cycle: number;
  /** Keys at a time. */
  readonly most: number;
  /** Whether actors hear every event: then all keys are awake. */
  readonly hearsAll: boolean;
  /** Makes the contract of a key: a new one, or as it was saved. */
  readonly make: (number: number, name: string, cycle: number, saved?: KeyState) => KeyContract;
  /** A key has counts that the store does not know, which it knew before. */
  readonly onDirty: () => void;
  readonly forgotten: (name: string) => void;
}

export class Keys {
  /** Keys whose state does not admit. */
  limited = 0;
  /** Since it came alive: what was counted. */
  readonly figures = { requests: 0, limited: 0 };
  /** Since it came alive. */
  forgotten = 0;
  /** The cycle up to which the keys have counted. */
  cycle: number;
  readonly table: KeyTable;
  readonly #plan: Plan;
  readonly #options: KeysOptions;
  /** Undefined where every key is awake. */
  readonly #asleep: SleepingKeys | undefined;
  readonly #awake = new Map<number, KeyContract>();
  readonly #dirty = new Queue<number>();

  constructor(options: KeysOptions) {
    const { plan, context, cycle, hearsAll, most } = options;
    this.#options = options;
    this.#plan = plan;
    this.cycle = cycle;
    const sleeps = isSparse(plan) && !hearsAll;
    const span = spanCycles(plan, context.clock.cycleMs);
    this.table = new KeyTable(sleeps ? span : Math.min(span, LOOK_CYCLES), cycle, most);
    if (!sleeps) return;
    const wake = (key: number, ms: number) => this.wake(key, cycleOf(ms, context.clock.cycleMs) - 1).wake(ms);
    this.#asleep = new SleepingKeys(plan, context, most, (key) => this.table.flags(key) & STATE, wake);
  }

  /** Goes on to a later cycle; what was due by then has woken. */
  reach(cycle: number): void {
    this.cycle = cycle;
    this.table.reach(cycle);
  }

  /** Whether the state of a key that is there does not admit. */
  isLimited(key: number): boolean {
    return (this.table.flags(key) & LIMITED) !== 0;
  }

  /** A number for a new key. */
  take(name: string): number {
    const { table } = this;
    const key = table.take(name, this.cycle);
    this.#asleep?.reach(key);
    table.setFlags(key, (table.flags(key) & DIRTY) | this.#plan.initial);
    return key;
  }

  /** Counts `n` events of a key and decides them, unless a transition can fire. @returns how many were admitted; -1: none was counted */
  decideQuietly(key: number, n: number): number {
    const flags = this.table.flags(key);
    if (this.#asleep === undefined || (flags & AWAKE) !== 0) return -1;
    if (!this.#asleep.count(key, flags & STATE, n, this.cycle)) return -1;
    this.table.touch(key, this.cycle);
    if ((flags & DIRTY) === 0) this.#setDirty(key);
    const admitted = (flags & LIMITED) === 0 || this.#plan.isShadow ? n : 0;
    this.counted(n, admitted);
    return admitted;
  }

  /** The contract of a key; `settle` it after the work on it. */
  wake(key: number, cycle: number): KeyContract {
    const awake = this.#awake.get(key);
    if (awake !== undefined) return awake;
    const name = this.table.nameOf(key);
    return this.#awaken(this.#options.make(key, name, cycle, this.#asleep?.take(key, cycle)));
  }

  /** After anything that may have moved the contract of a key: it sleeps again if it can. */
  settle(contract: KeyContract): void {
    const { number: key, stateIndex } = contract;
    this.#setState(key, stateIndex);
    if (this.#asleep === undefined) this.table.touch(key, contract.gate.cycle);
    else if (stateIndex === this.#plan.initial && isFree(contract)) this.#letSleep(contract, this.#asleep);
    else if (this.#awake.size > this.#options.context.mostAwake) {
      const [eldest] = this.#awake.values();
      this.#awake.delete(eldest!.number);
      this.#awake.set(eldest!.number, eldest!);
      this.#letSleep(eldest!, this.#asleep);
    }
  }

  /** How a key stands now. */
  viewOf(key: number): KeyView {
    const woken = this.#awake.get(key);
    if (woken !== undefined) {
      woken.advance(this.cycle);
      this.settle(woken);
    }
    return this.#awake.get(key) ?? this.#asleep!.viewOf(key, this.cycle);
  }

  /** Forgets the key that has been idle longest, of those that may be. @returns whether there was one */
  forgetOne(): boolean {
    const { forgotten, table } = this;
    while (table.firstIdle !== 0 && this.forgotten === forgotten) this.#forgetIfAsNew(table.firstIdle);
    return this.forgotten > forgotten;
  }

  /** Forgets keys that have been idle for so many cycles; looks at up to `most`. @returns how many it has looked at */
  forgetIdle(idleCycles: number, most: number): number {
    const { table } = this;
    for (let looked = 0; looked < most; looked += 1) {
      if (table.firstIdle === 0 || table.idleFor(table.firstIdle) < idleCycles) return looked;
      this.#forgetIfAsNew(table.firstIdle);
    }
    return most;
  }

  /** Takes over a key as it was stored. */
  restore(saved: ContractState): void {
    const { key: name = '', windows, state } = saved;
    const cycle = windows[0]?.cycle ?? this.cycle;
    if (cycle > this.cycle) this.reach(cycle);
    const key = this.take(name);
    const index = this.#plan.states.findIndex((one) => one.name === state);
    this.#setState(key, index);
    const newest = this.#asleep?.put(key, saved);
    if (newest === undefined) this.#awaken(this.#options.make(key, name, cycle, saved));
    else this.#list(key, newest);
  }

  /** None wakes any more. */
  stop(): void {
    for (const contract of this.#awake.values()) this.#options.context.wakes.forget(contract);
    this.#awake.clear();
  }

  counted(n: number, admitted: number): void {
    this.figures.requests += n;
    this.figures.limited += n - admitted;
  }

  /** There are counts of a key that the store does not know. */
  markDirty(key: number): void {
    if ((this.table.flags(key) & DIRTY) === 0) this.#setDirty(key);
  }

  /** The key that has had such counts longest, as it is to be stored; undefined where it has been forgotten since. */
  nextDirty(): KeyState | undefined {
    const { table } = this;
    const key = this.#dirty.shift()!;
    table.setFlags(key, table.flags(key) & ~DIRTY);
    if (!table.has(key)) return undefined;
    const awake = this.#awake.get(key);
    if (awake === undefined) return { key: table.nameOf(key), ...this.#asleep!.state(key, this.cycle) };
    awake.isDirty = false;
    return awake.saved();
  }

  #setDirty(key: number): void {
    this.table.setFlags(key, this.table.flags(key) | DIRTY);
    this.#dirty.push(key);
    this.#options.onDirty();
  }

  /** Forgets a key that nothing is lost with; any other is not idle any more. */
  #forgetIfAsNew(key: number): void {
    const awake = this.#awake.get(key);
    if (awake !== undefined && awake.failure === undefined) {
      awake.advance(this.cycle);
      this.settle(awake);
    }
    if (this.#isAsNew(key)) this.#forget(key);
    // Those that are always awake are looked at again when as much time has gone by; the others are listed again when they move.
    else if (this.#asleep === undefined) this.table.touch(key, this.cycle);
    else this.table.unlist(key);
  }

  #isAsNew(key: number): boolean {
    const awake = this.#awake.get(key);
    if (awake !== undefined) return awake.failure !== undefined || isAsNew(awake);
    return (this.table.flags(key) & STATE) === this.#plan.initial && this.#asleep!.isPlain(key);
  }

  #forget(key: number): void {
    const { table } = this;
    const awake = this.#awake.get(key);
    if (awake !== undefined) this.#options.context.wakes.forget(awake);
    this.#awake.delete(key);
    this.#asleep?.forget(key);
    this.#setState(key, this.#plan.initial);
    this.#options.forgotten(table.nameOf(key));
    table.drop(key, table.flags(key) & DIRTY);
    this.forgotten += 1;
  }

  #setState(key: number, stateIndex: number): void {
    const flags = this.table.flags(key);
    const limited = this.#plan.states[stateIndex]!.admits ? 0 : LIMITED;
    if (limited !== (flags & LIMITED)) this.limited += limited === 0 ? -1 : 1;
    this.table.setFlags(key, (flags & ~(STATE | LIMITED)) | stateIndex | limited);
  }

  #awaken(contract: KeyContract): KeyContract {
    const { number: key } = contract;
    this.#awake.set(key, contract);
    this.table.setFlags(key, this.table.flags(key) | AWAKE);
    this.#options.context.wakes.schedule(contract);
    return contract;
  }

  #letSleep(contract: KeyContract, asleep: SleepingKeys): void {
    const { number: key, failure } = contract;
    const newest = failure === undefined ? asleep.put(key, contract.saved()) : undefined;
    if (newest === undefined) return;
    this.#awake.delete(key);
    this.table.setFlags(key, this.table.flags(key) & ~AWAKE);
    this.#options.context.wakes.forget(contract);
    this.#list(key, newest);
  }

  /** Puts a key into the order by its newest count; -Infinity for none. */
  #list(key: number, newest: number): void {
    this.table.touch(key, Math.max(newest, this.cycle - this.table.span));
  }
}

/** Whether nothing is lost when it is forgotten. */
export function isAsNew({ failure, gate }: Contract): boolean {
  return failure === undefined && gate.isAsNew;
}

/** Neither held nor with refusals behind it. */
function isFree({ failure, gate }: Contract): boolean {
  return failure === undefined && gate.heldUntilCycle <= gate.cycle && gate.refusals === 0;
}
