// A request as observed from outside.
//
//   sent |------------?------------| answered      counted once, somewhere in between

export interface SeenRequest {
  readonly contract?: number | undefined;
  readonly cost?: number | undefined;
  readonly sentMs: number;
  /** Infinity if unanswered. */
  readonly answeredMs: number;
  /** 'unknown': it may have been counted before its answer, or never. */
  readonly decision: 'admitted' | 'limited' | 'unknown';
  /** The wait announced by a limited answer, in ms. */
  readonly announcedMs?: number | undefined;
}

export function hasCosts(requests: readonly SeenRequest[]): boolean {
  return requests.some(({ cost = 1 }) => cost !== 1);
}

/** A time in which a machine did not run; unix ms by the clock of the run. */
export interface Pause {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The most by which a clock that stopped in the pauses is behind at `atMs`, in ms. */
export function behindMs(pauses: readonly Pause[], atMs: number): number {
  return pauses.reduce((sum, { fromMs, toMs }) => sum + Math.max(0, Math.min(atMs, toMs) - fromMs), 0);
}

export function quickestMs(requests: readonly SeenRequest[]): number {
  return requests.reduce((least, one) => Math.min(least, one.answeredMs - one.sentMs), Number.POSITIVE_INFINITY);
}

export function slowestMs(requests: readonly SeenRequest[]): number {
  return requests.reduce((most, one) => Math.max(most, one.answeredMs - one.sentMs), 0);
}

export function wayWords(wayMs: number, leastMs: number): string {
  return (
    `The network was taken to need at least ${wayMs.toFixed(1)} ms there and back for every request: ` +
    `the quickest answer took ${leastMs.toFixed(1)} ms. Without that the answers would fit other limiters too.`
  );
}

export function byContract<T extends Pick<SeenRequest, 'contract'>>(requests: readonly T[], contracts: number): T[][] {
  const own: T[][] = Array.from({ length: contracts }, () => []);
  for (const request of requests) own[request.contract ?? 0]!.push(request);
  return own;
}
