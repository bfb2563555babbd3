// A contract with keys: each key is a gate of its own by the one definition, made when it first counts and forgotten when nothing is lost.
//
//   event of key a ─► name ─► its gate: keys.ts ─► decision, rows and events with the key
//                      └ no place left: refused, or counted by the gate of the contract itself, which such keys share
import { createHmac } from 'node:crypto';
import type { Plan } from '../limiter/plan.js';
import type { AuditEntry } from '../record/row.js';
import { Failure } from '../schema/failure.js';
import type { ContractImage, ContractState, KeyedImage } from '../store/store.js';
import { Contract } from './contract.js';
import type { HostContext } from './host-context.js';
import { KeyContract } from './key-contract.js';
import { Keys } from './keys.js';
import type { Chain } from './ledger.js';
import { Queue } from './queue.js';
import type { KeyView } from './sleeping-keys.js';

/** Idle keys that are forgotten with each new key: more than one, so that they become fewer. */
const FORGOTTEN_AT_ONCE = 4;

/** Hexadecimal digits of the keyed hash of a key: 128 bits. */
const NAME_DIGITS = 32;

export class KeyedContract extends Contract {
  readonly keyed: KeyedImage;
  readonly keys: Keys;
  /** Events since it came alive for which there was no place: refused, or counted by the gate that such keys share. */
  refused = 0;
  shared = 0;
  /** What changed since it was stored, in that order: a key, or the contract itself. */
  readonly #changed = new Queue<'key' | 'self'>();
  /** What keys without a place are told in a cycle: made once, however many a stranger makes up. */
  #full: { readonly cycle: number; readonly failure: Failure } | undefined;

  constructor(
    image: ContractImage,
    keyed: KeyedImage,
    plan: Plan,
    machine: Chain,
    cycle: number,
    context: HostContext,
    saved?: ContractState,
  ) {
    super(image, plan, machine, cycle, context, saved);
    this.keyed = keyed;
    this.keys = new Keys({
      plan,
      context,
      cycle,
      most: keyed.maxKeys,
      hearsAll: this.gate.hearsAll,
      make: (number, name, at, state) =>
        new KeyContract(this.keys, number, name, image, plan, machine, at, context, state),
      onDirty: () => this.#note('key'),
      forgotten: (name) => context.store.forgetKey(image.id, name),
    });
    this.tally.ofKeys = this.keys.figures;
  }

  override get limiting(): number {
    return super.limiting + this.keys.limited;
  }

  /** What a key is called in store and record. */
  nameOf(key: string): string {
    const { secret } = this.keyed;
    return secret === undefined ? key : createHmac('sha256', secret).update(key).digest('hex').slice(0, NAME_DIGITS);
  }

  /**
   * Counts `n` events of a key and decides them. See `Gate.decide`.
   * @param name by `nameOf`
   * @throws Failure `too_many_keys`, `contract_failed`, and what `claimMemory` throws
   */
  decideKey(name: string, n: number, cycle: number, kind = 0): number {
    const quiet = this.decideQuietly(name, n, cycle);
    return quiet >= 0 ? quiet : this.asKey(name, cycle, (one) => one.decide(n, this.keys.cycle, kind));
  }

  /** As `decideKey`, unless a transition can fire. @returns how many were admitted; -1: no event was counted, use `asKey` */
  decideQuietly(name: string, n: number, cycle: number): number {
    this.reach(cycle);
    const key = this.#keyOf(name);
    return key === 0 ? -1 : this.keys.decideQuietly(key, n);
  }

  /**
   * Makes sure that a key has a place, if only the shared one.
   * @throws Failure `too_many_keys`
   */
  claim(name: string, cycle: number): void {
    this.reach(cycle);
    this.#keyOf(name);
  }

  /**
   * Does something with a key as a contract of its own; with the one that keys share, where it found no place.
   * @throws Failure `too_many_keys`, and what the work throws
   */
  asKey<T>(name: string, cycle: number, work: (contract: Contract) => T): T {
    const contract = this.wakeKey(name, cycle);
    try {
      return work(contract);
    } finally {
      this.settle(contract);
    }
  }

  /** The contract of a key, to be settled after the work on it. */
  wakeKey(name: string, cycle: number): Contract {
    this.reach(cycle);
    const key = this.#keyOf(name);
    if (key !== 0) {
      // What follows counts: the key is idle a window after it, whether it sleeps by then or not.
      this.keys.table.touch(key, this.keys.cycle);
      return this.keys.wake(key, this.keys.cycle);
    }
    this.shared += 1;
    return this;
  }

  /** After work on a contract that `wakeKey` gave. */
  settle(contract: Contract): void {
    if (contract instanceof KeyContract) this.keys.settle(contract);
  }

  /**
   * How a key stands; one that is not there as it would be made.
   * @throws Failure `too_many_keys`
   */
  viewOf(name: string, cycle: number): KeyView {
    this.reach(cycle);
    const { keys, context } = this;
    const key = keys.table.find(name);
    if (key !== 0) return keys.viewOf(key);
    if (keys.table.size < this.keyed.maxKeys || keys.table.firstIdle !== 0) {
      return new KeyContract(keys, 0, name, this.image, this.plan, this.machine, keys.cycle, context);
    }
    if (this.keyed.overflow === 'refuse') throw this.#tooMany();
    this.advance(cycle);
    return this;
  }

  /** Forgets keys that have been idle for long enough; looks at up to `most`. @returns how many it has looked at */
  forgetIdle(cycle: number, most: number): number {
    this.reach(cycle);
    return this.keys.forgetIdle(this.keyed.idleCycles, most);
  }

  override delete(): void {
    super.delete();
    this.keys.stop();
  }

  override save(): void {
    if (this.isDeleted) return;
    if (this.#changed.shift() === 'self') {
      super.save();
      return;
    }
    const state = this.keys.nextDirty();
    if (state !== undefined) this.context.store.putState({ id: this.id, ...state });
  }

  protected override changed(): void {
    this.isDirty = true;
    this.#note('self');
  }

  #note(what: 'key' | 'self'): void {
    this.#changed.push(what);
    this.context.changed.push(this);
  }

  /** Goes on to a cycle, once what is due by then has woken. Time never goes back. */
  reach(cycle: number): void {
    if (this.failure !== undefined) throw this.failure;
    if (cycle <= this.keys.cycle) return;
    this.context.wakes.catchUp(cycle);
    this.keys.reach(cycle);
  }

  /** The number of a key, which may be new; 0 where it finds no place and keys share one. */
  #keyOf(name: string): number {
    const { keys, keyed } = this;
    const known = keys.table.find(name);
    if (known !== 0) return known;
    keys.forgetIdle(keyed.idleCycles, FORGOTTEN_AT_ONCE);
    if (keys.table.size < keyed.maxKeys || keys.forgetOne()) {
      this.context.claimMemory?.();
      return keys.take(name);
    }
    if (keyed.overflow === 'share') return 0;
    this.refused += 1;
    throw this.#tooMany();
  }

  #tooMany(): Failure {
    const { cycle, table } = this.keys;
    if (this.#full?.cycle === cycle) return this.#full.failure;
    const failure = tooManyKeys(this, table.nextIdleCycle);
    this.#full = { cycle, failure };
    return failure;
  }
}

/** As the record says it: the secret stays in the store. */
export function keyedFields(keyed: KeyedImage | undefined): Pick<AuditEntry, 'keyed'> {
  if (keyed === undefined) return {};
  const { maxKeys: max_keys, idleCycles: idle_cycles, overflow, secret } = keyed;
  return { keyed: { max_keys, idle_cycles, overflow, store_keys: secret === undefined ? 'plain' : 'hashed' } };
}

/** A contract of a machine: with keys, where it was made so. */
export function makeContract(
  image: ContractImage,
  plan: Plan,
  machine: Chain,
  cycle: number,
  context: HostContext,
  saved?: ContractState,
): Contract {
  if (image.keyed === undefined) return new Contract(image, plan, machine, cycle, context, saved);
  return new KeyedContract(image, image.keyed, plan, machine, cycle, context, saved);
}

/** For a key without a place. @param againCycle when there may be one; undefined where that is not known */
export function tooManyKeys({ id, image }: Pick<Contract, 'id' | 'image'>, againCycle?: number): Failure {
  return new Failure('too_many_keys', {
    what: 'The event was not counted.',
    why: `The contract ${id} has ${image.keyed?.maxKeys} keys, as many as it may, and all of them have counts.`,
    againCycle,
    fix: 'Wait until a window is empty, or deploy it with more max_keys, or with the overflow "share".',
  });
}
