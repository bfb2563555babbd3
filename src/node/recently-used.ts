// A bounded map that drops what was not used recently. A fresh hit takes one look-up: there is no list to relink.
//
//   get ─► young ─ miss ─► old ─ hit ─► moved to young          young full: it becomes old, and the old one is dropped
export class RecentlyUsed<Value> {
  readonly #size: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  /** @param size minimum number of entries kept; never more than twice as many */
  constructor(size: number) {
    this.#size = size;
  }

  get(key: string): Value | undefined {
    const fresh = this.#young.get(key);
    if (fresh !== undefined) return fresh;
    const value = this.#old.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#size) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  drop(fits: (value: Value) => boolean): void {
    for (const part of [this.#young, this.#old]) for (const [key, value] of part) if (fits(value)) part.delete(key);
  }
}
