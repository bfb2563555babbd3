// Answers with long lists: their JSON is made some items at a time, each time when the turn of who asked comes. One list of 1,000
// contracts in one piece would keep everybody else waiting for some 10 ms.
import type { Turns } from './fair-queue.js';

/** The content type of what is written here. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** Items of a list that are written in one go. */
export const ITEMS_AT_ONCE = 50;

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
  let text = JSON.stringify(head).slice(0, -1);
  for (const [name, next] of Object.entries(lists)) {
    const texts: string[] = [];
    const piece = () => {
      const items = next();
      if (items.length > 0) texts.push(items.map((item) => JSON.stringify(item)).join());
      return items.length > 0;
    };
    while (await turns.of(source, piece));
    text += `,${JSON.stringify(name)}:[${texts.join()}]`;
  }
  return Buffer.from(`${text}}`);
}

/** The JSON of an object, with a list of JSON texts as its last field. */
export function arrayLast(head: object, name: string, texts: readonly string[]): Buffer {
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},${JSON.stringify(name)}:[${texts.join()}]}`);
}

/** Goes through a list, some items at a time. */
export function someOf<Item, View>(items: readonly Item[], viewOf: (item: Item) => View): () => readonly View[] {
  let at = 0;
  return () => {
    const some = items.slice(at, at + ITEMS_AT_ONCE);
    at += some.length;
    return some.map(viewOf);
  };
}
