// Requests and answers, as this room uses them. Pure.
//
//   a request   sent |--- f ---|~~ e ~~|--------- answered     counted once, f + e after its sending
//                        f      the shortest time to the limiter: equal for all, indistinguishable from a late clock
//                          e    the additional time of this request on its way: at most its additional time in total
//
// So an instant is known as exactly as its answer was prompt.
//
// Requests of one key and answer are interchangeable: if any order of counting explains them, one does in which the k-th counted admitted
// request is counted between the k-th beginning and the k-th end. So each key has two queues, of admitted and of limited requests.
import { getOrInsert } from '../../core/math/get-or-insert.js';
import type { SeenRequest } from '../../harness/explain/seen-request.js';

export interface Seen extends SeenRequest {
  /** Requests of one key share a state; an unused key is fresh. */
  readonly key: string;
  readonly status?: number | undefined;
  /** Limit and remainder announced by the answer: hints. */
  readonly announcedLimit?: number | undefined;
  readonly announcedRemaining?: number | undefined;
  /** Uncertainty of sending and answer together, as in a log with times in whole seconds. Default: 0. */
  readonly uncertaintyMs?: number | undefined;
  /** Additional time of an admitted request is work of the service, not a delay by the limiter. */
  readonly isWork?: true | undefined;
}

/** Requests of one key and answer; each column ascending, in ms. */
export interface AnswerQueue {
  /** Bounds for the instant of counting. */
  readonly first: Float64Array;
  readonly last: Float64Array;
  readonly sent: Float64Array;
  readonly answered: Float64Array;
}

export interface KeyEvidence {
  readonly key: string;
  readonly admitted: AnswerQueue;
  readonly limited: AnswerQueue;
}

export interface Evidence {
  readonly seen: readonly Seen[];
  readonly keys: readonly KeyEvidence[];
  /** Shortest and longest transport time of a request and its answer, without delays by the limiter. */
  readonly shortestMs: number;
  readonly longestMs: number;
  /** How exactly instants are known: the widest bounds of one, and those in the middle of all. */
  readonly widestMs: number;
  readonly usualWidthMs: number;
  readonly isHeld: boolean;
  /** Sending times of requests with uncertain instants; the latest ones. */
  readonly slow: readonly number[];
  readonly admittedMs: number;
  readonly limitedMs: number;
  /** How much quicker than the quickest a request could be, plus `uncertaintyMs`. */
  readonly slackMs: number;
  readonly uncertaintyMs: number;
  /** Longest additional time on the way to the limiter, if it holds admitted requests; Infinity otherwise. */
  readonly longestExtraMs: number;
}

const HELD_MS = 15;
/** In standard deviations: chance alone exceeds it once in 700 cases. */
const BEYOND_CHANCE = 3;
const FEW_HELD = 3;

/** @param whole the whole evidence, if `seen` is a part: transport times come from it */
export function evidenceOf(seen: readonly Seen[], whole?: Evidence): Evidence {
  if (whole !== undefined) return { ...whole, seen, keys: keysOf(seen, whole) };
  const uncertaintyMs = seen.reduce((most, one) => Math.max(most, one.uncertaintyMs ?? 0), 0);
  const took = (decision: Seen['decision']) =>
    seen
      .filter((one) => one.decision === decision)
      .map((one) => Math.max(0, one.answeredMs - one.sentMs - uncertaintyMs))
      .sort((a, b) => a - b);
  const [admitted, limited] = [took('admitted'), took('limited')];
  const shortestMs = Math.min(admitted[0] ?? Infinity, limited[0] ?? Infinity, 1_000);
  const held = seen.some((one) => one.isWork) ? [] : laterThanRefused(seen, admitted, limited, uncertaintyMs);
  const isHeld = held.length > 0;
  const heldFromMs = isHeld ? Math.min(...held) : Infinity;
  const free = admitted.filter((ms) => ms < heldFromMs);
  const usualMs = limited.length >= 5 ? quantile(limited, USUAL) : quantile(free.length > 0 ? free : admitted, USUAL);
  const longestMs = Math.max(shortestMs + 1, usualMs) + uncertaintyMs;
  const times = {
    shortestMs,
    longestMs,
    admittedMs: (admitted[0] ?? shortestMs) + uncertaintyMs,
    limitedMs: (limited[0] ?? shortestMs) + uncertaintyMs,
    slackMs: Math.max(SLACK_MS, sinceFirst(admitted), sinceFirst(limited)) + uncertaintyMs,
    uncertaintyMs,
    longestExtraMs: isHeld
      ? Math.max(limited.at(-1) ?? 0, longestMs - uncertaintyMs, limited.length < 5 ? shortestMs + FEW_MS : 0) -
        shortestMs
      : Infinity,
    isHeld,
  };
  const keys = keysOf(seen, times);
  const widths = keys
    .flatMap(({ admitted, limited }) => [admitted, limited])
    .flatMap(({ first, last, sent }) => [...sent].map((ms, k) => ({ ms, widthMs: last[k]! - first[k]! })))
    .sort((a, b) => b.widthMs - a.widthMs);
  const slow = widths.slice(0, MOST_SLOW).filter(({ widthMs }) => widthMs > SLOW_MS);
  return {
    ...{ seen, keys, ...times, slow: slow.map(({ ms }) => ms) },
    widestMs: widths[0]?.widthMs ?? 0,
    usualWidthMs: widths[widths.length >> 1]?.widthMs ?? 0,
  };
}

const USUAL = 0.95;
const SLOW_MS = 6;
const MOST_SLOW = 8;
/** Longest additional time on the way if there are hardly any requests to compare with. */
const FEW_MS = 10;
const SLACK_MS = 0.25;
export const VOLLEY_MS = 3;

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

/** Empty if an equal share of refused requests was as late. A slow machine delays whole volleys: only comparisons within one count. */
function laterThanRefused(
  seen: readonly Seen[],
  admitted: readonly number[],
  limited: readonly number[],
  uncertaintyMs: number,
): number[] {
  const [quickestMs = 0] = admitted;
  const late = volleysIn([...seen].sort((a, b) => a.sentMs - b.sentMs)).flatMap((volley) => {
    const took = (decision: Seen['decision']) =>
      volley.filter((one) => one.decision === decision).map((one) => one.answeredMs - one.sentMs - uncertaintyMs);
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

/** Whether `a` of `n` is a larger share than `b` of `m`, beyond chance: two-proportion test. */
function isMoreOften(a: number, n: number, b: number, m: number): boolean {
  const both = (a + b) / (n + m);
  return a / n - b / m > BEYOND_CHANCE * Math.sqrt(both * (1 - both) * (1 / n + 1 / m));
}

/** Estimates by how much the quickest observation exceeds the quickest possible one: about its distance to the others. */
function sinceFirst(ascending: readonly number[]): number {
  return Math.min(quantile(ascending, 0.1) - (ascending[0] ?? 0), MOST_SLACK_MS);
}

const MOST_SLACK_MS = 3;

function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0;
}

type Times = Pick<Evidence, 'shortestMs' | 'admittedMs' | 'limitedMs' | 'longestExtraMs' | 'slackMs'>;

export function countedWithin(
  one: Seen,
  { shortestMs, admittedMs, limitedMs, longestExtraMs, slackMs }: Times,
): readonly [number, number] {
  const first = one.sentMs + shortestMs / 2;
  const quickest = one.decision === 'admitted' ? admittedMs : limitedMs;
  return [first, first + slackMs + Math.min(longestExtraMs, Math.max(0, one.answeredMs - one.sentMs - quickest))];
}

function keysOf(seen: readonly Seen[], times: Times): KeyEvidence[] {
  const byKey = new Map<string, Seen[]>();
  for (const one of seen) getOrInsert(byKey, one.key, () => []).push(one);
  return [...byKey].map(([key, own]) => {
    const queue = (decision: Seen['decision']): AnswerQueue => {
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
