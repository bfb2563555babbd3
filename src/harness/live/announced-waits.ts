// Checks the waits that a target announced against later answers.
//
//   limited, wait 1 s   |------ announced -----|
//   sent again                                    x limited        too short: refused although nothing was admitted since
//   sent again                  o admitted                         too long: admitted before the wait was over
import type { SeenRequest } from '../explain/seen-request.js';

interface Wait {
  readonly announcedMs: number;
  /** A bound: the true wait is longer if `announcedMs` was too short, shorter if too long. */
  readonly trueMs: number;
}

const MOST_ANSWERS = 2_000;

export function waitsInWords(seen: readonly SeenRequest[]): string | undefined {
  const answered = seen.filter(({ decision }) => decision !== 'unknown').sort((a, b) => a.sentMs - b.sentMs);
  const inOrder = answered.slice(0, MOST_ANSWERS);
  let short: Wait | undefined;
  let long: Wait | undefined;
  inOrder.forEach(({ announcedMs, sentMs, answeredMs, cost = 1 }, place) => {
    if (announcedMs === undefined) return;
    const later = inOrder.slice(place + 1).filter((one) => one.sentMs > answeredMs);
    const beforeMs = later.find(({ decision }) => decision === 'admitted')?.sentMs ?? Number.POSITIVE_INFINITY;
    // The wait applies to the request's cost: a larger cost may be refused for longer, a smaller one admitted sooner.
    const admitted = later.find((one) => one.decision === 'admitted' && (one.cost ?? 1) >= cost);
    const refused = later.findLast(
      (one) => one.decision === 'limited' && one.answeredMs < beforeMs && (one.cost ?? 1) <= cost,
    );
    // Clients count from the answer; the request was decided between its sending and its answer.
    const tooLate = refused === undefined ? 0 : refused.sentMs - answeredMs;
    if (tooLate > announcedMs && tooLate - announcedMs > (short === undefined ? 0 : short.trueMs - short.announcedMs)) {
      short = { announcedMs, trueMs: tooLate };
    }
    const tooSoon = admitted === undefined ? announcedMs : admitted.answeredMs - sentMs;
    if (tooSoon < announcedMs && announcedMs - tooSoon > (long === undefined ? 0 : long.announcedMs - long.trueMs)) {
      long = { announcedMs, trueMs: tooSoon };
    }
  });
  const parts = [
    ...(short === undefined ? [] : [`too short: sent ${s(short.announcedMs)}, true more than ${s(short.trueMs)}`]),
    ...(long === undefined ? [] : [`too long: sent ${s(long.announcedMs)}, true at most ${s(long.trueMs)}`]),
  ];
  return parts.length === 0 ? undefined : `Retry waits sent to clients were ${parts.join('; and ')}.`;
}

const s = (ms: number) => `${(ms / 1000).toFixed(ms % 1000 === 0 ? 0 : 2)} s`;
