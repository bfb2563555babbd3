// Conditions written with signs for and, or and not: those of Traefik, Cloudflare, Google and Kong, which differ in their comparisons.
//
//   or   and ( ("||" | "or") and )*        and   not ( ("&&" | "and") not )*        not   ("!" | "not") not | "(" or ")" | comparison
import { literal } from './expression.js';
import type { Reach } from './found.js';
import * as ask from './request-condition.js';

/** A comparison at the beginning of a text, and its length; undefined if there is none. */
type ReadComparison = (
  text: string,
) => { readonly condition: ask.RequestCondition; readonly length: number } | undefined;

const AND = /\s*(?:&&|and\b)\s*/iy;
const OR = /\s*(?:\|\||or\b)\s*/iy;
const NOT = /\s*(?:!|not\b)\s*/iy;
const OPEN = /\s*\(\s*/y;
const CLOSE = /\s*\)\s*/y;
const MOST_DEPTH = 100;

class Unreadable extends Error {}

/** What cannot be read is missing. */
export function readBoolean(text: string, comparison: ReadComparison): ask.RequestCondition {
  const reader = new BooleanReader(text, comparison);
  try {
    return reader.whole();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return ask.missing(`what ${text.length > 100 ? `${text.slice(0, 100)}…` : text} asks`);
  }
}

class BooleanReader {
  #at = 0;
  #depth = 0;

  constructor(
    readonly text: string,
    readonly comparison: ReadComparison,
  ) {}

  whole(): ask.RequestCondition {
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

  #either(): ask.RequestCondition {
    return ask.oneHolds(...this.#list(OR, () => ask.allHold(...this.#list(AND, () => this.#one()))));
  }

  #list(sign: RegExp, read: () => ask.RequestCondition): readonly ask.RequestCondition[] {
    const all = [read()];
    while (this.#takes(sign)) all.push(read());
    return all;
  }

  #one(): ask.RequestCondition {
    if (++this.#depth > MOST_DEPTH) throw new Unreadable();
    try {
      if (this.#takes(NOT)) return ask.not(this.#one());
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

// A condition as hosts, paths and the rest: a log without hosts has requests for any, and routes are ordered by their hosts and paths.
//
//   Host(`a`) && (Path(`/x`) || Path(`/y`)) && Method(`POST`)     hosts a; paths /x, /y; when method is POST
export function reachFrom(condition: ask.RequestCondition): Reach {
  let hosts: readonly string[] = [];
  let paths: readonly ask.ValueTest[] = [];
  const rest: ask.RequestCondition[] = [];
  for (const one of condition.kind === 'and' ? condition.of : [condition]) {
    const [ownHosts, ownPaths] = [testsOf(one, 'host')?.map(hostOf), testsOf(one, 'path')?.map(pathOf)];
    if (ownHosts !== undefined && !ownHosts.includes(undefined) && hosts.length === 0) hosts = ownHosts as string[];
    else if (ownPaths !== undefined && !ownPaths.includes(undefined) && paths.length === 0)
      paths = ownPaths as ask.ValueTest[];
    else rest.push(one);
  }
  const when = ask.allHold(...rest);
  return { hosts, paths, ...(!ask.isAlways(when) && { when }) };
}

/** The alternatives of a condition on one field alone. */
function testsOf(condition: ask.RequestCondition, field: 'host' | 'path'): ask.TextTest[] | undefined {
  const all = condition.kind === 'or' ? condition.of : [condition];
  const tests = all.map((one) =>
    one.kind === 'test' && one.text.kind === 'field' && one.text.field === field ? one.test : undefined,
  );
  return tests.length === 0 || tests.includes(undefined) ? undefined : (tests as ask.TextTest[]);
}

function hostOf(test: ask.TextTest): string | undefined {
  if (test.is === 'equal') return test.value;
  if (test.is === 'matching') return `~${test.value}`;
  if (test.is === 'suffix') return test.value.startsWith('.') ? `*${test.value}` : `~${literal(test.value)}$`;
  return test.is === 'prefix' ? `~^${literal(test.value)}` : undefined;
}

const pathOf = (test: ask.TextTest) => ('value' in test ? test : undefined);
