// Serializes answers whose lists grow with the number of contracts, in steps: at once, that of an event of 10,000 contracts takes 20 ms.
// Paged lists are written at once: see `limitOf`.
import type { Steps } from '../core/limiter/plan.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

const AT_ONCE = 50;

/** Items with a longer list are written one by one. */
const SHORT_LIST = 8;

/** Buffers are outside the heap: pending strings would be copied by each garbage collection. */
export function* jsonInSteps(answer: object): Steps<Buffer> {
  const pieces: Buffer[] = [];
  yield* writeFields(answer, pieces);
  return Buffer.concat(pieces);
}

function* writeFields(fields: object, pieces: Buffer[]): Steps<void> {
  let before = '{';
  for (const [name, value] of Object.entries(fields)) {
    const field = `${before}${JSON.stringify(name)}:`;
    pieces.push(Buffer.from(Array.isArray(value) ? field : field + JSON.stringify(value)));
    if (Array.isArray(value)) yield* writeItems(value, pieces);
    before = ',';
  }
  pieces.push(Buffer.from('}'));
}

function* writeItems(items: readonly unknown[], pieces: Buffer[]): Steps<void> {
  pieces.push(Buffer.from('['));
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const some = items.slice(from, from + AT_ONCE);
    if (from > 0) pieces.push(Buffer.from(','));
    if (some.some(hasLongList)) yield* writeLongItems(some, pieces);
    else pieces.push(Buffer.from(JSON.stringify(some).slice(1, -1)));
    yield;
  }
  pieces.push(Buffer.from(']'));
}

function* writeLongItems(items: readonly unknown[], pieces: Buffer[]): Steps<void> {
  for (const [index, item] of items.entries()) {
    if (index > 0) pieces.push(Buffer.from(','));
    if (hasLongList(item)) yield* writeFields(item, pieces);
    else pieces.push(Buffer.from(JSON.stringify(item)));
  }
}

function hasLongList(item: unknown): item is object {
  return Object.values(Object(item)).some((value) => Array.isArray(value) && value.length > SHORT_LIST);
}
