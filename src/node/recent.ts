// Owns a map of bounded size that forgets what was not asked for lately. One look-up where the answer is fresh: no list to relink.
//
//   get ─► young ─ miss ─► old ─ hit ─► moved to young          young full: it becomes old, and the old one is forgotten

export class Recent<Value> {
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  /** @param size entries that are kept at least; never more than twice as many */
  constructor(private readonly size: number) {}

  get(key: string): Value | undefined {
    const fresh = this.#young.get(key);
    if (fresh !== undefined) return fresh;
    const value = this.#old.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.#young.set(key, value);
    if (this.#young.size < this.size) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
