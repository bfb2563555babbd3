// Serializes answers whose lists grow with the number of contracts, in steps: at once, that of an event of 10,000 contracts takes 20 ms.
// Paged lists are written at once: see `limitOf`.
import type { Steps } from '../limiter/plan.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

const AT_ONCE = 50;

/** Buffers are outside the heap: pending strings would be copied by each garbage collection. */
export function* jsonInSteps(answer: object): Steps<Buffer> {
  const pieces: Buffer[] = [];
  for (const [name, value] of Object.entries(answer)) {
    const field = `${pieces.length === 0 ? '{' : ','}${JSON.stringify(name)}:`;
    if (!Array.isArray(value)) {
      pieces.push(Buffer.from(field + JSON.stringify(value)));
      continue;
    }
    pieces.push(Buffer.from(`${field}[`));
    for (let from = 0; from < value.length; from += AT_ONCE) {
      const some = JSON.stringify(value.slice(from, from + AT_ONCE)).slice(1, -1);
      pieces.push(Buffer.from(from === 0 ? some : `,${some}`));
      yield;
    }
    pieces.push(Buffer.from(']'));
  }
  pieces.push(Buffer.from('}'));
  return Buffer.concat(pieces);
}
