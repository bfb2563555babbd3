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
const BLANK = /\s*/y;
const MOST_DEPTH = 100;

class Unreadable extends Error {}

/** What cannot be read is missing. */
export function readBoolean(text: string, comparison: ReadComparison): ask.RequestCondition {
  try {
    return wholeOf(text, comparison);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return ask.missing(`what ${text.length > 100 ? `${text.slice(0, 100)}…` : text} asks`);
  }
}

function wholeOf(text: string, comparison: ReadComparison): ask.RequestCondition {
  let [at, depth] = [0, 0];
  const takes = (sign: RegExp): boolean => {
    sign.lastIndex = at;
    const isThere = sign.test(text);
    if (isThere) at = sign.lastIndex;
    return isThere;
  };
  const list = (sign: RegExp, read: () => ask.RequestCondition): readonly ask.RequestCondition[] => {
    const all = [read()];
    while (takes(sign)) all.push(read());
    return all;
  };
  const either = (): ask.RequestCondition => ask.oneHolds(...list(OR, () => ask.allHold(...list(AND, one))));
  const one = (): ask.RequestCondition => {
    depth += 1;
    const found = depth > MOST_DEPTH ? undefined : takes(NOT) ? ask.not(one()) : takes(OPEN) ? closed() : compared();
    depth -= 1;
    if (found === undefined) throw new Unreadable();
    return found;
  };
  const closed = () => {
    const inner = either();
    return takes(CLOSE) ? inner : undefined;
  };
  const compared = () => {
    takes(BLANK);
    const { condition, length = 0 } = comparison(text.slice(at)) ?? {};
    at += length;
    return length === 0 ? undefined : condition;
  };
  const read = either();
  if (text.slice(at).trim() !== '') throw new Unreadable();
  return read;
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
