// A log of instants: an entry stays for a window, and a request is admitted unless the log holds `limit` entries. A count over whole cycles
// is such a log on a clock whose steps are cycles.

import type { ParamsOf, RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import type { Range } from '../../core/math/range.js';
import type { Counted, RuleClock, RuleCounting, Span } from './counting.js';
import { atOnce, firstAfter, grainOf, joined, lastBefore, later, onClock, spanOf, tickOf } from './span.js';

/** The last `limit` entries, oldest first, in runs of entries with the same bounds; `least` and `most` ascend. */
interface Entries {
  readonly total: number;
  readonly n: Float64Array;
  readonly least: Float64Array;
  readonly most: Float64Array;
  /** The end of a block; -Infinity for none. */
  readonly until: Range;
}

type LogParams = ParamsOf<'sliding_log'> & Partial<ParamsOf<'sliding_log_block'>>;

const NO_BLOCK = { least: Number.NEGATIVE_INFINITY, most: Number.NEGATIVE_INFINITY };
const NONE = new Float64Array(0);
const NO_ENTRIES: Entries = { total: 0, n: NONE, least: NONE, most: NONE, until: NO_BLOCK };

export function logCounting(
  { primitive, params }: RuleDefinition,
  clock: RuleClock,
): RuleCounting<Entries> | undefined {
  switch (primitive) {
    case 'sliding_log':
    case 'sliding_log_block':
      return countingBy(params as LogParams, clock);
    case 'rolling_count': {
      const { threshold: limit = 100, within = 60, cycle_ms = 777 } = params as ParamsOf<'rolling_count'>;
      const cycles: RuleClock = { stepMs: 1, resolutionMs: cycle_ms };
      return countingBy({ limit, window_ms: within * cycle_ms, count_refused: true }, cycles);
    }
    default:
      return undefined;
  }
}

function countingBy(params: LogParams, clock: RuleClock): RuleCounting<Entries> | undefined {
  const { limit, window_ms, count_refused: all = false, edge, block_ms, dedup_same_time } = params;
  if (dedup_same_time || limit < 1) return undefined;
  const grainMs = grainOf(clock);
  const staysMs = edge === 'expires_after_end' ? window_ms + (tickOf(clock) || grainMs) : window_ms;
  const isBlocked = ({ until }: Entries) => until.most > Number.NEGATIVE_INFINITY;

  const tooMany = ({ total }: Entries, n: number) => Math.max(0, total + n - limit);

  const added = (entries: Entries, at: Span, n: number): Entries =>
    withLast(withoutFirst(entries, Math.min(entries.total, tooMany(entries, n))), at, Math.min(n, limit));

  const admit = (entries: Entries, span: Span, _released: Span, n: number): Counted<Entries>[] => {
    const { from, to } = onClock(span, clock);
    if (n > limit) return [];
    if (isBlocked(entries)) {
      const at = spanOf(Math.max(from, entries.until.least - grainMs), to);
      return at === undefined ? [] : [atOnce(added(NO_ENTRIES, at, n), at)];
    }
    const over = tooMany(entries, n);
    const first = over === 0 ? from : entries.least[runOf(entries, over)]! + staysMs - grainMs;
    const at = spanOf(Math.max(from, first), to);
    return at === undefined ? [] : [atOnce(added(entries, at, n), at)];
  };

  const refuse = (entries: Entries, span: Span, isCharged: boolean, n: number): Counted<Entries>[] => {
    const { from, to } = onClock(span, clock);
    if (isBlocked(entries)) {
      const at = spanOf(from, Math.min(to, lastBefore(entries.until.most, clock)));
      const least = Math.max(entries.until.least, firstAfter(from, clock));
      const blocked = at && atOnce({ ...entries, until: { ...entries.until, least } }, at);
      const after = n > limit ? spanOf(Math.max(from, entries.until.least - grainMs), to) : undefined;
      return [...(blocked ? [blocked] : []), ...(after ? refuse(NO_ENTRIES, after, isCharged, n) : [])];
    }
    const over = tooMany(entries, n);
    if (over === 0) return [];
    const run = over > entries.total ? entries.n.length : runOf(entries, over);
    const last = run < entries.n.length ? lastBefore(entries.most[run]! + staysMs, clock) : to;
    const at = spanOf(from, Math.min(to, last));
    if (at === undefined) return [];
    // This entry is still there, so younger ones cannot be older than `from - staysMs`.
    const younger = firstOf(entries, over) ? run : run + 1;
    const kept = { ...entries, least: raised(entries.least, firstAfter(from - staysMs, clock), younger) };
    if (!isCharged) return [atOnce(kept, at)];
    if (block_ms !== undefined) {
      return [atOnce({ ...NO_ENTRIES, until: later(at, block_ms) }, at)];
    }
    return [atOnce(all ? added(kept, at, n) : kept, at)];
  };

  return {
    stepMs: clock.stepMs,
    isBounded: true,
    holds: 'none',
    begin: () => [NO_ENTRIES],
    admit,
    refuse,
    settled(entries, tMs) {
      if (isBlocked(entries)) return entries.until.most <= tMs ? NO_ENTRIES : entries;
      let left = 0;
      for (let k = 0; k < entries.n.length && entries.most[k]! + staysMs <= tMs; k += 1) left += entries.n[k]!;
      return left === 0 ? entries : withoutFirst(entries, left);
    },
    key: (entries) => `${entries.total}/${isBlocked(entries)}`,
    join(one, other) {
      const until = joined(one.until, other.until);
      if (until === undefined && isWithin(one, other)) return undefined;
      return { ...widened(one, other), until: until ?? one.until };
    },
  };
}

function runOf({ n }: Entries, place: number): number {
  let run = 0;
  for (let left = place; left > n[run]!; run += 1) left -= n[run]!;
  return run;
}

function firstOf(entries: Entries, place: number): boolean {
  if (place === 1) return true;
  return place <= entries.total && runOf(entries, place) !== runOf(entries, place - 1);
}

function withLast({ total, n, least, most }: Entries, { from, to }: Span, count: number): Entries {
  const last = n.length - 1;
  const first = last < 0 ? from : Math.max(from, least[last]!);
  const isSame = last >= 0 && least[last] === first && most[last]! >= to;
  const length = isSame ? n.length : n.length + 1;
  const grown = (values: Float64Array, value: number) => {
    const next = new Float64Array(length);
    next.set(values);
    next[length - 1] = value;
    return next;
  };
  const mosts = grown(most, to);
  for (let k = length - 2; k >= 0 && mosts[k]! > to; k -= 1) mosts[k] = to;
  const next = { n: grown(n, isSame ? n[last]! + count : count), least: grown(least, first), most: mosts };
  return { ...next, total: total + count, until: NO_BLOCK };
}

function withoutFirst(entries: Entries, dropped: number): Entries {
  let [left, k] = [dropped, 0];
  while (k < entries.n.length && entries.n[k]! <= left) {
    left -= entries.n[k]!;
    k += 1;
  }
  const n = left === 0 ? entries.n.subarray(k) : entries.n.slice(k);
  if (left > 0) n[0]! -= left;
  const [least, most] = [entries.least.subarray(k), entries.most.subarray(k)];
  return { ...entries, total: entries.total - dropped, n, least, most };
}

/** Calls `visit` for each run common to both, with its length and its index in each, until it returns false. */
function everyRun(one: Entries, other: Entries, visit: (n: number, k: number, j: number) => boolean): boolean {
  let [k, j] = [0, 0];
  let [left, leftOther] = [one.n[0] ?? 0, other.n[0] ?? 0];
  while (left > 0 && leftOther > 0) {
    const n = Math.min(left, leftOther);
    if (!visit(n, k, j)) return false;
    left -= n;
    leftOther -= n;
    if (left === 0) left = one.n[++k] ?? 0;
    if (leftOther === 0) leftOther = other.n[++j] ?? 0;
  }
  return true;
}

function isWithin(one: Entries, other: Entries): boolean {
  return everyRun(one, other, (_, k, j) => one.least[k]! <= other.least[j]! && one.most[k]! >= other.most[j]!);
}

function widened(one: Entries, other: Entries): Entries {
  const [n, least, most]: [number[], number[], number[]] = [[], [], []];
  everyRun(one, other, (count, k, j) => {
    const from = Math.min(one.least[k]!, other.least[j]!);
    const to = Math.max(one.most[k]!, other.most[j]!);
    const last = n.length - 1;
    if (last >= 0 && least[last] === from && most[last] === to) n[last]! += count;
    else [n[last + 1], least[last + 1], most[last + 1]] = [count, from, to];
    return true;
  });
  return { ...one, n: Float64Array.from(n), least: Float64Array.from(least), most: Float64Array.from(most) };
}

function raised(values: Float64Array, least: number, from: number): Float64Array {
  if (from >= values.length || values[from]! >= least) return values;
  const next = values.slice();
  for (let k = from; k < next.length && next[k]! < least; k += 1) next[k] = least;
  return next;
}
