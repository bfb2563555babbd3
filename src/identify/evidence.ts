// What was asked and answered, as all of this room reads it. Pure.
//
//   a request    sent |-----------?-----------| answered      counted once, somewhere in between
//
// Requests of one key and one answer are alike: if there is an order of counting, there is one in which the k-th counted of the admitted
// comes after the k-th sending and before the k-th answer of any of them. So each key has two queues, of admitted and of limited ones.
import type { SeenRequest } from '../live/placed-requests.js';

export interface Seen extends SeenRequest {
  /** Requests of one key share a state; a key that was never used is fresh. */
  readonly key: string;
  readonly status?: number | undefined;
  /** What the answer says of the limit and of what is left: a hint. */
  readonly toldLimit?: number | undefined;
  readonly toldRemaining?: number | undefined;
}

/** Requests of one key with one answer, in order of time. */
export interface Queue {
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
  /** What the slowest took, whatever its answer. */
  readonly slowestMs: number;
  /** How much longer some are under way than others of the same answer, in ms. */
  readonly jitterMs: number;
  /** Admitted requests took so much longer than others, that something held them. */
  readonly isHeld: boolean;
  /** How long a request is on its way there at most, where what stands behind the limiter takes far longer; Infinity where it does not. */
  readonly thereMs: number;
}

/** An answer that takes longer than others by less than this is not held, in ms. */
const HELD_MS = 15;

/** @param whole what these are a part of: how long requests are under way is known from all of them */
export function evidenceOf(seen: readonly Seen[], whole?: Evidence): Evidence {
  if (whole !== undefined) return { ...whole, seen, keys: keysOf(seen) };
  const took = (decision: Seen['decision']) =>
    seen
      .filter((one) => one.decision === decision)
      .map((one) => one.answeredMs - one.sentMs)
      .sort((a, b) => a - b);
  const [admitted, limited] = [took('admitted'), took('limited')];
  const shortestMs = Math.min(admitted[0] ?? Infinity, limited[0] ?? Infinity, 1_000);
  const heldFromMs = Math.max(quantile(limited, USUAL), 2 * (admitted[0] ?? 0)) + HELD_MS;
  const held = admitted.filter((ms) => ms > heldFromMs).length;
  // A few late answers are the machine's.
  const isHeld = held >= Math.max(3, 0.06 * admitted.length);
  const free = isHeld ? admitted.filter((ms) => ms <= heldFromMs) : admitted;
  const spread = (times: readonly number[]) => quantile(times, HALF) - (times[0] ?? 0);
  const longestMs = Math.max(shortestMs + 1, limited.length >= 5 ? quantile(limited, USUAL) : quantile(free, USUAL));
  return {
    seen,
    keys: keysOf(seen),
    shortestMs,
    longestMs,
    slowestMs: Math.max(limited.at(-1) ?? 0, isHeld ? 0 : (free.at(-1) ?? 0)),
    jitterMs: Math.max(spread(limited), isHeld ? 0 : spread(free)),
    isHeld,
    thereMs:
      !isHeld &&
      limited.length >= 5 &&
      quantile(admitted, HALF) > 3 * longestMs + THERE_MS &&
      quantile(admitted, USUAL) < 1.5 * quantile(admitted, HALF)
        ? longestMs + THERE_MS
        : Infinity,
  };
}

const USUAL = 0.95;
const THERE_MS = 15;
const HALF = 0.6;

function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0;
}

function keysOf(seen: readonly Seen[]): KeyEvidence[] {
  return [...new Set(seen.map(({ key }) => key))].map((key) => keyEvidence(key, seen));
}

function keyEvidence(key: string, seen: readonly Seen[]): KeyEvidence {
  const queue = (decision: Seen['decision']): Queue => {
    const alike = seen.filter((one) => one.key === key && one.decision === decision);
    return {
      sent: Float64Array.from(alike, ({ sentMs }) => sentMs).sort(),
      answered: Float64Array.from(alike, ({ answeredMs }) => answeredMs).sort(),
    };
  };
  return { key, admitted: queue('admitted'), limited: queue('limited') };
}
