// In which cycles of a limiter each request can have been counted.
//
//   request      sent |------------| answered
//   cycles       |   7   |   8   |   9   |         counted in 7, 8 or 9; the phase of the cycles is known within bounds
import type { CycleRule } from './cycle-rule.js';

export interface SeenRequest {
  /** Which contract it was for, by index. Default: the only one. */
  readonly contract?: number | undefined;
  readonly sentMs: number;
  /** Infinity for a request without an answer. */
  readonly answeredMs: number;
  readonly decision: 'admitted' | 'limited' | 'unknown';
  /** The wait that was told with a limited answer, in ms. Default: none was. */
  readonly toldMs?: number | undefined;
}

export interface Placed {
  readonly request: SeenRequest;
  /** First and last cycle in which it can have been counted. */
  earliest: number;
  latest: number;
}

/** When a machine did not run; in unix ms by the clock of the run. */
export interface Pause {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The most that a clock which stood still in the pauses is behind at `atMs`, in ms. */
export function behindMs(pauses: readonly Pause[], atMs: number): number {
  return pauses.reduce((sum, { fromMs, toMs }) => sum + Math.max(0, Math.min(atMs, toMs) - fromMs), 0);
}

/** The least time between sending and answer, in ms; Infinity without an answer. */
export function quickestMs(requests: readonly SeenRequest[]): number {
  return requests.reduce((least, one) => Math.min(least, one.answeredMs - one.sentMs), Number.POSITIVE_INFINITY);
}

/**
 * The requests as they were seen by a limiter whose network takes no time, if ours takes at least `wayMs` there and back: where it counts
 * every request later by the same time, nothing changes but the phase of its clock.
 */
export function withoutWay(requests: readonly SeenRequest[], wayMs: number): SeenRequest[] {
  return requests.map((one) => ({ ...one, answeredMs: one.answeredMs - wayMs }));
}

/** Parts of the quickest answer that are taken for the least time on the way, where the answers say too little without. */
export const WAY_SHARES: readonly number[] = [63 / 64, 7 / 8, 1 / 2];

/** What was taken for granted, in words. */
export function wayWords(wayMs: number, leastMs: number): string {
  return (
    `The network was taken to need at least ${wayMs.toFixed(1)} ms there and back for every request: ` +
    `the quickest answer took ${leastMs.toFixed(1)} ms. Without that the answers would fit other limiters too.`
  );
}

/** The requests of each of so many contracts, in their order. */
export function byContract(requests: readonly SeenRequest[], contracts: number): SeenRequest[][] {
  const own: SeenRequest[][] = Array.from({ length: contracts }, () => []);
  for (const request of requests) own[request.contract ?? 0]!.push(request);
  return own;
}

/** @param from, to the phase of the cycles lies in [from, to), as a part of a cycle */
export function placedIn(
  { cycleMs, isByCycle }: CycleRule,
  requests: readonly SeenRequest[],
  slackMs: number,
  from: number,
  to: number,
): Placed[] {
  const placed = requests.map((request): Placed => {
    const earliest = Math.floor((request.sentMs - slackMs) / cycleMs - to);
    return { request, earliest, latest: Math.floor((request.answeredMs + slackMs) / cycleMs - from) };
  });
  if (isByCycle) applyOrder(placed, slackMs);
  return placed;
}

/**
 * Within a cycle limited requests come after admitted ones. So where a limited answer came before another request was sent that was
 * admitted, a cycle began between them.
 */
function applyOrder(placed: readonly Placed[], slackMs: number): void {
  const limited = placed.filter(({ request }) => request.decision === 'limited');
  const admitted = placed.filter(({ request }) => request.decision === 'admitted');
  const answeredFirst = limited.sort((a, b) => a.request.answeredMs - b.request.answeredMs);
  const sentFirst = [...admitted].sort((a, b) => a.request.sentMs - b.request.sentMs);
  const isBefore = (one: Placed, other: Placed) => one.request.answeredMs + 2 * slackMs < other.request.sentMs;
  const beginnings = answeredFirst.map(({ earliest }) => earliest);
  const ends = sentFirst.map(({ latest }) => latest);
  let taken = 0;
  let begun = Number.NEGATIVE_INFINITY;
  for (const one of sentFirst) {
    while (taken < answeredFirst.length && isBefore(answeredFirst[taken]!, one)) {
      begun = Math.max(begun, beginnings[taken]!);
      taken += 1;
    }
    one.earliest = Math.max(one.earliest, begun + 1);
  }
  taken = sentFirst.length;
  let ended = Number.POSITIVE_INFINITY;
  for (const one of [...answeredFirst].reverse()) {
    while (taken > 0 && isBefore(one, sentFirst[taken - 1]!)) {
      taken -= 1;
      ended = Math.min(ended, ends[taken]!);
    }
    one.latest = Math.min(one.latest, ended - 1);
  }
}
