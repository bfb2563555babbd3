// The keys of one contract: which exist, when each may move by itself, which may be evicted, and which have unsaved counts.
//
//   name ─► key: the record of a gate, quiet: counted and decided on it
import { createHmac } from 'node:crypto';
import { Gate, type GateOwner } from '../../core/limiter/gate.js';
import {
  countOn,
  type GateImage,
  type GateRecord,
  imageOf,
  isAsNew,
  passTo,
  recordOf,
  staysQuiet,
  windowList,
} from '../../core/limiter/gate-record.js';
import { type Plan, spanCycles, windowCycles } from '../../core/limiter/plan.js';
import { NEVER } from '../../core/limiter/rule/rule.js';
import { newestIn } from '../../core/limiter/window.js';
import { FifoQueue } from '../../core/math/fifo-queue.js';
import type { AuditEntry } from '../../core/record/row.js';
import type { Failure } from '../../core/schema/failure.js';
import { cycleOf, startOf } from '../../core/time/cycle.js';
import type { ContractImage, ContractState, KeyedImage } from '../store/store.js';
import { tooManyKeys } from './contract-failures.js';
import { type HostContext, nowOf } from './host-context.js';
import { type Ageing, IdleKeys } from './idle-keys.js';
import type { Steps } from './steps.js';
import type { Sleeper } from './wakes.js';

export interface ContractKey extends GateRecord, Ageing {
  readonly name: string;
  /** Ascending by creation. */
  readonly number: number;
  /** Queued for storing. */
  isDirty: boolean;
}

/** The longest name and its entry in the table, in cells. */
const CELLS_OF_NAME = 44;

/** The object of a rule's state, beside its numbers, in cells. */
const CELLS_OF_RULE = 32;

/** Interval of eviction checks, in cycles, for rules that may remember a key for longer. */
const CHECK_CYCLES = 1_024;

const CELLS_WITHOUT_KEYS = 4_096;

const NONE = Number.NEGATIVE_INFINITY;

/** Keys looked at for each new key: more than one, so that the number of idle ones falls. */
const EVICTED_PER_INSERT = 4;

/** Keys looked at for a place, if there is none: 0.1 ms. */
const LOOKED_AT = 1_000;

/** The most 8-byte cells that the keys of a contract take: all present, counting in every cycle. */
export function cellsOfKeys(plan: Plan, maxKeys: number): number {
  const cycles = windowCycles(plan);
  const row = plan.rule === undefined ? 2 * cycles : CELLS_OF_RULE + cycles;
  return CELLS_WITHOUT_KEYS + cycles + maxKeys * (CELLS_OF_NAME + row);
}

/** Undefined starts the gate anew. */
export type Convert = (image: GateImage) => GateImage | undefined;

interface KeysOptions {
  readonly plan: Plan;
  readonly image: ContractImage;
  readonly keyed: KeyedImage;
  readonly context: HostContext;
  readonly cycle: number;
  readonly onDirty: () => void;
  readonly onWake: (key: ContractKey, ms: number) => void;
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
  readonly #options: KeysOptions;
  readonly #keys = new Map<string, ContractKey>();
  readonly #span: number;
  readonly #idle: IdleKeys<ContractKey>;
  readonly #sleepers = new Map<ContractKey, Sleeper & { wakeMs: number }>();
  readonly #failures = new Map<ContractKey, Failure>();
  /** Undefined: the contract itself. */
  readonly #dirty = new FifoQueue<ContractKey | undefined>();
  #last = 0;
  /** One object per cycle, however many keys are refused. */
  #full: { readonly cycle: number; readonly failure: Failure } | undefined;

  constructor(options: KeysOptions) {
    const { plan, context, cycle } = options;
    this.#options = options;
    this.cycle = cycle;
    const span = spanCycles(plan, context.clock.cycleMs);
    this.#span = plan.rule === undefined ? span : Math.min(span, CHECK_CYCLES);
    this.#idle = new IdleKeys(this.#span, cycle);
  }

  get size(): number {
    return this.#keys.size;
  }

  reach(cycle: number): void {
    this.cycle = cycle;
    this.#idle.reach(cycle);
  }

  isLimited({ state }: ContractKey): boolean {
    return !this.#options.plan.states[state]!.admits;
  }

  get(name: string): ContractKey | undefined {
    return this.#keys.get(name);
  }

  /** In order of creation. */
  all(): Iterable<ContractKey> {
    return this.#keys.values();
  }

  /** The key of a name; undefined if it shares the contract's gate. @throws Failure `too_many_keys`, and as `claimMemory` */
  place(name: string, n: number): ContractKey | undefined {
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const { keyed, context } = this.#options;
    this.evictIdle(EVICTED_PER_INSERT);
    if (this.size < keyed.maxKeys || this.#makeRoom()) {
      context.claimMemory?.();
      return this.#add(name);
    }
    if (keyed.overflow === 'share') return undefined;
    this.refused += n;
    throw this.#tooMany();
  }

  failureOf(key: ContractKey): Failure | undefined {
    return this.#failures.get(key);
  }

  fail(key: ContractKey, failure: Failure): void {
    this.#failures.set(key, failure);
    this.#cancelWake(key);
  }

  isQuiet(key: ContractKey, n: number, kind: number): boolean {
    return (
      key.rule === undefined &&
      key.heldUntilCycle <= this.cycle &&
      staysQuiet(this.#options.plan, key, n, this.cycle, kind)
    );
  }

  /** As `countOn`. */
  countQuietly(key: ContractKey, n: number, kind: number): number | undefined {
    if (this.#failures.size > 0 && this.#failures.has(key)) throw this.#failures.get(key);
    if (key.rule !== undefined || key.heldUntilCycle > this.cycle) return undefined;
    const admitted = countOn(this.#options.plan, key, n, this.cycle, kind);
    if (admitted === undefined) return undefined;
    this.#idle.touch(key, this.cycle);
    this.markDirty(key);
    this.counted(n, admitted);
    return admitted;
  }

  counted(n: number, admitted: number): void {
    this.figures.requests += n;
    this.figures.limited += n - admitted;
  }

  gate(key: ContractKey, cycle = this.cycle, owner?: GateOwner): Gate {
    passTo(this.#options.plan, key, cycle, this.#startOf(cycle));
    return this.#gateIn(key, cycle, owner);
  }

  /** What has become due is not fired yet. */
  #gateIn(key: ContractKey, cycle: number, owner?: GateOwner): Gate {
    const { plan, context } = this.#options;
    const { cycleMs } = context.clock;
    return new Gate(plan, { cycle, cycleMs, nowMs: this.#startOf(cycle), owner, record: key });
  }

  #startOf(cycle: number): number {
    return startOf(cycle, this.#options.context.clock.cycleMs);
  }

  /** After its gate has worked. */
  worked(key: ContractKey, wasLimited: boolean, { cycle }: Gate): void {
    this.limited += Number(this.isLimited(key)) - Number(wasLimited);
    const counted = key.rule === undefined ? windowList(key).map((window) => newestIn(window) ?? NONE) : [cycle];
    const newest = Math.max(...counted, this.cycle - this.#span);
    // A new one may begin with an event of an earlier cycle.
    if (newest < this.#idle.lastOf(key)) this.#idle.list(key, newest);
    this.#idle.touch(key, newest);
    this.#schedule(key, cycle);
  }

  /** The gate of a key, or of a new one; undefined if it shares the contract's gate. @throws Failure `too_many_keys` */
  find(name: string): Gate | undefined {
    const { keyed, plan, context } = this.#options;
    const key = this.#keys.get(name);
    if (key !== undefined) return this.gate(key);
    if (this.size < keyed.maxKeys || this.#idle.first(LOOKED_AT) !== undefined)
      return new Gate(plan, { cycle: this.cycle, cycleMs: context.clock.cycleMs, nowMs: nowOf(context) });
    if (keyed.overflow === 'refuse') throw this.#tooMany();
    return undefined;
  }

  /** Restores the converted keys of `source`; the others start anew. @returns keys, with `isStored` */
  *restoreFrom(source: Keys, convert: Convert): Steps<(readonly [key: ContractKey, isStored: boolean])[]> {
    const restored: (readonly [ContractKey, boolean])[] = [];
    for (const one of source.all()) {
      const { id, key, ...gate } = source.saved(one);
      const converted = convert(gate);
      if (converted !== undefined) restored.push([this.restore({ id, key, ...converted }), !one.isDirty]);
      yield;
    }
    return restored;
  }

  copyFigures({ figures, refused, shared, evicted }: Keys): void {
    Object.assign(this.figures, figures);
    Object.assign(this, { refused, shared, evicted });
  }

  restore(saved: ContractState): ContractKey {
    const { key: name = '', windows, rule } = saved;
    const cycle = windows[0]?.cycle ?? this.cycle;
    if (cycle > this.cycle) this.reach(cycle);
    // By its newest count: the key becomes idle when that leaves the window.
    const newest = rule === undefined ? windows.map((one) => one.cycle - (one.counts[0] ?? NEVER)) : [cycle];
    const key = this.#add(name, saved, Math.max(...newest, this.cycle - this.#span));
    this.#schedule(key, cycle);
    return key;
  }

  stop(): void {
    for (const sleeper of this.#sleepers.values()) this.#options.context.wakes.cancel(sleeper);
    this.#sleepers.clear();
  }

  markDirty(key: ContractKey): void {
    if (key.isDirty) return;
    key.isDirty = true;
    this.queue(key);
  }

  /** @param key undefined: the contract itself */
  queue(key: ContractKey | undefined): void {
    this.#dirty.push(key);
    this.#options.onDirty();
  }

  /** The oldest unsaved state, in the order of `queue`; undefined for the contract itself. */
  nextDirty(): ContractKey | undefined {
    const key = this.#dirty.shift();
    if (key !== undefined) key.isDirty = false;
    return key;
  }

  saved(key: ContractKey): ContractState {
    const { plan, image } = this.#options;
    passTo(plan, key, this.cycle, this.#startOf(this.cycle));
    return { id: image.id, key: key.name, ...imageOf(plan, key, this.cycle) };
  }

  #add(name: string, saved?: GateImage, touched = this.cycle): ContractKey {
    const { plan, context } = this.#options;
    this.#last += 1;
    const record = recordOf(plan, { cycle: this.cycle, nowMs: nowOf(context) }, saved);
    const { state, heldUntilCycle, refusals, first, others, rule } = record;
    // Not by spreading: a key would take five times as much memory.
    const key: ContractKey = {
      state,
      heldUntilCycle,
      refusals,
      first,
      others,
      rule,
      name,
      number: this.#last,
      touched: 0,
      isDirty: false,
      isGone: false,
    };
    this.#keys.set(name, key);
    this.limited += Number(this.isLimited(key));
    this.#idle.touch(key, touched);
    this.#idle.list(key, touched);
    return key;
  }

  #schedule(key: ContractKey, cycle: number): void {
    const { wakes } = this.#options.context;
    const wakeMs = this.#gateIn(key, cycle).wakeMs();
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

  #wake(key: ContractKey, ms: number): void {
    const cycle = cycleOf(ms, this.#options.context.clock.cycleMs);
    if (cycle > this.cycle) this.reach(cycle);
    const before = cycle - 1;
    if (this.#gateIn(key, before).wakeMs() > ms) this.#schedule(key, before);
    else this.#options.onWake(key, ms);
  }

  #cancelWake(key: ContractKey): void {
    const sleeper = this.#sleepers.get(key);
    if (sleeper === undefined) return;
    this.#options.context.wakes.cancel(sleeper);
    this.#sleepers.delete(key);
  }

  /** Evicts keys that have been idle long enough. @returns the number looked at, up to `most` */
  evictIdle(most: number): number {
    const { idleCycles } = this.#options.keyed;
    for (let looked = 0; looked < most; looked += 1) {
      const key = this.#idle.first(LOOKED_AT);
      if (key === undefined || this.cycle - this.#idle.lastOf(key) - this.#span < idleCycles) return looked;
      this.#evictIfAsNew(key);
    }
    return most;
  }

  /** Evicts the longest-idle key that behaves like a new one. @returns false if there is none */
  #makeRoom(): boolean {
    const { evicted } = this;
    for (let looked = 0; looked < LOOKED_AT && this.evicted === evicted; looked += 1) {
      const key = this.#idle.first(LOOKED_AT);
      if (key === undefined) return false;
      this.#evictIfAsNew(key);
    }
    return this.evicted > evicted;
  }

  /** Evicts an idle key that behaves like a new one; any other is looked at after another span. */
  #evictIfAsNew(key: ContractKey): void {
    const { plan } = this.#options;
    this.#idle.shift();
    passTo(plan, key, this.cycle, this.#startOf(this.cycle));
    if (this.#failures.has(key) || isAsNew(plan, key, this.cycle)) this.#evict(key);
    else this.#idle.list(key, this.cycle);
  }

  #evict(key: ContractKey): void {
    const { context, image } = this.#options;
    this.#cancelWake(key);
    this.#failures.delete(key);
    if (this.isLimited(key)) this.limited -= 1;
    context.store.deleteKey(image.id, key.name);
    this.#keys.delete(key.name);
    key.isGone = true;
    this.evicted += 1;
  }

  #tooMany(): Failure {
    const { cycle } = this;
    if (this.#full?.cycle !== cycle)
      this.#full = { cycle, failure: tooManyKeys(this.#options.image, this.#idle.nextCycle(LOOKED_AT)) };
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
