// The keys of one contract: which exist, when each may move by itself, which may be evicted, and which have unsaved counts.
//
//   name ─► number ─► row: gate-rows.ts          quiet: counted and decided there
//             │
//             └ flags, order of eviction: key-table.ts
import { createHmac } from 'node:crypto';
import { GateHead } from '../../core/limiter/fast-path.js';
import { Gate, type GateImage, type GateOwner } from '../../core/limiter/gate.js';
import { GateRows, rowFields, UNEVALUATED } from '../../core/limiter/gate-rows.js';
import { type Plan, type Steps, spanCycles, windowCycles } from '../../core/limiter/plan.js';
import { NEVER } from '../../core/limiter/rule/rule.js';
import { ownCells } from '../../core/limiter/window.js';
import { FifoQueue } from '../../core/math/fifo-queue.js';
import type { AuditEntry } from '../../core/record/row.js';
import type { Failure } from '../../core/schema/failure.js';
import { cycleOf } from '../../core/time/cycle.js';
import type { ContractImage, ContractState, KeyedImage } from '../store/store.js';
import { tooManyKeys } from './contract-failures.js';
import { type HostContext, nowOf } from './host-context.js';
import { KeyTable } from './key-table.js';
import type { Sleeper } from './wakes.js';

/** Bits of a key's flags: the index of its state, up to 63. */
const STATE = 0xff;
/** Queued for storing. Survives the key, because its queue entry does. */
const DIRTY = 1 << 8;

/** The longest name and its entry in the table, in cells. */
const CELLS_OF_NAME = 44;

/** The object of a rule's state, beside its numbers, in cells. */
const CELLS_OF_RULE = 32;

/** Interval of eviction checks, in cycles, for rules that may remember a key for longer. */
const CHECK_CYCLES = 1_024;

const CELLS_WITHOUT_KEYS = 4_096;

/** Idle keys checked for each new key: more than one, so that their number falls. */
const EVICTED_PER_INSERT = 4;

/** The most 8-byte cells that the keys of a contract take: all present, counting in every cycle. */
export function cellsOfKeys(plan: Plan, maxKeys: number): number {
  const cycles = windowCycles(plan);
  const row = plan.rule === undefined ? 2 * cycles : CELLS_OF_RULE + cycles;
  return CELLS_WITHOUT_KEYS + cycles + maxKeys * (CELLS_OF_NAME + row);
}

export interface KeyState {
  readonly stateIndex: number;
  readonly count: number;
  readonly gate: Gate;
}

/** Undefined starts the gate anew. */
export type Convert = (image: GateImage) => GateImage | undefined;

const RESTORE_COST = 1 / 16;

interface KeysOptions {
  readonly plan: Plan;
  readonly image: ContractImage;
  readonly keyed: KeyedImage;
  readonly context: HostContext;
  readonly cycle: number;
  readonly onDirty: () => void;
  readonly onWake: (key: number, ms: number) => void;
}

export class Keys {
  limited = 0;
  readonly figures = { requests: 0, limited: 0 };
  /** Events of keys that did not fit: refused, or counted by the contract's own gate. */
  refused = 0;
  shared = 0;
  evicted = 0;
  delayMs = 0;
  cycle: number;
  readonly table: KeyTable;
  readonly #options: KeysOptions;
  readonly #rows: GateRows;
  readonly #sleepers = new Map<number, Sleeper & { wakeMs: number }>();
  readonly #failures = new Map<number, Failure>();
  readonly #dirty = new FifoQueue<number>();
  /** One object per cycle, however many keys are refused. */
  #full: { readonly cycle: number; readonly failure: Failure } | undefined;

  constructor(options: KeysOptions) {
    const { plan, keyed, context, cycle } = options;
    const { cycleMs } = context.clock;
    this.#options = options;
    this.cycle = cycle;
    const span = spanCycles(plan, cycleMs);
    const checkedCycles = plan.rule === undefined ? span : Math.min(span, CHECK_CYCLES);
    this.table = new KeyTable(checkedCycles, cycle, keyed.maxKeys, rowFields(plan));
    const { records, ownField } = this.table;
    this.#rows = new GateRows(plan, cycleMs, keyed.maxKeys, records, ownField);
  }

  reach(cycle: number): void {
    this.cycle = cycle;
    this.table.reach(cycle);
  }

  isLimited(key: number): boolean {
    return !this.#options.plan.states[this.#stateOf(key)]!.admits;
  }

  /** The number of a key; 0 if it shares the contract's gate. @throws Failure `too_many_keys`, and as `claimMemory` */
  place(name: string, n: number): number {
    const { table } = this;
    const { keyed, context } = this.#options;
    const known = table.find(name);
    if (known !== 0) return known;
    this.evictIdle(EVICTED_PER_INSERT);
    if (table.size < keyed.maxKeys || this.#evictOne()) {
      context.claimMemory?.();
      return this.#take(name);
    }
    if (keyed.overflow === 'share') return 0;
    this.refused += n;
    throw this.#tooMany();
  }

  failureOf(key: number): Failure | undefined {
    return this.#failures.get(key);
  }

  fail(key: number, failure: Failure): void {
    this.#failures.set(key, failure);
    this.#cancelWake(key);
  }

  isQuiet(key: number, n: number, kind: number): boolean {
    return this.#rows.isQuiet(key, this.#stateOf(key), n, this.cycle, kind);
  }

  decide(key: number, n: number, kind: number, ms: number, isOne: boolean): number {
    if (this.#failures.size > 0 && this.#failures.has(key)) throw this.#failures.get(key);
    const admitted = this.#rows.decide(key, this.#stateOf(key), n, this.cycle, kind, ms, isOne);
    if (admitted < 0 && admitted !== UNEVALUATED) return admitted;
    this.table.touch(key, this.cycle);
    this.markDirty(key);
    this.delayMs = this.#rows.delayMs;
    if (admitted >= 0) this.counted(n, admitted);
    return admitted;
  }

  counted(n: number, admitted: number): void {
    this.figures.requests += n;
    this.figures.limited += n - admitted;
  }

  gate(key: number, cycle = this.cycle, owner?: GateOwner): Gate {
    return this.#rows.gate(key, this.#stateOf(key), cycle, owner);
  }

  put(key: number, gate: Gate): void {
    this.#write(key, gate.image(), gate.cycle);
  }

  /** The state of a key, or of a new one; undefined if it shares the contract's gate. @throws Failure `too_many_keys` */
  find(name: string): KeyState | undefined {
    const { table } = this;
    const { keyed, plan, context } = this.#options;
    const key = table.find(name);
    if (key !== 0) return this.#find(key);
    if (table.size < keyed.maxKeys || table.firstIdle !== 0) {
      const head = new GateHead(plan, this.cycle, ownCells);
      const gate = new Gate(plan, { cycle: this.cycle, cycleMs: context.clock.cycleMs, nowMs: nowOf(context), head });
      return { stateIndex: gate.state, count: gate.count, gate };
    }
    if (keyed.overflow === 'refuse') throw this.#tooMany();
    return undefined;
  }

  #find(key: number): KeyState {
    const count = this.#rows.count(key, this.cycle);
    let made: Gate | undefined;
    const gate = () => {
      made ??= this.gate(key);
      return made;
    };
    return {
      stateIndex: this.#stateOf(key),
      get count() {
        return count ?? gate().count;
      },
      get gate() {
        return gate();
      },
    };
  }

  /** Evicts keys that have been idle long enough. @returns the number checked, up to `most` */
  evictIdle(most: number): number {
    const { table } = this;
    for (let checked = 0; checked < most; checked += 1) {
      if (table.firstIdle === 0 || table.idleFor(table.firstIdle) < this.#options.keyed.idleCycles) return checked;
      this.#evictIfAsNew(table.firstIdle);
    }
    return most;
  }

  *states(): Generator<readonly [saved: ContractState, isStored: boolean]> {
    for (let key = 1; key <= this.table.last; key += 1) {
      const saved = this.saved(key);
      if (saved !== undefined) yield [saved, (this.table.flags(key) & DIRTY) === 0];
    }
  }

  /** Restores the converted keys of `source`; the others start anew. @returns numbers, with `isStored` */
  *restoreFrom(source: Keys, convert: Convert): Steps<(readonly [key: number, isStored: boolean])[]> {
    const restored: (readonly [number, boolean])[] = [];
    for (const [{ id, key, ...gate }, isStored] of source.states()) {
      const converted = convert(gate);
      if (converted !== undefined)
        restored.push([this.restore({ id, ...(key === undefined ? {} : { key }), ...converted }), isStored]);
      yield RESTORE_COST;
    }
    return restored;
  }

  copyFigures({ figures, refused, shared, evicted }: Keys): void {
    Object.assign(this.figures, figures);
    Object.assign(this, { refused, shared, evicted });
  }

  restore(saved: ContractState): number {
    const { key: name = '', windows } = saved;
    const cycle = windows[0]?.cycle ?? this.cycle;
    if (cycle > this.cycle) this.reach(cycle);
    const key = this.#take(name);
    this.#write(key, saved, cycle);
    return key;
  }

  stop(): void {
    for (const sleeper of this.#sleepers.values()) this.#options.context.wakes.cancel(sleeper);
    this.#sleepers.clear();
  }

  markDirty(key: number): void {
    const flags = this.table.flags(key);
    if ((flags & DIRTY) !== 0) return;
    this.table.setFlags(key, flags | DIRTY);
    this.queue(key);
  }

  queue(key: number): void {
    this.#dirty.push(key);
    this.#options.onDirty();
  }

  nextDirty(): number {
    const key = this.#dirty.shift() ?? 0;
    if (key !== 0) this.table.setFlags(key, this.table.flags(key) & ~DIRTY);
    return key;
  }

  saved(key: number): ContractState | undefined {
    if (!this.table.has(key)) return undefined;
    const { id } = this.#options.image;
    return { id, key: this.table.nameOf(key), ...this.#rows.image(key, this.#stateOf(key), this.cycle) };
  }

  #stateOf(key: number): number {
    return this.table.flags(key) & STATE;
  }

  #take(name: string): number {
    const { table } = this;
    const { plan, context } = this.#options;
    const key = table.take(name, this.cycle);
    table.setFlags(key, (table.flags(key) & DIRTY) | plan.initial);
    if (!plan.states[plan.initial]!.admits) this.limited += 1;
    this.#rows.begin(key, nowOf(context));
    return key;
  }

  #write(key: number, image: GateImage, cycle: number): void {
    const { table } = this;
    const { plan } = this.#options;
    this.#rows.put(key, image, cycle);
    const wasLimited = this.isLimited(key);
    const state = plan.states.findIndex(({ name }) => name === image.state);
    table.setFlags(key, (table.flags(key) & ~STATE) | state);
    this.limited += Number(this.isLimited(key)) - Number(wasLimited);
    // By its newest count: the key becomes idle when that leaves the window.
    const newest = image.windows.map((one) => (plan.rule === undefined ? one.cycle - (one.counts[0] ?? NEVER) : cycle));
    table.touch(key, Math.max(...newest, this.cycle - table.span));
    this.#schedule(key, cycle);
  }

  #schedule(key: number, cycle: number): void {
    const { wakes } = this.#options.context;
    const wakeMs = this.#rows.wakeMs(key, this.#stateOf(key), cycle);
    if (wakeMs === NEVER) {
      this.#cancelWake(key);
      return;
    }
    let sleeper = this.#sleepers.get(key);
    if (sleeper === undefined) {
      sleeper = { wakeMs, wake: (ms) => this.#wake(key, ms) };
      this.#sleepers.set(key, sleeper);
    }
    sleeper.wakeMs = wakeMs;
    wakes.schedule(sleeper);
  }

  #wake(key: number, ms: number): void {
    const cycle = cycleOf(ms, this.#options.context.clock.cycleMs);
    if (cycle > this.cycle) this.reach(cycle);
    const before = cycle - 1;
    if (this.#rows.wakeMs(key, this.#stateOf(key), before) > ms) this.#schedule(key, before);
    else this.#options.onWake(key, ms);
  }

  #cancelWake(key: number): void {
    const sleeper = this.#sleepers.get(key);
    if (sleeper === undefined) return;
    this.#options.context.wakes.cancel(sleeper);
    this.#sleepers.delete(key);
  }

  /** Evicts the longest-idle key that behaves like a new one. @returns false if there is none */
  #evictOne(): boolean {
    const { evicted, table } = this;
    while (table.firstIdle !== 0 && this.evicted === evicted) this.#evictIfAsNew(table.firstIdle);
    return this.evicted > evicted;
  }

  /** Evicts an idle key that behaves like a new one; any other is removed from the idle list. */
  #evictIfAsNew(key: number): void {
    const isFree = this.#stateOf(key) === this.#options.plan.initial && this.#rows.isFree(key);
    if (this.#failures.has(key) || (isFree && this.#rows.isEmpty(key, this.cycle))) this.#evict(key);
    // A rule may remember for longer: checked again after another span. Others are listed again when they move.
    else if (isFree) this.table.touch(key, this.cycle);
    else this.table.unlist(key);
  }

  #evict(key: number): void {
    const { table } = this;
    const { context, image } = this.#options;
    this.#cancelWake(key);
    this.#failures.delete(key);
    this.#rows.clear(key);
    if (this.isLimited(key)) this.limited -= 1;
    context.store.deleteKey(image.id, table.nameOf(key));
    table.drop(key, table.flags(key) & DIRTY);
    this.evicted += 1;
  }

  #tooMany(): Failure {
    const { cycle } = this;
    if (this.#full?.cycle !== cycle)
      this.#full = { cycle, failure: tooManyKeys(this.#options.image, this.table.nextIdleCycle) };
    return this.#full.failure;
  }
}

/** 128 bits of the keyed hash. */
const NAME_DIGITS = 32;

export function storedName(key: string, secret: string | undefined): string {
  return secret === undefined ? key : createHmac('sha256', secret).update(key).digest('hex').slice(0, NAME_DIGITS);
}

/** For the record; it omits the secret. */
export function keyedFields(keyed: KeyedImage | undefined): Pick<AuditEntry, 'keyed'> {
  if (keyed === undefined) return {};
  const { maxKeys: max_keys, idleCycles: idle_cycles, overflow, secret } = keyed;
  return { keyed: { max_keys, idle_cycles, overflow, store_keys: secret === undefined ? 'plain' : 'hashed' } };
}
