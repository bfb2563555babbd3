// Answers with long lists: their JSON is made some items at a time, each time when the turn of who asked comes. One list of 1,000
// contracts in one piece would keep everybody else waiting for some 10 ms.
import type { Turns } from './fair-queue.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

export const ITEMS_AT_ONCE = 50;

/**
 * Items of a list as JSON, with commas between them. They are kept as bytes outside the heap: thousands of texts that wait for the end of
 * an answer would be copied by each collection meanwhile, and that took 10 to 20 ms of everybody's time.
 */
export class JsonItems {
  readonly #pieces: Buffer[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(texts: readonly string[]): void {
    if (texts.length > 0) this.#pieces.push(Buffer.from(`${this.#count === 0 ? '' : ','}${texts.join()}`));
    this.#count += texts.length;
  }

  /** The field of an object that follows others, with its value. */
  field(name: string): readonly Buffer[] {
    return [Buffer.from(`,${JSON.stringify(name)}:[`), ...this.#pieces, Buffer.from(']')];
  }
}

/**
 * The JSON of an object that ends with lists.
 * @param lists by name, what gives the items that follow: ITEMS_AT_ONCE of them or so, none at the end
 */
export async function answerInTurns(
  turns: Turns,
  source: string,
  head: object,
  lists: Readonly<Record<string, () => readonly unknown[]>>,
): Promise<Buffer> {
  const fields: (readonly Buffer[])[] = [];
  for (const [name, next] of Object.entries(lists)) {
    const json = new JsonItems();
    const piece = () => {
      const items = next();
      json.add(items.map((item) => JSON.stringify(item)));
      return items.length > 0;
    };
    while (await turns.of(source, piece));
    fields.push(json.field(name));
  }
  return withFields(head, fields);
}

/** The JSON of an object, with a list as its last field. */
export function arrayLast(head: object, name: string, items: JsonItems): Buffer {
  return withFields(head, [items.field(name)]);
}

function withFields(head: object, fields: readonly (readonly Buffer[])[]): Buffer {
  return Buffer.concat([Buffer.from(JSON.stringify(head).slice(0, -1)), ...fields.flat(), Buffer.from('}')]);
}

export function someOf<Item, View>(items: readonly Item[], viewOf: (item: Item) => View): () => readonly View[] {
  let at = 0;
  return () => {
    const some = items.slice(at, at + ITEMS_AT_ONCE);
    at += some.length;
    return some.map(viewOf);
  };
}
