// The keys of a contract: a number for each, and the order in which they may be forgotten.
//
//   by the cycle of the last count     | 40 | 41 | 42 |     span = 60: when cycle 100 begins, all keys of 40 are idle. Their list is
//                                        b    a    d        hung behind the others in one step, however many they are
//                                        c
//   idle, longest first                e ─► f ─► g
//
// Names lie in many small maps: a map of a million names would stop the node for as long as it takes to grow.
import { Records } from '../limiter/sparse-windows.js';

const SHARDS = 256;

const PREVIOUS = 0;
const NEXT = 1;
/** Cycle of the last count, modulo 2^32. */
const TOUCHED = 2;
const FLAGS = 3;

/** Is in one of the lists. The other flags are those of the owner, from 0 to 2^31 - 1. */
const LISTED = 0x8000_0000;

export class KeyTable {
  size = 0;
  last = 0;
  /** Cycles after its last count for which a key is not idle. */
  readonly span: number;
  readonly #shards: Map<string, number>[] = [];
  readonly #names: (string | undefined)[] = [];
  readonly #records: Records;
  /** The first of each list by cycle, modulo a power of 2 that divides 2^32; 0 for none. */
  readonly #heads: Uint32Array;
  #firstIdle = 0;
  #free = 0;
  #cycle: number;

  /**
   * @param span cycles after its last count for which a key is not idle, an integer from 1
   * @param cycle the cycle at which it begins
   * @param most keys at a time
   */
  constructor(span: number, cycle: number, most: number) {
    this.span = span;
    this.#cycle = cycle;
    this.#records = new Records(4, most);
    this.#heads = new Uint32Array(1 << (32 - Math.clz32(span - 1)));
  }

  find(name: string): number {
    return this.#shards[shardOf(name)]?.get(name) ?? 0;
  }

  nameOf(key: number): string {
    return this.#names[key]!;
  }

  has(key: number): boolean {
    return this.#names[key] !== undefined;
  }

  /** A number for a new key that counts in `cycle`. Its flags are what `drop` left. */
  take(name: string, cycle: number): number {
    // A copy: a part of a longer text, such as an address, would keep the whole of it in memory.
    const own = Buffer.from(name).toString();
    let key = this.#free;
    if (key === 0) {
      this.last += 1;
      key = this.last;
      this.#records.reach(key);
    } else this.#free = this.#records.get(key, NEXT);
    this.#names[key] = own;
    const shard = shardOf(own);
    this.#shards[shard] ??= new Map();
    this.#shards[shard].set(own, key);
    this.size += 1;
    this.#list(key, cycle);
    return key;
  }

  /** @param kept flags that outlive the key, for the next one with its number */
  drop(key: number, kept: number): void {
    this.unlist(key);
    const name = this.#names[key]!;
    this.#shards[shardOf(name)]?.delete(name);
    this.#names[key] = undefined;
    this.#records.set(key, FLAGS, kept);
    this.#records.set(key, NEXT, this.#free);
    this.#free = key;
    this.size -= 1;
  }

  flags(key: number): number {
    return this.#records.get(key, FLAGS) & ~LISTED;
  }

  setFlags(key: number, flags: number): void {
    this.#records.set(key, FLAGS, (this.#records.get(key, FLAGS) & LISTED) | flags);
  }

  touch(key: number, cycle: number): void {
    const records = this.#records;
    if (records.get(key, TOUCHED) === cycle >>> 0 && (records.get(key, FLAGS) & LISTED) !== 0) return;
    this.unlist(key);
    this.#list(key, cycle);
  }

  /** A key that is not listed is never idle. */
  unlist(key: number): void {
    const records = this.#records;
    const flags = records.get(key, FLAGS);
    if ((flags & LISTED) === 0) return;
    records.set(key, FLAGS, flags & ~LISTED);
    const next = records.get(key, NEXT);
    const previous = records.get(key, PREVIOUS);
    records.set(previous, NEXT, next);
    records.set(next, PREVIOUS, previous);
    const first = next === key ? 0 : next;
    if (this.#age(key) >= this.span) {
      if (this.#firstIdle === key) this.#firstIdle = first;
      return;
    }
    const list = this.#listOf(records.get(key, TOUCHED));
    if (this.#heads[list] === key) this.#heads[list] = first;
  }

  reach(cycle: number): void {
    const steps = Math.min(cycle - this.#cycle, this.span);
    for (let from = this.#cycle + 1 - this.span, step = 0; step < steps; step += 1) {
      const list = this.#listOf(from + step);
      const head = this.#heads[list]!;
      if (head === 0) continue;
      this.#heads[list] = 0;
      this.#firstIdle = this.#firstIdle === 0 ? head : this.#joined(this.#firstIdle, head);
    }
    this.#cycle = Math.max(this.#cycle, cycle);
  }

  /** The key that has been idle longest; 0 for none. */
  get firstIdle(): number {
    return this.#firstIdle;
  }

  /** The first cycle after this one in which another key may be idle. */
  get nextIdleCycle(): number | undefined {
    for (let step = 1; step <= this.span; step += 1)
      if (this.#heads[this.#listOf(this.#cycle + step - this.span)] !== 0) return this.#cycle + step;
    return undefined;
  }

  idleFor(key: number): number {
    return this.#age(key) - this.span;
  }

  #listOf(cycle: number): number {
    return (cycle & (this.#heads.length - 1)) >>> 0;
  }

  #age(key: number): number {
    return (this.#cycle - this.#records.get(key, TOUCHED)) >>> 0;
  }

  #list(key: number, cycle: number): void {
    const records = this.#records;
    records.set(key, TOUCHED, cycle);
    records.set(key, FLAGS, records.get(key, FLAGS) | LISTED);
    records.set(key, PREVIOUS, key);
    records.set(key, NEXT, key);
    if (this.#age(key) >= this.span) {
      this.#firstIdle = this.#firstIdle === 0 ? key : this.#joined(this.#firstIdle, key);
      return;
    }
    const list = this.#listOf(records.get(key, TOUCHED));
    const head = this.#heads[list]!;
    this.#heads[list] = head === 0 ? key : this.#joined(head, key);
  }

  #joined(first: number, second: number): number {
    const records = this.#records;
    const firstEnd = records.get(first, PREVIOUS);
    const secondEnd = records.get(second, PREVIOUS);
    records.set(firstEnd, NEXT, second);
    records.set(second, PREVIOUS, firstEnd);
    records.set(secondEnd, NEXT, first);
    records.set(first, PREVIOUS, secondEnd);
    return first;
  }
}

/** By the last characters: in addresses and ids they differ more than the first. */
function shardOf(name: string): number {
  const end = name.length;
  const mixed = name.charCodeAt(end - 1) * 31 + name.charCodeAt(end - 2) * 17 + name.charCodeAt(end - 3) * 7 + end;
  return mixed & (SHARDS - 1);
}
