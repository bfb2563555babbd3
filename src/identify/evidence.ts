// What was asked and answered, as all of this room reads it. Pure.
//
//   a request   sent |--- f ---|~~ e ~~|--------- answered     counted once, f + e after its sending
//                        f      the shortest way there: the same for all, so no rule can tell it from a clock that is late
//                          e    what this request took longer on its way there: at most what it took longer in all
//
// So an instant is known as exactly as its answer was prompt; a slow request may have been counted anywhere within what it took longer.
//
// Requests of one key and one answer are alike: if there is an order of counting, there is one in which the k-th counted of the admitted
// comes after the k-th beginning and before the k-th end of any of them. So each key has two queues, of admitted and of limited ones.
import type { SeenRequest } from '../explain/seen-request.js';

export interface Seen extends SeenRequest {
  /** Requests of one key share a state; a key that was never used is fresh. */
  readonly key: string;
  readonly status?: number | undefined;
  /** What the answer says of the limit and of what is left: a hint. */
  readonly toldLimit?: number | undefined;
  readonly toldRemaining?: number | undefined;
  /** How much of the time between sending and answer is not known to be either, as a log tells times in whole seconds; in ms. Default: 0. */
  readonly vagueMs?: number | undefined;
  /** What an admitted request takes longer is not the limiter's: it is known to be worked on. */
  readonly isWork?: true | undefined;
}

/** Requests of one key with one answer, each column in order of time; all in ms. */
export interface Queue {
  /** When a request can have been counted first, and last. */
  readonly first: Float64Array;
  readonly last: Float64Array;
  readonly sent: Float64Array;
  readonly answered: Float64Array;
}

export interface KeyEvidence {
  readonly key: string;
  readonly admitted: Queue;
  readonly limited: Queue;
}

export interface Evidence {
  readonly seen: readonly Seen[];
  readonly keys: readonly KeyEvidence[];
  /** The shortest and the longest time that a request and its answer are under way, where nothing holds it; in ms. */
  readonly shortestMs: number;
  readonly longestMs: number;
  /** How far the instants of counting are unknown at most, in ms. */
  readonly slowestMs: number;
  /** Admitted requests took so much longer than others, that something held them. */
  readonly isHeld: boolean;
  /** When requests were sent whose instants are known badly; the last of them. */
  readonly slow: readonly number[];
  /** What the quickest took, admitted and limited ones apart; in ms. */
  readonly admittedMs: number;
  readonly limitedMs: number;
  /** How much quicker a request could be than the quickest that was seen, and how far all instants are unknown alike, in ms. */
  readonly slackMs: number;
  /** How far all instants are unknown alike, in ms: 0 but for those of a log. */
  readonly vagueMs: number;
  /** What a request took longer on its way there at most, where admitted ones are held behind it; Infinity where they are not. */
  readonly mostMs: number;
}

/** An answer that takes longer than others by less than this is not held, in ms. */
const HELD_MS = 15;
/** Admitted answers are held where so many are later than refused ones as happens by chance once in 700 times: in standard deviations. */
const BEYOND_CHANCE = 3;
/** Fewer than this say nothing. */
const FEW_HELD = 3;

/** @param whole what these are a part of: how long requests are under way is known from all of them */
export function evidenceOf(seen: readonly Seen[], whole?: Evidence): Evidence {
  if (whole !== undefined) return { ...whole, seen, keys: keysOf(seen, whole) };
  const vagueMs = seen.reduce((most, one) => Math.max(most, one.vagueMs ?? 0), 0);
  const took = (decision: Seen['decision']) =>
    seen
      .filter((one) => one.decision === decision)
      .map((one) => Math.max(0, one.answeredMs - one.sentMs - vagueMs))
      .sort((a, b) => a - b);
  const [admitted, limited] = [took('admitted'), took('limited')];
  const shortestMs = Math.min(admitted[0] ?? Infinity, limited[0] ?? Infinity, 1_000);
  const held = seen.some((one) => one.isWork) ? [] : laterThanRefused(seen, admitted, limited, vagueMs);
  const isHeld = held.length > 0;
  const heldFromMs = isHeld ? Math.min(...held) : Infinity;
  const free = admitted.filter((ms) => ms < heldFromMs);
  const usualMs = limited.length >= 5 ? quantile(limited, USUAL) : quantile(free.length > 0 ? free : admitted, USUAL);
  const longestMs = Math.max(shortestMs + 1, usualMs) + vagueMs;
  const times = {
    shortestMs,
    longestMs,
    admittedMs: (admitted[0] ?? shortestMs) + vagueMs,
    limitedMs: (limited[0] ?? shortestMs) + vagueMs,
    slackMs: Math.max(SLACK_MS, sinceFirst(admitted), sinceFirst(limited)) + vagueMs,
    vagueMs,
    mostMs: isHeld
      ? Math.max(limited.at(-1) ?? 0, longestMs - vagueMs, limited.length < 5 ? shortestMs + FEW_MS : 0) - shortestMs
      : Infinity,
    isHeld,
  };
  const keys = keysOf(seen, times);
  const widest = ({ first, last }: Queue) => first.reduce((most, ms, k) => Math.max(most, last[k]! - ms), 0);
  const slowestMs = keys.reduce((most, one) => Math.max(most, widest(one.admitted), widest(one.limited)), 0);
  const widths = ({ first, last, sent }: Queue) => [...sent].map((ms, k) => ({ ms, widthMs: last[k]! - first[k]! }));
  const slow = keys
    .flatMap((one) => [...widths(one.admitted), ...widths(one.limited)])
    .filter(({ widthMs }) => widthMs > SLOW_MS)
    .sort((a, b) => b.widthMs - a.widthMs)
    .slice(0, MOST_SLOW)
    .map(({ ms }) => ms);
  return { seen, keys, ...times, slowestMs, slow };
}

const USUAL = 0.95;
const SLOW_MS = 6;
const MOST_SLOW = 8;
/** How much longer a request may take on its way there, if there are hardly any to compare it with, in ms. */
const FEW_MS = 10;
const SLACK_MS = 0.25;
/** Requests that are sent within this time are sent together, in ms. */
export const VOLLEY_MS = 3;

/** Requests of one key that are sent together, each volley by itself. @param inOrder by when they were sent */
export function volleysIn(inOrder: readonly Seen[]): Seen[][] {
  const volleys: Seen[][] = [];
  for (const one of inOrder) {
    const volley = volleys.at(-1);
    if (volley === undefined || one.sentMs > volley[0]!.sentMs + VOLLEY_MS || one.key !== volley[0]!.key)
      volleys.push([one]);
    else volley.push(one);
  }
  return volleys;
}

/**
 * What admitted requests took that were held; none where as large a share of the refused ones was as late. A slow machine is slow to all
 * that are sent together, so only those are looked at that came later than each refused one beside them.
 * @param admitted what admitted requests took, ascending @param limited the same of refused ones
 */
function laterThanRefused(
  seen: readonly Seen[],
  admitted: readonly number[],
  limited: readonly number[],
  vagueMs: number,
): number[] {
  const [quickestMs = 0] = admitted;
  const late = volleysIn([...seen].sort((a, b) => a.sentMs - b.sentMs)).flatMap((volley) => {
    const took = (decision: Seen['decision']) =>
      volley.filter((one) => one.decision === decision).map((one) => one.answeredMs - one.sentMs - vagueMs);
    const refused = took('limited');
    const fromMs = Math.max(...refused, 2 * quickestMs) + HELD_MS;
    return refused.length === 0 ? [] : took('admitted').filter((ms) => ms > fromMs);
  });
  if (late.length < FEW_HELD) return [];
  late.sort((a, b) => a - b);
  const from = late.findIndex((ms) => {
    const held = admitted.filter((one) => one >= ms).length;
    const asLate = limited.filter((one) => one - limited[0]! >= ms - quickestMs - HELD_MS).length;
    return isMoreOften(held, admitted.length, asLate, limited.length);
  });
  return from < 0 ? [] : late.slice(from);
}

/** Whether `a` of `n` is a larger share than `b` of `m`, beyond chance: the test of two proportions. */
function isMoreOften(a: number, n: number, b: number, m: number): boolean {
  const both = (a + b) / (n + m);
  return a / n - b / m > BEYOND_CHANCE * Math.sqrt(both * (1 - both) * (1 / n + 1 / m));
}

/** The quickest that was seen is slower than the quickest that there could be: about as much as others are slower than it. */
function sinceFirst(ascending: readonly number[]): number {
  return Math.min(quantile(ascending, 0.1) - (ascending[0] ?? 0), MOST_SLACK_MS);
}

const MOST_SLACK_MS = 3;

function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0;
}

type Times = Pick<Evidence, 'shortestMs' | 'admittedMs' | 'limitedMs' | 'mostMs' | 'slackMs'>;

/** When a request can have been counted first, and last. */
export function countedWithin(
  one: Seen,
  { shortestMs, admittedMs, limitedMs, mostMs, slackMs }: Times,
): readonly [number, number] {
  const first = one.sentMs + shortestMs / 2;
  const quickest = one.decision === 'admitted' ? admittedMs : limitedMs;
  return [first, first + slackMs + Math.min(mostMs, Math.max(0, one.answeredMs - one.sentMs - quickest))];
}

function keysOf(seen: readonly Seen[], times: Times): KeyEvidence[] {
  const byKey = new Map<string, Seen[]>();
  for (const one of seen) {
    const same = byKey.get(one.key);
    if (same === undefined) byKey.set(one.key, [one]);
    else same.push(one);
  }
  return [...byKey].map(([key, own]) => {
    const queue = (decision: Seen['decision']): Queue => {
      const alike = own.filter((one) => one.decision === decision);
      const within = alike.map((one) => countedWithin(one, times));
      const sorted = (values: readonly number[]) => Float64Array.from(values).sort();
      return {
        first: sorted(within.map(([first]) => first)),
        last: sorted(within.map(([, last]) => last)),
        sent: sorted(alike.map(({ sentMs }) => sentMs)),
        answered: sorted(alike.map(({ answeredMs }) => answeredMs)),
      };
    };
    return { key, admitted: queue('admitted'), limited: queue('limited') };
  });
}
