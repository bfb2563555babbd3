// A request as it was seen from outside.
//
//   sent |------------?------------| answered      counted once, somewhere in between

export interface SeenRequest {
  /** Which contract it was for, by index. Default: the only one. */
  readonly contract?: number | undefined;
  /** Default: 1. */
  readonly cost?: number | undefined;
  readonly sentMs: number;
  /** Infinity for a request without an answer. */
  readonly answeredMs: number;
  /** Unknown: it may have been counted, until it was answered, or not. */
  readonly decision: 'admitted' | 'limited' | 'unknown';
  /** The wait that was told with a limited answer, in ms. Default: none was. */
  readonly toldMs?: number | undefined;
}

/** Whether they may differ in what they cost, so that it matters which is counted. */
export function hasCosts(requests: readonly SeenRequest[]): boolean {
  return requests.some(({ cost = 1 }) => cost !== 1);
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
