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
    const item = this.first;
    if (this.length > 0) this.#first += 1;
    if (this.length === 0 || (this.#first >= CUT && 2 * this.#first >= this.#items.length)) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  pop(): T | undefined {
    return this.length === 0 ? undefined : this.#items.pop();
  }

  clear(): void {
    this.#items = [];
    this.#first = 0;
  }
}
