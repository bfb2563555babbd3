// An immutable queue.
//
//   front  1 -> 2 -> 3        back  6 -> 5 -> 4        holds 1 2 3 4 5 6; the back is reversed when the front is used up
//
// A state is a value, so that a trace can keep earlier ones; copying thousands of items per event would be slow. All in amortized O(1).

interface Link<Item> {
  readonly item: Item;
  readonly next: Link<Item> | undefined;
}

export class Backlog<Item> {
  readonly size: number;
  readonly #front: Link<Item> | undefined;
  readonly #back: Link<Item> | undefined;

  private constructor(size: number, front: Link<Item> | undefined, back: Link<Item> | undefined) {
    this.size = size;
    this.#front = front;
    this.#back = back;
  }

  static of<Item>(...items: readonly Item[]): Backlog<Item> {
    return items.reduce((all, item) => all.with(item), new Backlog<Item>(0, undefined, undefined));
  }

  with(item: Item): Backlog<Item> {
    return new Backlog(this.size + 1, this.#front, { item, next: this.#back });
  }

  withFirst(item: Item): Backlog<Item> {
    return new Backlog(this.size + 1, { item, next: this.#front }, this.#back);
  }

  take(n: number): { readonly taken: readonly Item[]; readonly rest: Backlog<Item> } {
    const taken: Item[] = [];
    let [front, back] = [this.#front, this.#back];
    while (taken.length < n) {
      if (front === undefined) [front, back] = [reversed(back), undefined];
      if (front === undefined) break;
      taken.push(front.item);
      front = front.next;
    }
    return { taken, rest: new Backlog(this.size - taken.length, front, back) };
  }

  toJSON(): { readonly size: number } {
    return { size: this.size };
  }
}

function reversed<Item>(links: Link<Item> | undefined): Link<Item> | undefined {
  let result: Link<Item> | undefined;
  for (let link = links; link !== undefined; link = link.next) result = { item: link.item, next: result };
  return result;
}
