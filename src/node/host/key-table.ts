// The keys of a contract: a number for each, and the order of eviction.
//
//   by the cycle of the last count     | 40 | 41 | 42 |     span = 60: when cycle 100 begins, all keys of 40 are idle. Their list is
//                                        b    a    d        appended to the idle list in one step, whatever its length
//                                        c
//   idle, longest first                e ─► f ─► g
//
//   name ─► hash ─► slot: | hash | number | ─► row of the number: | order, flags | fields of the owner | name |
//
// With a million keys, each memory access is a cache miss: short names are stored in the row itself and compared four letters at a time.
// Slots are spread over many small tables, because growing a single one of a million would block the node.

import { Records } from '../../core/limiter/sparse-windows.js';
import { KeyedHash } from '../../core/math/keyed-hash.js';

const SHARD_BITS = 8;
const FEW_SLOTS = 8;

const PREVIOUS = 0;
const NEXT = 1;
/** Cycle of the last count, modulo 2^32. */
const TOUCHED = 2;
const FLAGS = 3;
const OWN_FIELD = 4;

/** Four letters each: enough for the hash that a store keeps instead of a name. */
const NAME_WORDS = 8;

// Bits of FLAGS: whether the key is in a list; the length of its name plus 1 (0: no key); the owner's flags.
const LISTED = 0x8000_0000;
const OWN_FLAGS = 0xff_ffff;
const NAME_SHIFT = 24;
const NAME_LENGTH = 0x7f;
/** Instead of a length: the name does not fit, and the row holds its index in `#long`. */
const LONG = NAME_LENGTH - 1;

export class KeyTable {
  size = 0;
  last = 0;
  readonly span: number;
  readonly records: Records;
  /** The owner's first field. Fields start as 0; those of a dropped key are left for the next key with its number. */
  readonly ownField = OWN_FIELD;
  readonly #nameField: number;
  readonly #hash = new KeyedHash();
  /** Pairs of a hash and the number of a key; 0 for none. */
  readonly #shards: (Int32Array | undefined)[] = [];
  readonly #sizes = new Uint32Array(1 << SHARD_BITS);
  #words = new Uint32Array(NAME_WORDS);
  readonly #long: string[] = [];
  readonly #freeLong: number[] = [];
  /** The first key of each list by cycle, modulo a power of 2 that divides 2^32; 0 for none. */
  readonly #heads: Uint32Array;
  #firstIdle = 0;
  #free = 0;
  #cycle: number;

  /** @param span cycles without a count until a key is idle @param ownFields 32-bit fields of the owner per row */
  constructor(span: number, cycle: number, most: number, ownFields: number) {
    this.span = span;
    this.#cycle = cycle;
    this.#nameField = OWN_FIELD + ownFields;
    this.records = new Records(this.#nameField + NAME_WORDS, most);
    this.#heads = new Uint32Array(1 << (32 - Math.clz32(span - 1)));
  }

  find(name: string): number {
    const length = this.#pack(name);
    return this.#find(name, length, this.#hashOf(name, length));
  }

  nameOf(key: number): string {
    const length = this.#lengthOf(key);
    if (length === LONG) return this.#long[this.records.get(key, this.#nameField)]!;
    let name = '';
    for (let at = 0; at < length; at += 1) {
      name += String.fromCharCode((this.records.get(key, this.#nameField + (at >> 2)) >>> (8 * (at & 3))) & 0xff);
    }
    return name;
  }

  has(key: number): boolean {
    return this.#lengthOf(key) >= 0;
  }

  /** The number of a new key. Its flags are those that `drop` kept. */
  take(name: string, cycle: number): number {
    const records = this.records;
    let key = this.#free;
    if (key === 0) {
      this.last += 1;
      key = this.last;
      records.reach(key);
    } else this.#free = records.get(key, NEXT);
    const length = this.#pack(name);
    if (length === LONG) records.set(key, this.#nameField, this.#keep(name));
    else for (let word = 0; 4 * word < length; word += 1) records.set(key, this.#nameField + word, this.#words[word]!);
    records.set(key, FLAGS, records.get(key, FLAGS) | ((length + 1) << NAME_SHIFT));
    this.#put(this.#hashOf(name, length), key);
    this.size += 1;
    this.#list(key, cycle);
    return key;
  }

  /** @param kept flags that the next key with this number inherits */
  drop(key: number, kept: number): void {
    this.unlist(key);
    const name = this.nameOf(key);
    const length = this.#pack(name);
    this.#remove(this.#hashOf(name, length), key);
    if (length === LONG) {
      const place = this.records.get(key, this.#nameField);
      this.#long[place] = '';
      this.#freeLong.push(place);
    }
    this.records.set(key, FLAGS, kept);
    this.records.set(key, NEXT, this.#free);
    this.#free = key;
    this.size -= 1;
  }

  flags(key: number): number {
    return this.records.get(key, FLAGS) & OWN_FLAGS;
  }

  setFlags(key: number, flags: number): void {
    this.records.set(key, FLAGS, (this.records.get(key, FLAGS) & ~OWN_FLAGS) | flags);
  }

  touch(key: number, cycle: number): void {
    const records = this.records;
    if (records.get(key, TOUCHED) === cycle >>> 0 && (records.get(key, FLAGS) & LISTED) !== 0) return;
    this.unlist(key);
    this.#list(key, cycle);
  }

  unlist(key: number): void {
    const records = this.records;
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

  get firstIdle(): number {
    return this.#firstIdle;
  }

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
    return (this.#cycle - this.records.get(key, TOUCHED)) >>> 0;
  }

  #list(key: number, cycle: number): void {
    const records = this.records;
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
    const records = this.records;
    const firstEnd = records.get(first, PREVIOUS);
    const secondEnd = records.get(second, PREVIOUS);
    records.set(firstEnd, NEXT, second);
    records.set(second, PREVIOUS, firstEnd);
    records.set(secondEnd, NEXT, first);
    records.set(first, PREVIOUS, secondEnd);
    return first;
  }

  #pack(name: string): number {
    const { length } = name;
    if (length > 4 * NAME_WORDS) return this.#packLong(name);
    for (let at = 0, word = 0; at < length; at += 1) {
      const letter = name.charCodeAt(at);
      if (letter > 0xff) return this.#packLong(name);
      word = (at & 3) === 0 ? letter : word | (letter << (8 * (at & 3)));
      this.#words[at >> 2] = word;
    }
    return length;
  }

  #packLong(name: string): number {
    const count = (name.length + 1) >> 1;
    if (this.#words.length < count) this.#words = new Uint32Array(2 * count);
    // charCodeAt past the end is NaN, which is 0 here.
    for (let word = 0; word < count; word += 1) {
      this.#words[word] = name.charCodeAt(2 * word) | (name.charCodeAt(2 * word + 1) << 16);
    }
    return LONG;
  }

  #keep(name: string): number {
    const place = this.#freeLong.pop() ?? this.#long.length;
    // A copy: a substring would keep the whole original text in memory.
    this.#long[place] = Buffer.from(name).toString();
    return place;
  }

  #hashOf(name: string, length: number): number {
    if (length === LONG) return this.#hash.of(this.#words, (name.length + 1) >> 1, name.length);
    return this.#hash.of(this.#words, (length + 3) >> 2, length);
  }

  #lengthOf(key: number): number {
    return ((this.records.get(key, FLAGS) >>> NAME_SHIFT) & NAME_LENGTH) - 1;
  }

  #isNamed(key: number, name: string, length: number): boolean {
    if (this.#lengthOf(key) !== length) return false;
    if (length === LONG) return this.#long[this.records.get(key, this.#nameField)] === name;
    for (let word = 0; 4 * word < length; word += 1) {
      if (this.records.get(key, this.#nameField + word) !== this.#words[word]) return false;
    }
    return true;
  }

  #find(name: string, length: number, hash: number): number {
    const slots = this.#shards[hash >>> (32 - SHARD_BITS)];
    if (slots === undefined) return 0;
    const mask = slots.length - 2;
    for (let at = (hash << 1) & mask; ; at = (at + 2) & mask) {
      const key = slots[at + 1]!;
      if (key === 0 || (slots[at] === hash && this.#isNamed(key, name, length))) return key;
    }
  }

  #put(hash: number, key: number): void {
    const shard = hash >>> (32 - SHARD_BITS);
    this.#shards[shard] ??= new Int32Array(2 * FEW_SLOTS);
    const slots = this.#shards[shard];
    const size = this.#sizes[shard]! + 1;
    this.#sizes[shard] = size;
    // Load factor of at most three quarters.
    if (8 * size <= 3 * slots.length) {
      putInto(slots, hash, key);
      return;
    }
    const more = new Int32Array(2 * slots.length);
    for (let at = 0; at < slots.length; at += 2) if (slots[at + 1] !== 0) putInto(more, slots[at]!, slots[at + 1]!);
    putInto(more, hash, key);
    this.#shards[shard] = more;
  }

  #remove(hash: number, key: number): void {
    const shard = hash >>> (32 - SHARD_BITS);
    const slots = this.#shards[shard]!;
    const mask = slots.length - 2;
    this.#sizes[shard]! -= 1;
    let at = (hash << 1) & mask;
    while (slots[at + 1] !== key) at = (at + 2) & mask;
    // Open addressing without tombstones: moves later entries of the probe sequence up.
    for (let next = (at + 2) & mask; slots[next + 1] !== 0; next = (next + 2) & mask) {
      const steps = (next - (slots[next]! << 1)) & mask;
      if (steps < ((next - at) & mask)) continue;
      slots[at] = slots[next]!;
      slots[at + 1] = slots[next + 1]!;
      at = next;
    }
    slots[at + 1] = 0;
  }
}

function putInto(slots: Int32Array, hash: number, key: number): void {
  const mask = slots.length - 2;
  let at = (hash << 1) & mask;
  while (slots[at + 1] !== 0) at = (at + 2) & mask;
  slots[at] = hash;
  slots[at + 1] = key;
}
