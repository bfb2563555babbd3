// Conditions written with signs for and, or and not: those of Traefik, Cloudflare, Google and Kong, which differ in their comparisons.
//
//   or   and ( ("||" | "or") and )*        and   not ( ("&&" | "and") not )*        not   ("!" | "not") not | "(" or ")" | comparison
import { allHold, missing, not, oneHolds, type RequestCondition } from './request-condition.js';

/** A comparison at the beginning of a text, and its length; undefined if there is none. */
type ReadComparison = (text: string) => { readonly condition: RequestCondition; readonly length: number } | undefined;

const AND = /\s*(?:&&|and\b)\s*/iy;
const OR = /\s*(?:\|\||or\b)\s*/iy;
const NOT = /\s*(?:!|not\b)\s*/iy;
const OPEN = /\s*\(\s*/y;
const CLOSE = /\s*\)\s*/y;
const MOST_DEPTH = 100;

class Unreadable extends Error {}

/** What cannot be read is missing. */
export function readBoolean(text: string, comparison: ReadComparison): RequestCondition {
  const reader = new BooleanReader(text, comparison);
  try {
    return reader.whole();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return missing(`what ${text.length > 100 ? `${text.slice(0, 100)}…` : text} asks`);
  }
}

class BooleanReader {
  #at = 0;
  #depth = 0;

  constructor(
    readonly text: string,
    readonly comparison: ReadComparison,
  ) {}

  whole(): RequestCondition {
    const read = this.#either();
    if (this.text.slice(this.#at).trim() !== '') throw new Unreadable();
    return read;
  }

  #takes(sign: RegExp): boolean {
    sign.lastIndex = this.#at;
    if (!sign.test(this.text)) return false;
    this.#at = sign.lastIndex;
    return true;
  }

  #either(): RequestCondition {
    const all = [this.#both()];
    while (this.#takes(OR)) all.push(this.#both());
    return oneHolds(...all);
  }

  #both(): RequestCondition {
    const all = [this.#one()];
    while (this.#takes(AND)) all.push(this.#one());
    return allHold(...all);
  }

  #one(): RequestCondition {
    if (++this.#depth > MOST_DEPTH) throw new Unreadable();
    try {
      if (this.#takes(NOT)) return not(this.#one());
      if (this.#takes(OPEN)) {
        const inner = this.#either();
        if (!this.#takes(CLOSE)) throw new Unreadable();
        return inner;
      }
      const blank = /\s*/y;
      this.#takes(blank);
      const found = this.comparison(this.text.slice(this.#at));
      if (found === undefined || found.length === 0) throw new Unreadable();
      this.#at += found.length;
      return found.condition;
    } finally {
      this.#depth -= 1;
    }
  }
}
