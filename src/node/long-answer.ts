// The JSON of an answer whose lists follow the number of contracts, in steps: in one go, that of an event of 10,000 contracts would take 20 ms.
// Lists in pages are written in one go: see `limitOf`.
import type { Steps } from '../limiter/plan.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

const AT_ONCE = 50;

/** As bytes outside the heap: texts that wait for the end of an answer would be copied by each collection meanwhile. */
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
