// A limiter behind a network, in virtual time: requests and answers are delayed, overtake each other, and are lost.
//
//   sent ──(up)──► counted ──(down)──► answered           up, down and loss are drawn for each request
import type { SeenRequest } from '../../../src/harness/explain/seen-request.js';

/** Decides the requests in the order of their instants, in ms. */
export type Limiter = (atMs: number) => boolean;

export interface Sent {
  readonly sentMs: number;
  readonly upMs: number;
  readonly downMs: number;
  /** The request never arrives; its answer never does. */
  readonly loses?: 'request' | 'answer' | undefined;
}

export function overNetwork(sent: readonly Sent[], limiter: Limiter): SeenRequest[] {
  const arrived = sent.filter(({ loses }) => loses !== 'request');
  const inOrder = [...arrived].sort((a, b) => a.sentMs + a.upMs - (b.sentMs + b.upMs));
  const decisions = new Map(inOrder.map((one) => [one, limiter(one.sentMs + one.upMs)]));
  return sent.map((one) => {
    const { sentMs, upMs, downMs, loses } = one;
    if (loses !== undefined) return { sentMs, answeredMs: Number.POSITIVE_INFINITY, decision: 'unknown' };
    return {
      sentMs,
      answeredMs: sentMs + upMs + downMs,
      decision: decisions.get(one) === true ? 'admitted' : 'limited',
    };
  });
}

export interface Setting {
  readonly threshold: number;
  /** In cycles. */
  readonly within: number;
  readonly cycleMs: number;
  /** Of the limiter's cycles, in ms. */
  readonly phaseMs: number;
}

/** The rule itself, written apart from the product's. */
export function rolling({ threshold, within, cycleMs, phaseMs }: Setting): Limiter {
  const cycles: number[] = [];
  return (atMs) => {
    const cycle = Math.floor((atMs - phaseMs) / cycleMs);
    cycles.push(cycle);
    return cycles.filter((one) => one > cycle - within).length <= threshold;
  };
}

/** The rule to the millisecond. */
export function sliding({ threshold, within, cycleMs }: Setting): Limiter {
  const instants: number[] = [];
  return (atMs) => {
    instants.push(atMs);
    return instants.filter((one) => one > atMs - within * cycleMs).length <= threshold;
  };
}

/** Limiters that are wrong in one way. */
export const wrongLimiters: Record<string, (setting: Setting) => Limiter> = {
  'forgets a cycle too early': (one) => rolling({ ...one, within: one.within - 1 }),
  'forgets a cycle too late': (one) => rolling({ ...one, within: one.within + 1 }),
  'admits one too few': (one) => rolling({ ...one, threshold: one.threshold - 1 }),
  'admits one too many': (one) => rolling({ ...one, threshold: one.threshold + 1 }),
  'does not count limited requests': (one) => counting(one, ({ isAdmitted }) => (isAdmitted ? 1 : 0)),
  'counts every request twice': (one) => counting(one, () => 2),
  'misses every fourth request': (one) => counting(one, ({ number }) => (number % 4 === 0 ? 0 : 1)),
  'never restores': (one) => {
    const right = rolling(one);
    let isOpen = true;
    return (atMs) => {
      isOpen = right(atMs) && isOpen;
      return isOpen;
    };
  },
  'never limits': () => () => true,
  'always limits': () => () => false,
  'counts in fixed windows': (one) => {
    let window = Number.NaN;
    let n = 0;
    return (atMs) => {
      const now = Math.floor((atMs - one.phaseMs) / (one.within * one.cycleMs));
      n = now === window ? n + 1 : 1;
      window = now;
      return n <= one.threshold;
    };
  },
  'lets every third pass while it limits': (one) => {
    const right = rolling(one);
    let limited = 0;
    return (atMs) => right(atMs) || ++limited % 3 === 0;
  },
  'forgets everything when it limits': (one) => {
    let right = rolling(one);
    return (atMs) => {
      const isAdmitted = right(atMs);
      if (!isAdmitted) right = rolling(one);
      return isAdmitted;
    };
  },
  'limits for a whole window once it has': (one) => {
    const right = rolling(one);
    let untilMs = Number.NEGATIVE_INFINITY;
    return (atMs) => {
      if (!right(atMs)) untilMs = Math.max(untilMs, atMs + 2 * one.within * one.cycleMs);
      return atMs >= untilMs;
    };
  },
};

/** A rolling window of which each request takes as much as `weight` says. */
function counting(
  { threshold, within, cycleMs, phaseMs }: Setting,
  weight: (request: { readonly number: number; readonly isAdmitted: boolean }) => number,
): Limiter {
  const counted: { cycle: number; n: number }[] = [];
  let number = 0;
  return (atMs) => {
    const cycle = Math.floor((atMs - phaseMs) / cycleMs);
    const before = counted.reduce((sum, one) => sum + (one.cycle > cycle - within ? one.n : 0), 0);
    number += 1;
    const most = weight({ number, isAdmitted: true });
    const isAdmitted = before + most <= threshold;
    counted.push({ cycle, n: weight({ number, isAdmitted }) });
    return isAdmitted;
  };
}
