// How a client uses Retry-After: which of these ways explains every wait after one.
//
//   announced t    ignored   own wait             own: the wait without an announcement
//                  obeyed    t
//                  floor     max(t, own)
//                  later     t plus a random time up to a maximum
//                  scaled    t x the jitter of its own waits
//                  near      max(t, own), at most own + some time
//   beyond an end  capped at it; or own wait; or no further attempt
import { log } from '../../../core/math/elementary.js';
import { roundNear } from './round-values.js';
import {
  areStalls,
  closeMs,
  cut,
  densityOf,
  EARLY_MS,
  earlyMs,
  type Lateness,
  latestMs,
  type Piece,
} from './wait-law.js';

export interface Advised {
  readonly announcedMs: number;
  readonly gapMs: number | undefined;
  /** Length of the observation; Infinity if the program had ended. */
  readonly watchedMs: number;
  /** A wait beyond this is not begun. */
  readonly deadlineMs?: number | undefined;
  readonly late: Lateness;
  /** Randomness up to this may be lateness, in ms. */
  readonly hiddenMs: number;
  readonly own: readonly Piece[];
}

export const ways = ['ignored', 'obeyed', 'floor', 'later', 'scaled', 'near'] as const;

export interface AdviceTaken {
  readonly way: (typeof ways)[number];
  /** `near`: maximum beyond its own wait; `later`: beyond the announced one. */
  readonly reachMs?: number | undefined;
  /** 0 counts as no announcement. */
  readonly ignoresZero?: boolean | undefined;
  readonly end?:
    | {
        readonly above: 'capped' | 'own' | 'stops';
        /** The cap, or the longest wait that is still obeyed. */
        readonly atMs: number;
        readonly leastMs: number;
        readonly mostMs: number;
      }
    | undefined;
}

const GRAIN_MS = 1e-6;

/** Minimum gain in log-likelihood for an additional parameter. */
const PARAMETER = 3;

/** All ways that explain the waits about as well, simplest first. @param scale longest over shortest wait by its own jitter; 1 for none */
export function adviceTaken(seen: readonly Advised[], scale: number): AdviceTaken[] {
  const scored = ways
    .filter((way) => way !== 'scaled' || scale > 1)
    .flatMap((way) => withEnds(way, seen))
    .flatMap((advice) => [advice, { ...advice, ignoresZero: true }])
    .filter((advice) => advice.way === 'ignored' || seen.some((one) => !isOwn(waitAfter(advice, one, scale), one.own)))
    .map((advice) => ({ advice, score: scoreOf(advice, seen, scale) }))
    .filter(({ score }) => score > -Infinity)
    .sort((a, b) => b.score - a.score);
  const near = scored.filter(({ score }) => score > scored[0]!.score - PARAMETER).map(({ advice }) => advice);
  const distinct = near.filter((one, i) => near.findIndex(({ way }) => way === one.way) === i);
  return distinct.sort((a, b) => partsOf(a) - partsOf(b));
}

/** How many numbers it needs, beside those of its own waits; to ignore what is announced is less than any use of it. */
function partsOf({ way, end, reachMs, ignoresZero }: AdviceTaken): number {
  return way === 'ignored'
    ? -1
    : Number(end !== undefined) + Number(reachMs !== undefined) + Number(ignoresZero === true) / 2;
}

function isOwn(pieces: readonly Piece[], own: readonly Piece[]): boolean {
  const isClose = (a: number | undefined, b: number) => Math.abs((a ?? Infinity) - b) < closeMs(b);
  return isClose(pieces[0]?.fromMs, own[0]!.fromMs) && isClose(pieces.at(-1)?.toMs, own.at(-1)!.toMs);
}

function withEnds(way: AdviceTaken['way'], seen: readonly Advised[]): AdviceTaken[] {
  if (way === 'ignored') return [{ way }];
  const gaps = seen.flatMap(({ gapMs, late, ...rest }) =>
    gapMs === undefined
      ? []
      : [{ ...rest, seenMs: gapMs, latestMs: latestMs(late), gapMs: Math.max(0, gapMs - Math.max(0, late.offsetMs)) }],
  );
  // By what was seen: without its usual lateness, one that was less late would seem shorter.
  const shorter = gaps.filter(({ seenMs, announcedMs }) => seenMs < announcedMs - 1);
  if (way === 'near') {
    const most = Math.min(...shorter.map(({ gapMs, own }) => gapMs - own[0]!.fromMs));
    const least = Math.max(0, ...shorter.map(({ gapMs, own, latestMs: lateMs }) => gapMs - own.at(-1)!.toMs - lateMs));
    // So little beyond its own wait is lateness.
    const isHidden = most <= Math.max(...seen.map(({ hiddenMs }) => hiddenMs));
    return shorter.length === 0 || isHidden ? [] : [{ way, reachMs: roundNear(least, most, Math.max(1, most)) }];
  }
  const announced = [...new Set(seen.map(({ announcedMs }) => announcedMs))].sort((a, b) => a - b);
  const splits = announced.slice(1).map((mostMs, i) => ({ leastMs: announced[i]!, mostMs }));
  const ends = [
    undefined,
    ...splits.flatMap(({ leastMs, mostMs }) =>
      // What obeys nothing beyond 0 ignores it.
      (leastMs === 0 ? (['stops'] as const) : (['own', 'stops'] as const)).map((above) => ({
        above,
        atMs: roundNear(leastMs, mostMs - 1, leastMs),
        leastMs,
        mostMs,
      })),
    ),
    // A lower bound within its own waits would be none.
    ...shorter
      .filter(({ gapMs, own }) => way !== 'floor' || gapMs > own.at(-1)!.toMs)
      .map(({ gapMs, latestMs: lateMs }) => {
        const [leastMs, mostMs] = [Math.max(0, gapMs - lateMs), gapMs + 1];
        return { above: 'capped' as const, atMs: roundNear(leastMs, mostMs, gapMs), leastMs, mostMs };
      }),
  ];
  const beyond = gaps
    .filter(({ gapMs, announcedMs }) => announcedMs > 0 && gapMs > announcedMs)
    .map(({ gapMs, announcedMs }) => gapMs - announcedMs);
  // Width of a uniform law from its range; common lateness cancels.
  const n = Math.max(2, beyond.length);
  const widthMs = ((Math.max(...beyond) - Math.min(...beyond)) * (n + 1)) / (n - 1);
  if (way === 'later' && widthMs < Math.max(...seen.map(({ hiddenMs }) => hiddenMs))) return [];
  const reachMs = way === 'later' ? widthMs : undefined;
  return ends.map((end) => ({ way, end, reachMs }));
}

/** @returns -Infinity if a wait is not explained */
function scoreOf(advice: AdviceTaken, seen: readonly Advised[], scale: number): number {
  let score =
    -PARAMETER *
    (Number(advice.end !== undefined) + Number(advice.reachMs !== undefined) + Number(advice.ignoresZero === true) / 2);
  let stalls = 0;
  for (const one of seen) {
    const { announcedMs, gapMs, watchedMs, deadlineMs = Infinity, late, own } = one;
    const pieces = waitAfter(advice, one, scale);
    if (gapMs === undefined) {
      // Silence may be a wait beyond the end of the observation; a program that has ended has given up.
      const endMs = Math.min(watchedMs, deadlineMs);
      if (!(pieces.length === 0 ? watchedMs > announcedMs : pieces.at(-1)!.toMs + latestMs(late) > endMs))
        return -Infinity;
      continue;
    }
    const [first, last] = [pieces[0], pieces.at(-1)];
    if (first === undefined) return -Infinity;
    // Its own waits are known as well as their law is.
    const byMs = first.fromMs === own[0]!.fromMs ? earlyMs(first.fromMs) : EARLY_MS;
    if (gapMs < first.fromMs - byMs) return -Infinity;
    if (gapMs > last!.toMs * 1.01 + latestMs(late)) stalls += 1;
    // The common offset is only known to a ms or two.
    const dueMs = first.fromMs + late.offsetMs + GRAIN_MS;
    score += log(densityOf(pieces, gapMs > dueMs - byMs ? Math.max(gapMs, dueMs) : gapMs, late));
  }
  return areStalls(stalls, seen.length) ? score : -Infinity;
}

function waitAfter(
  { way, reachMs = 0, end, ignoresZero }: AdviceTaken,
  { announcedMs, own }: Advised,
  scale: number,
): readonly Piece[] {
  const isBeyond = end !== undefined && announcedMs > end.atMs;
  if (isBeyond && end.above === 'stops') return [];
  if (way === 'ignored' || (isBeyond && end.above === 'own') || (announcedMs === 0 && ignoresZero === true)) return own;
  const t = isBeyond ? end.atMs : announcedMs;
  if (way === 'scaled' || way === 'later') {
    const floor = way === 'scaled' ? Math.max(t, own[0]!.fromMs) : t;
    return [{ share: 1, fromMs: floor, toMs: way === 'scaled' ? floor * scale : t + reachMs }];
  }
  const of = (ms: number) => {
    if (way === 'obeyed') return t;
    return way === 'near' ? Math.min(Math.max(t, ms), ms + reachMs) : Math.max(t, ms);
  };
  return own.flatMap(({ share, fromMs, toMs }) =>
    cut(fromMs, toMs, [t, t - reachMs], of).map((piece) => ({ ...piece, share: piece.share * share })),
  );
}
