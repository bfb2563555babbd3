// A queue with constant-time `shift`, which also gives up its last item.

const CUT = 1_024;

export class FifoQueue<T> {
  #items: T[] = [];
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  get first(): T | undefined {
    return this.#items[this.#first];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#first]!;
    this.#first += 1;
    if (this.#first === this.#items.length) this.clear();
    else if (this.#first >= CUT && 2 * this.#first >= this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  pop(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items.pop();
    if (this.length === 0) this.clear();
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#first = 0;
  }
}
